"""The chain of thought without teacher forcing: one level per step, with filter and rounding."""

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.chain.teacher import draw_tokens
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link
from paritylab.problem.sampling import as_key
from paritylab.problem.tree import ParityTree, level_ends
from paritylab.theory.ks import level_signal

BATCH = 8192


class LevelRun(NamedTuple):
    """What every step did.

    solved: share of nodes of each level whose largest scores are exactly its two children, equally
    (steps + 1, levels), the start included. loss: (1/2N)Σ_m‖x̂_m - x_m‖² before each step, and after
    the last. filtered: the first level that the filter silenced before each step (0: none). scores:
    W at the end.
    """

    solved: np.ndarray
    loss: np.ndarray
    filtered: np.ndarray
    scores: np.ndarray

    @property
    def levels_per_step(self) -> list[int]:
        """How many levels, from the bottom, are solved after each step."""
        return [int(np.cumprod(row == 1).sum()) for row in self.solved]

    @property
    def one_per_step(self) -> bool:
        """Exactly one more level after every step, up to the last."""
        return self.levels_per_step == list(range(self.solved.shape[1] + 1))


def train_levels(
    tree: ParityTree,
    samples: int,
    *,
    strings: int = 256,
    link: str | AbstractLink = "cos",
    eta: float | None = None,
    epsilon: float = 1.6,
    filtering: bool = True,
    rounding: bool = True,
    full_gradient: bool = False,
    steps: int | None = None,
    key=0,
) -> LevelRun:
    """Theorem 7: gradient steps on the end-to-end chain, W rounded to integers after each.

    strings: unlabelled strings of the filter; a level is silenced if some token of the level below
    stays within epsilon of -1 on all of them. full_gradient: differentiate the whole chain instead
    of the closed form of the lowest untrained level, which is all that filter and rounding leave.
    """
    if samples < 1 or strings < 1:
        raise ValueError(f"samples and strings must be at least 1, got {samples} and {strings}")
    if not 0 < epsilon < 2:
        raise ValueError(f"epsilon must be between 0 and 2, got {epsilon}")
    chosen, key = as_link(link), as_key(key)
    n, k, depth = tree.n, tree.k, tree.depth
    eta = level_step(n, k, chosen, samples) if eta is None else eta
    leaves = np.asarray(tree.leaves)
    hints = draw_tokens(jax.random.fold_in(key, 1), leaves, n, strings)[:, :n]
    scores: np.ndarray = np.zeros((n + k - 1, k - 1), np.float32)
    solved, losses, filtered = [levels_solved(scores, tree)], [], []
    for step in range((depth if steps is None else steps) + 1):
        model = ChainModel(scores, n, chosen, "level")
        open_levels = filter_levels(model, hints, epsilon) if filtering else np.ones(depth)
        loss, gradient = _loss_and_gradient(
            model,
            open_levels.astype(np.float32),
            leaves,
            jax.random.fold_in(key, 2),
            samples,
            full_gradient or not (filtering and rounding),
        )
        losses.append(float(loss))
        filtered.append(int(np.argmin(open_levels)) + 1 if not open_levels.all() else 0)
        if step == (depth if steps is None else steps):
            break
        scores = scores - np.float32(eta) * np.asarray(gradient)
        scores = np.round(scores).astype(np.float32) if rounding else scores
        solved.append(levels_solved(scores, tree))
    return LevelRun(np.stack(solved), np.asarray(losses), np.asarray(filtered), scores)


def level_step(
    n: int, k: int, link: str | AbstractLink = "cos", samples: int | None = None
) -> float:
    """A step size whose scores, on every level, keep as far from half-integers as possible.

    Scores are η times the exact signal of each level; distances are measured against the noise of
    N rows if given. Among η that give the root's children between ln M + 3 and ln M + 8.
    """
    ends, depth = level_ends(n, k), k.bit_length() - 1
    signals = np.array([level_signal(n, k, at, as_link(link)) for at in range(1, depth + 1)])
    floor = np.log(n + k - 2)
    candidates = np.linspace(floor + 3, floor + 8, 2001) / signals[-1]
    scores = candidates[:, None] * signals[None, :]
    distance = 0.5 - np.abs(scores - np.round(scores))
    noise = 1.0
    if samples is not None:
        noise = 0.03 + scores * np.sqrt(2 * np.asarray(ends[:-1]) / samples)
    return float(candidates[(distance / noise).min(axis=1).argmax()])


