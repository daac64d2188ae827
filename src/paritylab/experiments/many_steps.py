"""Many steps on the same rows against one: scores after descent, and which pairs they find."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

from paritylab.experiments.gaps import are_on_top
from paritylab.models.chain import visible_tokens
from paritylab.problem import random_trees
from paritylab.problem.sampling import seed_of
from paritylab.problem.tree import tree_tokens

#: Runs whose rows are drawn at a time.
DRAWN = 16


class Rows(NamedTuple):
    """Samples of several runs. tokens: ±1. truth: the token each node has to write. seen: the
    tokens that a node attends to. children: those it has to find."""

    tokens: Float[np.ndarray, "runs rows tokens"]
    truth: Float[np.ndarray, "runs rows nodes"]
    seen: Bool[np.ndarray, "tokens nodes"]
    children: Int[np.ndarray, "runs nodes q"]

    def own(self) -> Int[np.ndarray, "runs q nodes"]:
        """The children as places in the scores of a run."""
        return np.moveaxis(self.children, 2, 1)


#: Scores for the first N of the rows of every run, for each N, after so many steps.
Learner = Callable[[Rows, Sequence[int], int], Float[np.ndarray, "sizes runs tokens nodes"]]
#: Rows of some runs, from how many runs, how many rows and the number of the first run.
Draw = Callable[[int, int, int], Rows]
#: What descends usually, and for one plain step.
ADAM, PLAIN = optax.adam(0.3), optax.sgd(1.0)


def descend(
    rows: Rows, sizes: Sequence[int], steps: int, optimiser: optax.GradientTransformation = ADAM
) -> np.ndarray:
    """Scores after full-batch descent from W = 0 on ½ mean (φ(z) - truth)², z the mean of the
    tokens under attention.

    φ(z) = cos(πq(1 - z)/2): of q signs with mean z there are q(1 - z)/2 that are -1. All N share
    one compiled program: rows beyond the first N have weight 0.
    """
    given = (jnp.asarray(rows.tokens), jnp.asarray(rows.truth), jnp.asarray(rows.seen))
    run = partial(_descend, q=rows.children.shape[-1], steps=steps, optimiser=optimiser)
    return np.stack([np.asarray(run(*given, np.int32(size))) for size in sizes])


@partial(jax.jit, static_argnames=("q", "steps", "optimiser"))
def _descend(
    tokens: Array,
    truth: Array,
    seen: Array,
    size: Array,
    *,
    q: int,
    steps: int,
    optimiser: optax.GradientTransformation,
) -> Float[Array, "runs tokens nodes"]:
    weights = (jnp.arange(tokens.shape[1]) < size)[:, None] / size

    def one(run: tuple[Array, Array]) -> Array:
        x, y = run

        def loss(scores: Array) -> Array:
            shares = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=0)
            written = jnp.cos(jnp.pi * q / 2 * (1 - x @ shares))
            return jnp.sum(weights * (written - y) ** 2) / 2

        def step(_: int, state: tuple[Array, optax.OptState]) -> tuple[Array, optax.OptState]:
            scores, memory = state
            update, memory = optimiser.update(jax.grad(loss)(scores), memory, scores)
            return scores + update, memory

        start = jnp.zeros(seen.shape)
        end: Array = jax.lax.fori_loop(0, steps, step, (start, optimiser.init(start)))[0]
        return end

    found: Array = jax.lax.map(one, (tokens, truth))
    return found


def measure_found_curve(
    draw: Draw, grid: Sequence[int] | np.ndarray, runs: int, learner: Learner, steps: int
) -> Bool[np.ndarray, "sizes runs"]:
    """Whether every node's children outscore all else it sees, from growing parts of the rows."""
    sizes, flags = [int(size) for size in grid], []
    for first in range(0, runs, DRAWN):
        rows = draw(min(DRAWN, runs - first), max(sizes), first)
        found = (np.where(rows.seen, scores, -np.inf) for scores in learner(rows, sizes, steps))
        flags.append([are_on_top(scores, rows.own()) for scores in found])
    return np.concatenate(flags, axis=1)


def measure_lead_after_one_step(draw: Draw, rows: int, runs: int) -> Float[np.ndarray, " runs"]:
    """A child's score above the mean of the others, in their standard deviations, after one step.

    The mean over the children of every run.
    """
    leads = []
    for first in range(0, runs, DRAWN):
        drawn = draw(DRAWN, rows, first)
        q = drawn.children.shape[-1]
        (scores,) = descend(drawn, [rows], 1, PLAIN)[..., 0]
        others = scores[:, q:]
        above = scores[:, :q].mean(axis=1) - others.mean(axis=1)
        leads.append(above / others.std(axis=1, ddof=1))
    return np.concatenate(leads)[:runs]


def parity_rows(q: int, tokens: int, seed: int, coins: bool = False) -> Draw:
    """One node over q of M random signs; which ones they are does not matter, so the first q.

    coins: its token is a coin instead.
    """

    def draw(runs: int, rows: int, first: int) -> Rows:
        generator = np.random.default_rng((seed, tokens, q, first))
        signs = _draw_signs(generator, (runs, rows, tokens))
        truth = signs[..., :q].prod(axis=2, keepdims=True)
        if coins:
            truth = _draw_signs(generator, truth.shape)
        children = np.tile(np.arange(q), (runs, 1, 1))
        return Rows(signs, truth, np.ones((tokens, 1), bool), children)

    return draw


def chain_rows(n: int, seed: int) -> Draw:
    """Bits and true tokens of random trees, k = n/2; a node sees every earlier token."""

    def draw(runs: int, rows: int, first: int) -> Rows:
        generator = np.random.default_rng((seed, n, first))
        trees = random_trees(n, n // 2, runs, key=seed_of(seed, first))
        signs = [jnp.asarray(_draw_signs(generator, (rows, n))) for _ in trees]
        made = [tree_tokens(x, np.array(tree.leaves)) for x, tree in zip(signs, trees, strict=True)]
        tokens, children = np.stack(made), np.stack([tree.children for tree in trees])
        seen = np.asarray(visible_tokens(n, n // 2, "token"))
        return Rows(tokens, tokens[..., n:], seen, children)

    return draw


def _draw_signs(generator: np.random.Generator, shape: tuple[int, ...]) -> Float[np.ndarray, "..."]:
    return 1 - 2 * generator.integers(0, 2, shape, np.int8).astype(np.float32)
