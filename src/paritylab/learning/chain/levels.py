"""The chain of thought without teacher forcing: one level per step, with filter and rounding."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Gt, Lt
from jaxtyping import Array, Float, Int

from paritylab._support.precision import AnyArray
from paritylab.learning.chain.chain_learner import (
    ChainLearner,
    Columns,
    Descended,
    Stream,
    every_run,
    pair_scores,
)
from paritylab.learning.contract import LINK, LinkPart, register_learner
from paritylab.learning.descent import walk
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link
from paritylab.problem.sampling import draw_signs
from paritylab.problem.tree import level_ends
from paritylab.theory.ks import level_signal


@register_learner("levels")
@dataclass(frozen=True, eq=False)
class Levels(ChainLearner):
    """Theorem 7: gradient steps on the chain generated end to end, W rounded after each.

    link: φ, a name or one's own. eta: η, `level_step` if None. strings: unlabelled strings of the
    filter; a level is silenced if some token of the level below stays within epsilon of -1 on all
    of them. filtering, rounding: False removes that part. full_gradient: move all levels, as the
    theorem says, instead of the lowest one without weights, the only one that filter and rounding
    leave to move if rows are many. If they are few, two children may be rounded to unequal scores,
    and then the full gradient throws their node far off: of 60 trees at n = 12, k = 4, N = 4,000
    it recovers 15, the lowest level's alone 47. steps: log2 k if None. error: of the gradient
    oracle; every entry of every gradient is moved up or down by it, at random.

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
    full_gradient: Annotated[bool, Doc("Move all levels, not only the lowest.")] = False
    steps: Annotated[int | None, Ge(1), Doc("Gradient steps; log2 k if absent.")] = None
    error: Annotated[float, Ge(0), Doc("Error of every entry of a gradient.")] = 0.0

    def default_samples(self, n: int) -> int:
        return 2**18

    def _descend(self, link: AbstractLink, rows: Stream, trace: int | None) -> Descended:
        """All runs; the last of their states, which are stacked over steps, is the end."""
        k, eta = rows.leaves.shape[1], self.eta
        setting = _Setting(
            steps=k.bit_length() - 1 if self.steps is None else self.steps,
            strings=self.strings,
            eta=np.float32(level_step(rows.n, k, link, int(rows.samples)) if eta is None else eta),
            epsilon=np.float32(self.epsilon),
            error=np.float32(self.error),
            filtering=np.bool_(self.filtering),
            rounding=np.bool_(self.rounding),
            full=np.bool_(self.full_gradient or not (self.filtering and self.rounding)),
        )
        states = jax.tree.map(np.asarray, every_run(_one_run, (link, setting), rows))
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
    compiling again."""

    steps: int
    strings: int
    eta: np.float32
    epsilon: np.float32
    error: np.float32
    filtering: np.bool_
    rounding: np.bool_
    full: np.bool_


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


def _one_run(given: tuple[AbstractLink, _Setting], own: Stream, key: Array) -> _State:
    """One run; its key gives the rows (1), the strings of the filter (3) and the errors (4)."""
    (link, how), leaves, oracle = given, own.leaves, jax.random.fold_in(key, 4)
    hints, k = draw_signs(jax.random.fold_in(key, 3), how.strings, own.n), leaves.shape[0]
    ends = np.asarray(level_ends(0, k))
    levels = np.repeat(np.arange(len(ends) - 1), np.diff(ends))

    def step(scores: Array, at: Array) -> tuple[Array, _State]:
        model = ChainModel(scores, own.n, link, "level")
        passes = jnp.where(how.filtering, filter_levels(model, hints, how.epsilon), 1)
        loss, gradient = loss_and_gradient(model, passes, own)
        signs = jax.random.rademacher(jax.random.fold_in(oracle, at), scores.shape, scores.dtype)
        parts = jnp.split(scores, ends[1:-1], axis=1)
        trained = jnp.stack([jnp.any(part != 0) for part in parts])
        moving = (levels == jnp.argmin(trained)) & ~trained[levels]
        gradient = jnp.where(how.full | moving[None, :], gradient, 0)
        moved = scores - how.eta * (gradient + how.error * signs)
        before = _State(scores, levels_solved(scores, leaves), loss, passes)
        return jnp.where(how.rounding, jnp.round(moved), moved), before

    # One step more than is taken notes the state at the end.
    start = jnp.zeros((own.n + k - 1, k - 1), jnp.float32)
    states: _State = walk(step, start, steps=how.steps + 1, every=None).noted
    return states


def levels_solved(
    scores: Float[AnyArray, "tokens nodes"], leaves: Int[AnyArray, " k"]
) -> Float[Array, " levels"]:
    """Share of nodes per level whose children's scores are equal and 1 above the others."""
    children, others = pair_scores(scores, leaves, "level")
    equal = jnp.abs(children[0] - children[1]) < 0.2
    good = equal & (jnp.min(children, axis=0) > others + 1)
    ends = np.asarray(level_ends(0, len(leaves)))
    return jnp.stack([jnp.mean(part) for part in jnp.split(good, ends[1:-1])])


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


def loss_and_gradient(
    model: ChainModel, passes: Float[AnyArray, " levels"], rows: Stream
) -> tuple[Float[Array, ""], Float[Array, "tokens nodes"]]:
    """(1/2N)Σ_m‖x̂_m - x_m‖² of the chain generated end to end, and its gradient in W.

    passes: a factor per level, 0 where the filter silences it.
    """

    def loss_of(scores: Array, tokens: Array, kept: Array) -> Array:
        made = model.with_parameters(scores).generate(tokens[:, : model.n], passes)
        return jnp.sum(jnp.where(kept[:, None], (made - tokens) ** 2, 0)) / 2

    def add(columns: Columns, kept: Array) -> tuple[Array, Array]:
        return jax.value_and_grad(loss_of)(jnp.asarray(model.scores), columns.tokens(), kept)

    zero = (jnp.zeros((), jnp.float32), jnp.zeros_like(model.scores))
    loss, gradient = rows.mean(add, zero)
    return loss, gradient