def filter_levels(model: ChainModel, hints, epsilon: float) -> np.ndarray:
    """1 for every level that the filter lets through, 0 for those it silences."""
    tokens, ends = np.asarray(hints), level_ends(model.n, model.k)
    attention, passes = np.asarray(model.attention()), []
    for index, (start, end) in enumerate(pairwise(ends)):
        below = tokens[:, 0 if index == 0 else ends[index - 1] : start]
        stuck = np.abs(below + 1).max(axis=0) < epsilon
        passes.append(0.0 if stuck.any() else 1.0)
        z = tokens @ attention[:start, start - model.n : end - model.n]
        tokens = np.concatenate([tokens, passes[-1] * np.asarray(model.link(z))], axis=1)
    return np.asarray(passes)


def levels_solved(scores, tree: ParityTree) -> np.ndarray:
    """Share of nodes per level whose two children share the unique largest score."""
    scores = np.asarray(scores)
    nodes = np.arange(tree.k - 1)
    pair = scores[tree.children.T, nodes]
    rest = scores.copy()
    rest[tree.children.T, nodes] = -np.inf
    good = (np.abs(pair[0] - pair[1]) < 0.2) & (pair.min(axis=0) > rest.max(axis=0) + 1)
    return np.array([good[tree.levels == level].mean() for level in range(1, tree.depth + 1)])


@partial(jax.jit, static_argnames=("full",))
def _loss_and_gradient(model, open_levels, leaves, key, samples, full: bool):
    n, size = model.n, BATCH
    weight = 1 / jnp.asarray(samples, jnp.float32)

    def batch(index):
        tokens = draw_tokens(jax.random.fold_in(key, index), leaves, n, size)
        return tokens, index * size + jnp.arange(size) < samples

    def loss_of(scores, tokens, kept):
        made = model.with_parameters(scores).generate(tokens[:, :n], open_levels)
        return jnp.sum(jnp.where(kept[:, None], (made[:, n:] - tokens[:, n:]) ** 2, 0)) / 2

    def add(index, carry):
        tokens, kept = batch(index)
        if full:
            loss, gradient = jax.value_and_grad(loss_of)(model.scores, tokens, kept)
        else:
            loss, gradient = _open_level(model, open_levels, tokens, kept)
        return carry[0] + weight * loss, carry[1] + weight * gradient

    start = (jnp.zeros(()), jnp.zeros_like(model.scores))
    return jax.lax.fori_loop(0, (samples + size - 1) // size, add, start)


def _open_level(model, open_levels, tokens, kept):
    """Loss, and the closed-form gradient of the lowest level without any weight yet.

    <r_m, x̂_j - ẑ_m>/d_l with r_m = (φ(ẑ_m) - x_m)φ'(ẑ_m): uniform attention over d_l tokens.
    """
    n, ends = model.n, level_ends(model.n, model.k)
    made = model.generate(tokens[:, :n], open_levels)
    squares = jnp.where(kept[:, None], (made[:, n:] - tokens[:, n:]) ** 2, 0)
    gradient, below_trained = jnp.zeros_like(model.scores), jnp.asarray(True)
    for level, (start, end) in enumerate(pairwise(ends)):
        columns = slice(start - n, end - n)
        trained = jnp.any(model.scores[:, columns] != 0)
        chosen = below_trained & ~trained & (open_levels[level] > 0)
        z = jnp.mean(made[:, :start], axis=1, keepdims=True)
        residual = (model.link(z) - tokens[:, start:end]) * model.link.slope(z) / start
        residual = jnp.where(kept[:, None] & chosen, residual, 0)
        part = jnp.matmul(made[:, :start].T, residual, precision=jax.lax.Precision.HIGHEST)
        part = part - jnp.sum(residual * z, axis=0)[None, :]
        gradient = gradient.at[:start, columns].add(part)
        below_trained = below_trained & trained
    return jnp.sum(squares) / 2, gradient
