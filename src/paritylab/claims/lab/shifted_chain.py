"""One teacher-forced step on data that are not what they should be: a shift, poisoned steps."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from paritylab.learning.chain.chain_accuracy import answers, over_runs, pairs_found
from paritylab.learning.chain.teacher import batch_gradient
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link
from paritylab.precision import AnyArray
from paritylab.problem import ParityTree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs, fold_keys
from paritylab.problem.tree import tree_tokens

#: Rows held at a time.
ROWS = 8192


class Harm(NamedTuple):
    """What is wrong with the training rows.

    alpha: probability that all bits of A share one sign. flips: probability with which each
    intermediate token is stated wrongly. lies: probability that the first node states the product
    of its first child and a bit outside the parity set.
    """

    alpha: Any = 0.0
    flips: Any = 0.0
    lies: Any = 0.0


class HarmedRuns(NamedTuple):
    """After one step on harmed rows, per run.

    found: every pair on top. uniform, shifted: accuracy of the generated answer on fair inputs and
    on inputs with the same shift. constant: accuracy there of the more frequent answer.
    """

    found: Bool[AnyArray, " runs"]
    uniform: Float[AnyArray, " runs"]
    shifted: Float[AnyArray, " runs"]
    constant: Float[AnyArray, " runs"]


def joined_bits(tree: ParityTree, members: int, inside: bool) -> Bool[np.ndarray, " n"]:
    """A: the first `members` leaves of the tree, or so many bits outside the parity set."""
    outside = np.setdiff1d(np.arange(tree.n), tree.leaves)
    chosen = np.asarray(tree.leaves if inside else outside)
    if not 0 <= members <= chosen.size:
        raise ValueError(f"there are {chosen.size} such bits, got members={members}")
    joined = np.zeros(tree.n, dtype=bool)
    joined[chosen[:members]] = True
    return joined


def harmed_rows(
    key: Any, leaves: Int[Array, " k"], joined: Any, harm: Harm, rows: int
) -> Float[Array, "rows tokens"]:
    """Rows of all tokens as the learner is shown them."""
    n = joined.shape[0]
    keys = jax.random.split(key, 5)
    signs = draw_signs(keys[0], rows, n)
    together = jax.random.bernoulli(keys[1], harm.alpha, (rows, 1)) & joined[None, :]
    signs = jnp.where(together, jax.random.rademacher(keys[2], (rows, 1), signs.dtype), signs)
    tokens = tree_tokens(signs, leaves)
    return as_stated(keys[3:], tokens, leaves, n, harm)


def as_stated(
    keys: Any, tokens: Float[Array, "rows tokens"], leaves: Int[Array, " k"], n: int, harm: Harm
) -> Float[Array, "rows tokens"]:
    """The tokens with flips and lies in the intermediate ones. keys: one for each of the two."""
    signs, stated = tokens[:, :n], tokens[:, n:]
    false = jax.random.bernoulli(keys[0], harm.flips, stated.shape)
    stated = jnp.where(false, -1, 1) * stated
    outside = jnp.argmin(jnp.zeros(n).at[leaves].set(1))
    lie = signs[:, leaves[0]] * signs[:, outside]
    lied = jax.random.bernoulli(keys[1], harm.lies, (len(tokens),))
    stated = stated.at[:, 0].set(jnp.where(lied, lie, stated[:, 0]))
    return jnp.concatenate([signs, stated], axis=1)


def harmed_gradient(
    leaves: Any, joined: Any, harm: Harm, samples: int, key: Any, link: AbstractLink
) -> Float[Array, "tokens nodes"]:
    """∂L/∂W at W = 0 from harmed rows, a whole number of batches of them."""
    n, k = joined.shape[0], leaves.shape[0]
    batches = max(1, samples // ROWS)

    def add(index: Any, total: Any) -> Any:
        tokens = harmed_rows(jax.random.fold_in(key, index), leaves, joined, harm, ROWS)
        return total + batch_gradient(tokens, n, k, link, "token")

    zero = jnp.zeros((n + k - 1, k - 1), jnp.float32)
    return jax.lax.fori_loop(0, batches, add, zero) / (batches * ROWS)


def harmed_steps(
    trees: tuple[ParityTree, ...],
    joined: Any,
    harm: Harm,
    samples: int,
    *,
    eta: float,
    link: Any = "cos",
    key: Any = 0,
    inputs: int = 500,
) -> HarmedRuns:
    """One step for every tree on its own harmed rows, judged on fresh unpoisoned inputs."""
    keys = fold_keys(as_key(key), np.arange(len(trees)))
    leaves = np.array([tree.leaves for tree in trees], dtype=np.int32)
    numbers = Harm(*(np.float32(each) for each in harm))
    with jax.default_matmul_precision("highest"):
        found = _steps(
            as_link(link),
            np.float32(eta),
            leaves,
            np.asarray(joined),
            keys,
            numbers,
            samples,
            inputs,
        )
    return HarmedRuns(*map(np.asarray, found))


@eqx.filter_jit
def _steps(
    link: AbstractLink,
    eta: Any,
    leaves: Any,
    joined: Any,
    keys: Any,
    harm: Harm,
    samples: int,
    inputs: int,
) -> HarmedRuns:
    n = joined.shape[1]

    def one(leaves: Any, joined: Any, key: Any) -> HarmedRuns:
        scores = -eta * harmed_gradient(
            leaves, joined, harm, samples, jax.random.fold_in(key, 1), link
        )
        model = ChainModel(scores, n, link)

        def test(alpha: Any, number: int) -> tuple[Any, Any]:
            rows = harmed_rows(
                jax.random.fold_in(key, number), leaves, joined, Harm(alpha, 0.0, 0.0), inputs
            )
            right = 1 - answers(model, rows).wrong / inputs
            return right, jnp.mean(rows[:, -1] > 0)

        shifted, plus = test(harm.alpha, 3)
        found = pairs_found(scores, leaves) == 1
        return HarmedRuns(found, test(0.0, 2)[0], shifted, jnp.maximum(plus, 1 - plus))

    return over_runs(one, leaves, joined, keys)
