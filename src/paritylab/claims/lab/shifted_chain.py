"""One teacher-forced step on data that are not what they should be: a shift, poisoned steps."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from paritylab.learning.chain.chain_learner import answers, over_runs, tree_children
from paritylab.learning.chain.teacher import batch_gradient
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, CosineLink
from paritylab.precision import AnyArray
from paritylab.problem import ParityTree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs, fold_keys
from paritylab.problem.tree import tree_tokens

#: Rows held at a time.
ROWS = 1024
#: A chain is a tree of steps, or a line of them, each multiplying one more bit.
SHAPES = ("tree", "line")


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


def line_tokens(signs: Float[Array, "rows n"], leaves: Int[AnyArray, " k"]) -> Array:
    """Input signs, then the running products of the chosen bits from the second on."""
    running = jnp.cumprod(signs[:, leaves], axis=1)
    return jnp.concatenate([signs, running[:, 1:]], axis=1)


def line_children(leaves: Int[AnyArray, " k"], n: int) -> Int[Array, "nodes 2"]:
    """The step before and the next bit; two bits for the first step."""
    chosen = jnp.asarray(leaves)
    before = jnp.arange(n, n + chosen.shape[0] - 2, dtype=chosen.dtype)
    return jnp.stack([jnp.concatenate([chosen[:1], before]), chosen[1:]], axis=1)


def harmed_rows(
    key: Any, leaves: Int[Array, " k"], joined: Any, harm: Harm, rows: int, shape: str = "tree"
) -> Float[Array, "rows tokens"]:
    """Rows of all tokens as the learner is shown them."""
    n = joined.shape[0]
    keys = jax.random.split(key, 5)
    signs = draw_signs(keys[0], rows, n)
    together = jax.random.bernoulli(keys[1], harm.alpha, (rows, 1)) & joined[None, :]
    signs = jnp.where(together, jax.random.rademacher(keys[2], (rows, 1), signs.dtype), signs)
    tokens = (tree_tokens if shape == "tree" else line_tokens)(signs, leaves)
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
    leaves: Any,
    joined: Any,
    harm: Harm,
    samples: Any,
    key: Any,
    link: AbstractLink,
    shape: str = "tree",
) -> Float[Array, "tokens nodes"]:
    """∂L/∂W at W = 0 from so many harmed rows."""
    n, k = joined.shape[0], leaves.shape[0]

    def add(index: Any, total: Any) -> Any:
        shown = harmed_rows(jax.random.fold_in(key, index), leaves, joined, harm, ROWS, shape)
        kept = index * ROWS + jnp.arange(ROWS) < samples
        # A row of zeros has a mean of 0, where φ is flat: it adds nothing.
        return total + batch_gradient(jnp.where(kept[:, None], shown, 0), n, k, link, "token")

    zero = jnp.zeros((n + k - 1, k - 1), jnp.float32)
    return jax.lax.fori_loop(0, (samples + ROWS - 1) // ROWS, add, zero) / samples


def harmed_steps(
    trees: tuple[ParityTree, ...],
    joined: Any,
    harm: Harm,
    samples: int,
    *,
    eta: float,
    key: Any = 0,
    inputs: int = 500,
    shape: str = "tree",
) -> HarmedRuns:
    """One step for every target on its own harmed rows, judged on fresh unpoisoned inputs.

    joined: flags (runs, n) of the bits that may share a sign. shape: one of `SHAPES`.
    """
    if shape not in SHAPES:
        raise ValueError(f"shape must be tree or line, got {shape!r}")
    keys = fold_keys(as_key(key), np.arange(len(trees)))
    leaves = np.array([tree.leaves for tree in trees], dtype=np.int32)
    numbers = (np.float32(eta), np.int32(samples), Harm(*(np.float32(each) for each in harm)))
    with jax.default_matmul_precision("highest"):
        found = _steps(*numbers, leaves, np.asarray(joined), keys, (shape, inputs))
    return HarmedRuns(*map(np.asarray, found))


@eqx.filter_jit
def _steps(
    eta: Any,
    samples: Any,
    harm: Harm,
    leaves: Any,
    joined: Any,
    keys: Any,
    how: tuple[str, int],
) -> HarmedRuns:
    n, (shape, inputs), link = joined.shape[1], how, CosineLink()

    def one(leaves: Any, joined: Any, key: Any) -> HarmedRuns:
        own = jax.random.fold_in(key, 1)
        scores = -eta * harmed_gradient(leaves, joined, harm, samples, own, link, shape)
        model = ChainModel(scores, n, link)

        def test(alpha: Any, number: int) -> tuple[Any, Any]:
            fresh, shifted = jax.random.fold_in(key, number), Harm(alpha, 0.0, 0.0)
            rows = harmed_rows(fresh, leaves, joined, shifted, inputs, shape)
            return 1 - answers(model, rows).wrong / inputs, jnp.mean(rows[:, -1] > 0)

        shifted, plus = test(harm.alpha, 3)
        children = (tree_children if shape == "tree" else line_children)(leaves, n)
        found = _found(scores, children, n)
        return HarmedRuns(found, test(0.0, 2)[0], shifted, jnp.maximum(plus, 1 - plus))

    return over_runs(one, leaves, joined, keys)


def _found(scores: Array, children: Array, n: int) -> Array:
    """Whether every node's children outscore all else that it sees."""
    nodes = jnp.arange(scores.shape[1])
    seen = jnp.where(visible_tokens(n, len(children) + 1, "token"), scores, -jnp.inf)
    others = seen.at[children.T, nodes[None, :]].set(-jnp.inf)
    least = jnp.min(scores[children.T, nodes[None, :]], axis=0)
    return jnp.all(least > jnp.max(others, axis=0))
