"""The chain learned in one step from corrupted rows, as a tree of steps or as a line of them."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from paritylab._support.precision import AnyArray
from paritylab.learning.chain.evaluation import answers, tree_children
from paritylab.learning.chain.objective import batch_gradient
from paritylab.learning.chain.rows import over_runs
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, CosineLink
from paritylab.problem import ParityTree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs, fold_keys
from paritylab.problem.tree import tree_tokens

#: Rows held at a time.
ROWS = 1024
#: A chain is a tree of steps, or a line of them, each multiplying one more bit.
SHAPES = ("tree", "line")


class Corruption(NamedTuple):
    """What is wrong with the training rows.

    alpha: probability that all bits of A share one sign. flips: probability with which each
    intermediate token is stated wrongly. lies: probability that the first node states the product
    of its first child and a bit outside the parity set.
    """

    alpha: Any = 0.0
    flips: Any = 0.0
    lies: Any = 0.0


class CorruptedRuns(NamedTuple):
    """After one step on corrupted rows, per run.

    found: every pair on top. uniform, shifted: accuracy of the generated answer on fair inputs and
    on inputs with the same shift. constant: accuracy there of the more frequent answer.
    """

    found: Bool[AnyArray, " runs"]
    uniform: Float[AnyArray, " runs"]
    shifted: Float[AnyArray, " runs"]
    constant: Float[AnyArray, " runs"]


def correlated_bits(tree: ParityTree, members: int, inside: bool) -> Bool[np.ndarray, " n"]:
    """A: the first `members` leaves of the tree, or so many bits outside the parity set."""
    outside = np.setdiff1d(np.arange(tree.n), tree.leaves)
    chosen = np.asarray(tree.leaves if inside else outside)
    correlated = np.zeros(tree.n, dtype=bool)
    correlated[chosen[:members]] = True
    return correlated


def line_tokens(signs: Float[Array, "rows n"], leaves: Int[AnyArray, " k"]) -> Array:
    """Input signs, then the running products of the chosen bits from the second on."""
    running = jnp.cumprod(signs[:, leaves], axis=1)
    return jnp.concatenate([signs, running[:, 1:]], axis=1)


def line_children(leaves: Int[AnyArray, " k"], n: int) -> Int[Array, "nodes 2"]:
    """The step before and the next bit; two bits for the first step."""
    chosen = jnp.asarray(leaves)
    before = jnp.arange(n, n + chosen.shape[0] - 2, dtype=chosen.dtype)
    return jnp.stack([jnp.concatenate([chosen[:1], before]), chosen[1:]], axis=1)


def draw_corrupted_rows(
    key: Any,
    leaves: Int[Array, " k"],
    correlated: Any,
    corruption: Corruption,
    rows: int,
    shape: str = "tree",
) -> Float[Array, "rows tokens"]:
    """Rows of all tokens as the learner is shown them."""
    n = correlated.shape[0]
    keys = jax.random.split(key, 5)
    signs = draw_signs(keys[0], rows, n)
    together = jax.random.bernoulli(keys[1], corruption.alpha, (rows, 1)) & correlated[None, :]
    signs = jnp.where(together, jax.random.rademacher(keys[2], (rows, 1), signs.dtype), signs)
    tokens = (tree_tokens if shape == "tree" else line_tokens)(signs, leaves)
    return corrupt_tokens(keys[3:], tokens, leaves, n, corruption)


def corrupt_tokens(
    keys: Any,
    tokens: Float[Array, "rows tokens"],
    leaves: Int[Array, " k"],
    n: int,
    corruption: Corruption,
) -> Float[Array, "rows tokens"]:
    """The tokens with flips and lies in the intermediate ones. keys: one for each of the two."""
    signs, stated = tokens[:, :n], tokens[:, n:]
    false = jax.random.bernoulli(keys[0], corruption.flips, stated.shape)
    stated = jnp.where(false, -1, 1) * stated
    outside = jnp.argmin(jnp.zeros(n).at[leaves].set(1))
    lie = signs[:, leaves[0]] * signs[:, outside]
    lied = jax.random.bernoulli(keys[1], corruption.lies, (len(tokens),))
    stated = stated.at[:, 0].set(jnp.where(lied, lie, stated[:, 0]))
    return jnp.concatenate([signs, stated], axis=1)


def corrupted_gradient(
    leaves: Any,
    correlated: Any,
    corruption: Corruption,
    samples: Any,
    key: Any,
    link: AbstractLink,
    shape: str = "tree",
) -> Float[Array, "tokens nodes"]:
    """∂L/∂W at W = 0 from so many corrupted rows."""
    n, k = correlated.shape[0], leaves.shape[0]

    def add(index: Any, total: Any) -> Any:
        shown = draw_corrupted_rows(
            jax.random.fold_in(key, index), leaves, correlated, corruption, ROWS, shape
        )
        kept = index * ROWS + jnp.arange(ROWS) < samples
        # A row of zeros has a mean of 0, where φ is flat: it adds nothing.
        return total + batch_gradient(jnp.where(kept[:, None], shown, 0), n, k, link, "token")

    zero = jnp.zeros((n + k - 1, k - 1), jnp.float32)
    total: Array = jax.lax.fori_loop(0, (samples + ROWS - 1) // ROWS, add, zero)
    return jnp.asarray(total / samples)


def train_on_corrupted_rows(
    trees: tuple[ParityTree, ...],
    correlated: Any,
    corruption: Corruption,
    samples: int,
    *,
    eta: float,
    key: Any = 0,
    inputs: int = 500,
    shape: str = "tree",
) -> CorruptedRuns:
    """One step for every target on its own corrupted rows, judged on fresh clean inputs.

    correlated: flags (runs, n) of the bits that may share a sign. shape: one of `SHAPES`.
    """
    keys = fold_keys(as_key(key), np.arange(len(trees)))
    leaves = np.array([tree.leaves for tree in trees], dtype=np.int32)
    numbers = (
        np.float32(eta),
        np.int32(samples),
        Corruption(*(np.float32(each) for each in corruption)),
    )
    with jax.default_matmul_precision("highest"):
        found = _train_runs(*numbers, leaves, np.asarray(correlated), keys, (shape, inputs))
    return CorruptedRuns(*map(np.asarray, found))


@eqx.filter_jit
def _train_runs(
    eta: Any,
    samples: Any,
    corruption: Corruption,
    leaves: Any,
    correlated: Any,
    keys: Any,
    how: tuple[str, int],
) -> CorruptedRuns:
    n, (shape, inputs), link = correlated.shape[1], how, CosineLink()

    def one(leaves: Any, correlated: Any, key: Any) -> CorruptedRuns:
        own = jax.random.fold_in(key, 1)
        scores = -eta * corrupted_gradient(
            leaves, correlated, corruption, samples, own, link, shape
        )
        model = ChainModel(scores, n, link)

        def test(alpha: Any, number: int) -> tuple[Any, Any]:
            fresh, shifted = jax.random.fold_in(key, number), Corruption(alpha, 0.0, 0.0)
            rows = draw_corrupted_rows(fresh, leaves, correlated, shifted, inputs, shape)
            return 1 - answers(model, rows).wrong / inputs, jnp.mean(rows[:, -1] > 0)

        shifted, plus = test(corruption.alpha, 3)
        children = (tree_children if shape == "tree" else line_children)(leaves, n)
        found = _all_pairs_found(scores, children, n)
        return CorruptedRuns(found, test(0.0, 2)[0], shifted, jnp.maximum(plus, 1 - plus))

    found: CorruptedRuns = over_runs(one, leaves, correlated, keys)
    return found


def _all_pairs_found(scores: Array, children: Array, n: int) -> Array:
    """Whether every node's children outscore all else that it sees."""
    nodes = jnp.arange(scores.shape[1])
    seen = jnp.where(visible_tokens(n, len(children) + 1, "token"), scores, -jnp.inf)
    others = seen.at[children.T, nodes[None, :]].set(-jnp.inf)
    least = jnp.min(scores[children.T, nodes[None, :]], axis=0)
    return jnp.all(least > jnp.max(others, axis=0))
