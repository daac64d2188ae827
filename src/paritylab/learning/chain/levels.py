"""The chain of thought without teacher forcing: one level per step, with filter and rounding."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.learning.chain.chain_accuracy import (
    draw_tokens,
    judged_chains,
    leaves_of,
    levels_solved,
    over_runs,
)
from paritylab.learning.chain.teacher import batch_size
from paritylab.learning.data import Sample, Target, Unknown
from paritylab.learning.runs import Trained, check_fields, register
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link, check_link
from paritylab.problem.sampling import draw_signs
from paritylab.problem.tree import level_ends
from paritylab.theory.ks import level_signal


@register("levels")
@dataclass(frozen=True, eq=False)
class Levels:
    """Theorem 7: gradient steps on the chain generated end to end, W rounded after each.

    link: φ, a name or one's own. eta: η, `level_step` if None. strings: unlabelled strings of the
    filter; a level is silenced if some token of the level below stays within epsilon of -1 on all
    of them. filtering, rounding: False removes that part. full_gradient: differentiate the whole
    chain instead of the closed form of the lowest untrained level, which is all that filter and
    rounding leave. steps: log2 k if None. error: of the gradient oracle; every entry of every
    gradient is moved up or down by it, at random.

    A run recovers its tree if at every inner node the two children outscore every other token the
    node sees. It is solved if it has recovered the tree, its generated root has the right sign on
    every one of 10,000 fresh inputs (all inputs up to n = 16) and ½ mean (ŷ - y)² is below 0.01.

    stats: levels_per_step (runs, steps + 1), levels solved from the bottom, before any step and
    after each; one_per_step: exactly one more every time, up to the last; loss: (1/2N)Σ_m‖x̂_m -
    x_m‖² and filtered: the first silenced level (0: none), both before each step and at the end.
    """

    link: Any = "cos"
    eta: float | None = None
    strings: int = 256
    epsilon: float = 1.6
    filtering: bool = True
    rounding: bool = True
    full_gradient: bool = False
    steps: int | None = None
    error: float = 0.0

    takes = (Sample,)
    of = "tree"

    def __post_init__(self) -> None:
        check_fields(self)
        check_link(as_link(self.link))

    def train(self, data: Any, keys: jax.Array, trace: int | None) -> Trained:
        leaves, link = leaves_of(data), as_link(self.link)
        eta = level_step(data.n, data.k, link, data.samples) if self.eta is None else self.eta
        parts = _Parts(
            data.n,
            data.k.bit_length() - 1 if self.steps is None else self.steps,
            self.strings,
            batch_size(data.samples),
            self.full_gradient or not (self.filtering and self.rounding),
        )
        numbers = _Numbers(
            np.float32(eta),
            np.float32(self.epsilon),
            np.float32(self.error),
            np.int32(data.samples),
            np.bool_(self.filtering),
            np.bool_(self.rounding),
        )
        states = jax.tree.map(np.asarray, _learn_levels(link, numbers, leaves, keys, parts))
        kept = None
        if trace is not None:
            steps = np.arange(0, parts.steps + 1, trace)
            kept = {"step": steps, "risk": states.loss[:, steps], "scores": states.scores[:, steps]}
        return judged_chains(
            states.scores[:, -1],
            data,
            keys,
            link=link,
            mask="level",
            needs_pairs=True,
            stats=_level_stats(states),
            trace=kept,
        )

    def rebuild(self, numbers: Any, target: Target | Unknown, key: jax.Array) -> ChainModel:
        return ChainModel(numbers, target.n, self.link, "level")


def level_step(n: int, k: int, link: Any = "cos", samples: int | None = None) -> float:
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
    noise: Any = 1.0
    if samples is not None:
        noise = 0.03 + scores * np.sqrt(2 * np.asarray(ends[:-1]) / samples)
    return float(candidates[(distance / noise).min(axis=1).argmax()])


class _Parts(NamedTuple):
    """What a compiled training is specialised on; size: rows per batch."""

    n: int
    steps: int
    strings: int
    size: int
    full: bool


class _Numbers(NamedTuple):
    """What may change without compiling again; samples: rows."""

    eta: Any
    epsilon: Any
    error: Any
    samples: Any
    filtering: Any
    rounding: Any


class _State(NamedTuple):
    """A run before a step: scores, share of solved nodes per level, loss, what passes the filter.

    Stacked over steps with the end as the last entry.
    """

    scores: Any
    solved: Any
    loss: Any
    passes: Any


def _level_stats(states: _State) -> dict[str, np.ndarray]:
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
def _learn_levels(
    link: AbstractLink, numbers: _Numbers, leaves: Any, keys: Any, parts: _Parts
) -> _State:
    return over_runs(partial(_one_run, link, numbers, parts), leaves, keys)


def _one_run(link: AbstractLink, numbers: _Numbers, parts: _Parts, leaves: Any, key: Any) -> _State:
    data_key, hint_key = jax.random.fold_in(key, 1), jax.random.fold_in(key, 3)
    hints = draw_signs(hint_key, parts.strings, parts.n)
    k = leaves.shape[0]
    rows = Stream(leaves, data_key, numbers.samples, parts.size)

    def state(scores: Any, route: str) -> tuple[_State, Any]:
        model = ChainModel(scores, parts.n, link, "level")
        passes = jnp.where(numbers.filtering, filter_levels(model, hints, numbers.epsilon), 1)
        loss, gradient = loss_and_gradient(model, passes, rows, route)
        return _State(scores, levels_solved(scores, leaves), loss, passes), gradient

    def step(scores: Any, key: Any) -> tuple[Any, _State]:
        before, gradient = state(scores, "full" if parts.full else "open")
        signs = jax.random.rademacher(key, scores.shape, scores.dtype)
        moved = scores - numbers.eta * (gradient + numbers.error * signs)
        return jnp.where(numbers.rounding, jnp.round(moved), moved), before

    start = jnp.zeros((parts.n + k - 1, k - 1), jnp.float32)
    oracle_keys = jax.random.split(jax.random.fold_in(key, 4), parts.steps)
    scores, states = jax.lax.scan(step, start, oracle_keys)
    end = state(scores, "none")[0]
    return jax.tree.map(lambda many, last: jnp.concatenate([many, last[None]]), states, end)


def filter_levels(
    model: ChainModel, hints: Float[Array, "strings n"], epsilon: Any
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

    leaves: Any
    key: Any
    samples: Any
    size: int


def loss_and_gradient(model: ChainModel, passes: Any, rows: Stream, route: str) -> tuple[Any, Any]:
    """(1/2N)Σ_m‖x̂_m - x_m‖² of the generated chain, and its gradient in W.

    passes: a factor per level. route: "full" differentiates the whole chain, "open" is the closed
    form of the lowest open level without weights, "none" leaves the gradient 0.
    """
    n, weight = model.n, 1 / jnp.asarray(rows.samples, jnp.float32)

    def loss_of(scores: Any, tokens: Any, kept: Any) -> Any:
        made = model.with_parameters(scores).generate(tokens[:, :n], passes)
        return jnp.sum(jnp.where(kept[:, None], (made[:, n:] - tokens[:, n:]) ** 2, 0)) / 2

    def add(index: Any, carry: Any) -> Any:
        tokens = draw_tokens(jax.random.fold_in(rows.key, index), rows.leaves, n, rows.size)
        kept = index * rows.size + jnp.arange(rows.size) < rows.samples
        if route == "full":
            loss, gradient = jax.value_and_grad(loss_of)(model.scores, tokens, kept)
        elif route == "open":
            loss, gradient = _open_level(model, passes, tokens, kept)
        else:
            return carry[0] + weight * loss_of(model.scores, tokens, kept), carry[1]
        return carry[0] + weight * loss, carry[1] + weight * gradient

    start = (jnp.zeros((), jnp.float32), jnp.zeros_like(model.scores))
    return jax.lax.fori_loop(0, (rows.samples + rows.size - 1) // rows.size, add, start)


def _open_level(model: ChainModel, passes: Any, tokens: Any, kept: Any) -> tuple[Any, Any]:
    """Loss, and the closed-form gradient of the lowest level without any weight yet.

    <r_m, x̂_j - ẑ_m>/d_l with r_m = (φ(ẑ_m) - x_m)φ'(ẑ_m): uniform attention over d_l tokens.
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
