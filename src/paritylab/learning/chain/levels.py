"""The chain of thought without teacher forcing: one level per step, with filter and rounding."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from paritylab.learning.chain.chain_learner import (
    ChainLearner,
    Descended,
    Job,
    draw_tokens,
    levels_solved,
    over_runs,
)
from paritylab.learning.chain.teacher import batch_size
from paritylab.learning.contract import register_learner
from paritylab.learning.descent import walk
from paritylab.learning.parts import LinkPart
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link
from paritylab.options import LINK, Doc, Ge, Gt, Lt
from paritylab.precision import AnyArray
from paritylab.problem.sampling import draw_signs
from paritylab.problem.tree import level_ends
from paritylab.theory.ks import level_signal


@register_learner("levels")
@dataclass(frozen=True, eq=False)
class Levels(ChainLearner):
    """Theorem 7: gradient steps on the chain generated end to end, W rounded after each.

    link: φ, a name or one's own. eta: η, `level_step` if None. strings: unlabelled strings of the
    filter; a level is silenced if some token of the level below stays within epsilon of -1 on all
    of them. filtering, rounding: False removes that part. full_gradient: differentiate the whole
    chain instead of the closed form of the lowest untrained level, which is all that filter and
    rounding leave. steps: log2 k if None. error: of the gradient oracle; every entry of every
    gradient is moved up or down by it, at random.

    A solved run has recovered its tree too.

    stats: levels_per_step (runs, steps + 1), levels solved from the bottom, before any step and
    after each; one_per_step: exactly one more every time, up to the last; loss: (1/2N)Σ_m‖x̂_m -
    x_m‖² and filtered: the first silenced level (0: none), both before each step and at the end.
    """

    link: Annotated[LinkPart, LINK, Doc("Link function φ.")] = "cos"
    eta: Annotated[float | None, Gt(0), Doc("Step size; chosen from n, k and N if absent.")] = None
    strings: Annotated[int, Ge(1), Doc("Unlabelled strings of the filter.")] = 256
    epsilon: Annotated[float, Gt(0), Lt(2), Doc("Threshold of the filter.")] = 1.6
    filtering: Annotated[bool, Doc("Silence levels above an untrained one.")] = True
    rounding: Annotated[bool, Doc("Round scores to integers after each step.")] = True
    full_gradient: Annotated[bool, Doc("Differentiate the whole chain instead of one level.")] = (
        False
    )
    steps: Annotated[int | None, Ge(1), Doc("Gradient steps; log2 k if absent.")] = None
    error: Annotated[float, Ge(0), Doc("Error of every entry of a gradient.")] = 0.0

    def _descend(self, job: Job) -> Descended:
        """All runs; the last of their states, which are stacked over steps, is the end."""
        link, data, leaves, keys, trace = job
        eta = level_step(data.n, data.k, link, data.samples) if self.eta is None else self.eta
        setting = _Setting(
            n=data.n,
            steps=data.k.bit_length() - 1 if self.steps is None else self.steps,
            strings=self.strings,
            size=batch_size(data.samples),
            full=self.full_gradient or not (self.filtering and self.rounding),
            eta=np.float32(eta),
            epsilon=np.float32(self.epsilon),
            error=np.float32(self.error),
            samples=np.int32(data.samples),
            filtering=np.bool_(self.filtering),
            rounding=np.bool_(self.rounding),
        )
        states = jax.tree.map(np.asarray, _learn_levels(link, setting, leaves, keys))
        kept = {"risk": states.loss[:, ::trace], "scores": states.scores[:, ::trace]}
        return Descended(states.scores[:, -1], _level_stats(states), kept)


def level_step(n: int, k: int, link: LinkPart = "cos", samples: int | None = None) -> float:
    """A step size whose scores, on every level, keep as far from half-integers as possible.

    Scores are η times the exact signal of each level; distances are measured against the noise of
    N rows if given. Among η that give the root's children between ln M + 3 and ln M + 8.
    """
    ends, depth = level_ends(n, k), k.bit_length() - 1
    signals = np.array([level_signal(n, k, at, as_link(link)) for at in range(1, depth + 1)])
    floor = np.log(n + k - 2)
    # W is rounded after the step: a score near a half-integer would round up in one child and
    # down in the other, and a softmax of unequal scores no longer averages the pair.
    candidates = np.linspace(floor + 3, floor + 8, 2001) / signals[-1]
    scores = candidates[:, None] * signals[None, :]
    distance = 0.5 - np.abs(scores - np.round(scores))
    noise: np.ndarray | float = 1.0
    if samples is not None:
        # A sampled entry has relative error of about √(2d_l/N), d_l tokens being seen.
        noise = 0.03 + scores * np.sqrt(2 * np.asarray(ends[:-1]) / samples)
    return float(candidates[(distance / noise).min(axis=1).argmax()])


class _Setting(NamedTuple):
    """A training: what it is compiled for, then, as numpy numbers, what may change without
    compiling again. size: rows per batch. full: differentiate the whole chain. samples: rows."""

    n: int
    steps: int
    strings: int
    size: int
    full: bool
    eta: np.float32
    epsilon: np.float32
    error: np.float32
    samples: np.int32
    filtering: np.bool_
    rounding: np.bool_


class _State(NamedTuple):
    """A run before a step: scores, share of solved nodes per level, loss, what passes the filter.

    Stacked over steps with the end as the last entry.
    """

    scores: Float[Array, "... tokens nodes"]
    solved: Float[Array, "... levels"]
    loss: Float[Array, "..."]
    passes: Float[Array, "... levels"]


def _level_stats(states: _State) -> dict[str, np.ndarray]:
    """Levels solved from the bottom, and whether it was one more at every step; see `Levels`."""
    levels = np.cumprod(states.solved == 1, axis=2).sum(axis=2)
    depth, ready = states.solved.shape[2], np.arange(states.solved.shape[1])
    silent = states.passes == 0
    return {
        "levels_per_step": levels,
        "one_per_step": (levels == np.minimum(ready, depth)).all(axis=1) & (levels[:, -1] == depth),
        "loss": states.loss,
        "filtered": np.where(silent.any(axis=2), silent.argmax(axis=2) + 1, 0),
    }


@eqx.filter_jit
def _learn_levels(link: AbstractLink, how: _Setting, leaves: AnyArray, keys: Array) -> _State:
    return _State(*over_runs(partial(_one_run, link, how), leaves, keys))


def _one_run(link: AbstractLink, how: _Setting, leaves: Array, key: Array) -> _State:
    """One run; its key gives the rows (1), the strings of the filter (3) and the errors (4)."""
    data_key, hint_key, oracle = (jax.random.fold_in(key, part) for part in (1, 3, 4))
    hints = draw_signs(hint_key, how.strings, how.n)
    k = leaves.shape[0]
    rows = Stream(leaves, data_key, how.samples, how.size)

    def state(scores: Array, route: str) -> tuple[_State, Array]:
        model = ChainModel(scores, how.n, link, "level")
        passes = jnp.where(how.filtering, filter_levels(model, hints, how.epsilon), 1)
        loss, gradient = loss_and_gradient(model, passes, rows, route)
        return _State(scores, levels_solved(scores, leaves), loss, passes), gradient

    def step(scores: Array, at: Array) -> tuple[Array, _State]:
        before, gradient = state(scores, "full" if how.full else "open")
        signs = jax.random.rademacher(jax.random.fold_in(oracle, at), scores.shape, scores.dtype)
        moved = scores - how.eta * (gradient + how.error * signs)
        return jnp.where(how.rounding, jnp.round(moved), moved), before

    start = jnp.zeros((how.n + k - 1, k - 1), jnp.float32)
    way = walk(step, start, steps=how.steps, every=None)
    end = state(way.end, "none")[0]
    return _State(
        *jax.tree.map(lambda many, last: jnp.concatenate([many, last[None]]), way.noted, end)
    )


def filter_levels(
    model: ChainModel, hints: Float[Array, "strings n"], epsilon: float | np.float32
) -> Float[Array, " levels"]:
    """1 for every level that the filter lets through, 0 for those it silences."""
    tokens, ends = hints, level_ends(model.n, model.k)
    attention, passes = model.attention().astype(hints.dtype), []
    for index, (start, end) in enumerate(pairwise(ends)):
        below = tokens[:, 0 if index == 0 else ends[index - 1] : start]
        stuck = jnp.max(jnp.abs(below + 1), axis=0) < epsilon
        passes.append(jnp.where(jnp.any(stuck), 0.0, 1.0).astype(hints.dtype))
        made = model.link(tokens @ attention[:start, start - model.n : end - model.n])
        tokens = jnp.concatenate([tokens, passes[-1] * made], axis=1)
    return jnp.stack(passes)


class Stream(NamedTuple):
    """Rows drawn again at every pass: leaves of the tree, key, number of rows, rows per batch."""

    leaves: Int[AnyArray, " k"]
    key: Array
    samples: int | np.int32
    size: int

    def total(self, n: int, add: Callable[[Array, Array], PyTree], zero: PyTree) -> PyTree:
        """Sum over batches of add(tokens, kept); kept: the rows of a batch that count."""

        def batch(index: Array, total: PyTree) -> PyTree:
            tokens = draw_tokens(jax.random.fold_in(self.key, index), self.leaves, n, self.size)
            kept = index * self.size + jnp.arange(self.size) < self.samples
            return jax.tree.map(jnp.add, total, add(tokens, kept))

        batches = (self.samples + self.size - 1) // self.size
        return jax.lax.fori_loop(0, batches, batch, zero)


def loss_and_gradient(
    model: ChainModel, passes: Float[AnyArray, " levels"], rows: Stream, route: str
) -> tuple[Float[Array, ""], Float[Array, "tokens nodes"]]:
    """(1/2N)Σ_m‖x̂_m - x_m‖² of the generated chain, and its gradient in W.

    passes: a factor per level. route: "full" differentiates the whole chain, "open" is the closed
    form of the lowest open level without weights, "none" leaves the gradient 0.
    """
    n, weight = model.n, 1 / jnp.asarray(rows.samples, jnp.float32)

    def loss_of(scores: Array, tokens: Array, kept: Array) -> Array:
        made = model.with_parameters(scores).generate(tokens[:, :n], passes)
        return jnp.sum(jnp.where(kept[:, None], (made[:, n:] - tokens[:, n:]) ** 2, 0)) / 2

    def add(tokens: Array, kept: Array) -> tuple[Array, Array]:
        if route == "full":
            loss, gradient = jax.value_and_grad(loss_of)(model.scores, tokens, kept)
        elif route == "open":
            loss, gradient = _open_level(model, passes, tokens, kept)
        else:
            return weight * loss_of(jnp.asarray(model.scores), tokens, kept), zero
        return weight * loss, weight * gradient

    zero = jnp.zeros_like(model.scores)
    loss, gradient = rows.total(n, add, (jnp.zeros((), jnp.float32), zero))
    return loss, gradient


def _open_level(
    model: ChainModel,
    passes: Float[AnyArray, " levels"],
    tokens: Float[Array, "rows tokens"],
    kept: Bool[Array, " rows"],
) -> tuple[Float[Array, ""], Float[Array, "tokens nodes"]]:
    """Loss, and the closed-form gradient of the lowest level without any weight yet.

    <r_m, x̂_j - ẑ_m>/d_l with r_m = (φ(ẑ_m) - x_m)φ'(ẑ_m): uniform attention over d_l tokens. The
    whole chain's gradient costs the same, but where two children were rounded to unequal scores it
    throws their node far off: of 100 trees at n = 12, k = 4, N = 4,000 it recovers 29, this one 77.
    """
    n, ends = model.n, level_ends(model.n, model.k)
    made = model.generate(tokens[:, :n], passes)
    squares = jnp.where(kept[:, None], (made[:, n:] - tokens[:, n:]) ** 2, 0)
    gradient, below_trained = jnp.zeros_like(model.scores), jnp.asarray(True)
    for level, (start, end) in enumerate(pairwise(ends)):
        columns = slice(start - n, end - n)
        trained = jnp.any(model.scores[:, columns] != 0)
        chosen = below_trained & ~trained & (passes[level] > 0)
        z = jnp.mean(made[:, :start], axis=1, keepdims=True)
        residual = (model.link(z) - tokens[:, start:end]) * model.link.slope(z) / start
        residual = jnp.where(kept[:, None] & chosen, residual, 0)
        part = jnp.matmul(made[:, :start].T, residual, precision=jax.lax.Precision.HIGHEST)
        part = part - jnp.sum(residual * z, axis=0)[None, :]
        gradient = gradient.at[:start, columns].add(part)
        below_trained = below_trained & trained
    return jnp.sum(squares) / 2, gradient
