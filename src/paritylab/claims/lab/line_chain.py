"""One teacher-forced step on a tree or on a line, y_i = y_{i-1}·x_{s_i}, bit after bit."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from paritylab.learning.chain.chain_accuracy import answers, over_runs, tree_children
from paritylab.learning.chain.teacher import batch_gradient
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, CosineLink
from paritylab.precision import AnyArray
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs, fold_keys
from paritylab.problem.tree import ParityTree, tree_tokens

SHAPES = ("tree", "line")
#: Rows drawn at a time, and fresh inputs that judge a run.
ROWS, INPUTS = 1024, 1000


class Poison(NamedTuple):
    """flips: chance that a shown step is stated wrongly. lies: chance that the first step names a
    bit outside the set instead of its second child."""

    flips: float = 0.0
    lies: float = 0.0


CLEAN = Poison()


class ShapeRuns(NamedTuple):
    """Per run: every pair found; every fresh input right."""

    found: Bool[AnyArray, "..."]
    right: Bool[AnyArray, "..."]


def line_tokens(signs: Float[Array, "rows n"], leaves: Int[AnyArray, " k"]) -> Array:
    """Input signs, then the running products of the chosen bits from the second on."""
    running = jnp.cumprod(signs[:, leaves], axis=1)
    return jnp.concatenate([signs, running[:, 1:]], axis=1)


def line_children(leaves: Int[AnyArray, " k"], n: int) -> Int[Array, "nodes 2"]:
    """The step before and the next bit; two bits for the first step."""
    chosen = jnp.asarray(leaves)
    before = jnp.arange(n, n + chosen.shape[0] - 2, dtype=chosen.dtype)
    return jnp.stack([jnp.concatenate([chosen[:1], before]), chosen[1:]], axis=1)


def shape_steps(
    shape: str,
    trees: tuple[ParityTree, ...],
    samples: int,
    eta: float,
    poison: Poison = CLEAN,
    *,
    seed: int = 0,
) -> ShapeRuns:
    """One step of size η from W = 0 for every target, judged on inputs without a chain."""
    if shape not in SHAPES:
        raise ValueError(f"shape must be tree or line, got {shape!r}")
    leaves = np.array([tree.leaves for tree in trees], np.int32)
    keys = fold_keys(as_key(seed), np.arange(len(trees)))
    numbers = tuple(np.float32(each) for each in (eta, *poison))
    with jax.default_matmul_precision("highest"):
        found = _steps(CosineLink(), numbers, np.int32(samples), leaves, keys, (shape, trees[0].n))
    return ShapeRuns(*map(np.asarray, found))


@eqx.filter_jit
def _steps(
    link: AbstractLink,
    numbers: tuple[AnyArray | np.float32, ...],
    samples: AnyArray | np.int32,
    leaves: AnyArray,
    keys: Array,
    how: tuple[str, int],
) -> PyTree:
    (eta, flips, lies), (shape, n) = numbers, how
    tokens_of = tree_tokens if shape == "tree" else line_tokens
    children_of = tree_children if shape == "tree" else line_children

    def one(leaves: Array, key: Array) -> ShapeRuns:
        k = leaves.shape[0]
        outside = jnp.argmin(jnp.zeros(n).at[leaves].set(1))

        def add(index: Array, total: Array) -> Array:
            own = jax.random.split(jax.random.fold_in(key, index), 3)
            signs = draw_signs(own[0], ROWS, n)
            tokens = tokens_of(signs, leaves)
            false = jax.random.bernoulli(own[1], flips, (ROWS, k - 1))
            lied = jax.random.bernoulli(own[2], lies, (ROWS,))
            stated = jnp.where(false, -1, 1) * tokens[:, n:]
            lie = signs[:, leaves[0]] * signs[:, outside]
            stated = stated.at[:, 0].set(jnp.where(lied, lie, stated[:, 0]))
            kept = index * ROWS + jnp.arange(ROWS) < samples
            # A row of zeros has a mean of 0, where φ is flat: it adds nothing.
            rows = jnp.where(kept[:, None], jnp.concatenate([signs, stated], axis=1), 0)
            return total + batch_gradient(rows, n, k, link, "token")

        zero = jnp.zeros((n + k - 1, k - 1), jnp.float32)
        batches = (samples + ROWS - 1) // ROWS
        scores = -eta * jax.lax.fori_loop(0, batches, add, zero) / samples
        fresh = tokens_of(draw_signs(jax.random.fold_in(key, 2**30), INPUTS, n), leaves)
        right = answers(ChainModel(scores, n, link), fresh).wrong == 0
        return ShapeRuns(_found(scores, children_of(leaves, n), n), right)

    return over_runs(one, leaves, keys)


def _found(scores: Array, children: Array, n: int) -> Array:
    nodes = jnp.arange(scores.shape[1])
    seen = jnp.where(visible_tokens(n, len(children) + 1, "token"), scores, -jnp.inf)
    others = seen.at[children.T, nodes[None, :]].set(-jnp.inf)
    least = jnp.min(scores[children.T, nodes[None, :]], axis=0)
    return jnp.all(least > jnp.max(others, axis=0))
