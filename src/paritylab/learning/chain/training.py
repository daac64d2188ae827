"""One compiled loop for all chains: rows, curriculum, gradient, oracle, optimiser, rounding."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from paritylab._support.precision import AnyArray
from paritylab.learning.chain.curriculum import (
    Curriculum,
    Filter,
    level_passes,
    levels_solved,
    lowest_level,
)
from paritylab.learning.chain.evaluation import traced_risks, tree_children
from paritylab.learning.chain.objective import (
    Build,
    Objective,
    first_gradient,
    losses_and_gradient,
    risk_of,
)
from paritylab.learning.chain.oracles import Oracle, Query
from paritylab.learning.chain.rows import Draw, Stream, Table, over_runs
from paritylab.learning.contract import OptimiserPart
from paritylab.learning.descent import Walk, as_optimiser, walk
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink
from paritylab.problem.sampling import draw_signs
from paritylab.problem.tree import level_ends

#: An optimiser by name, from optax, or a function such as optax.adam that makes one from a step
#: size inside the compiled program.
ChainOptimiser: TypeAlias = OptimiserPart | Callable[[Any], optax.GradientTransformation]
#: W, and the link's trained arrays or None; with the optimiser's memory, the state of a run.
Parameters = tuple[Array, PyTree]
State = tuple[Parameters, PyTree]


def per_node(values: Float[Array, " levels"], k: int) -> Float[Array, "1 nodes"]:
    """A number per level for every node, as one row."""
    sizes = np.diff(level_ends(0, k))
    return jnp.repeat(values, sizes, total_repeat_length=k - 1)[None, :]


class StepRule(NamedTuple):
    """From a gradient to the next W.

    eta: step size. per_level: what it is multiplied by on every level; None for 1. link_eta: of the
    link's own numbers; None if they are fixed. rounding: scores to whole numbers. lowest: moves
    only the lowest level without weights.
    """

    optimiser: ChainOptimiser
    eta: Float[AnyArray, ""]
    per_level: Float[AnyArray, " levels"] | None
    link_eta: Float[AnyArray, ""] | None
    rounding: bool
    lowest: bool

    def built(self) -> optax.GradientTransformationExtraArgs:
        """The optax optimiser."""
        return optax.with_extra_args_support(as_optimiser(self.optimiser, self.eta))

    def moved(self, parameters: Parameters, updates: Parameters) -> Parameters:
        """W and the link after the optimiser's updates."""
        scores, link = parameters
        change, link_change = updates
        link_factor = None if self.link_eta is None else self.link_eta / self.eta
        if isinstance(self.optimiser, optax.GradientTransformation):
            # It has a step size of its own, of which ours are factors.
            change, link_factor = jnp.asarray(self.eta) * change, self.link_eta
        if self.per_level is not None:
            change = change * per_node(jnp.asarray(self.per_level), scores.shape[1] + 1)
        if self.lowest:
            change = jnp.where(lowest_level(scores)[None, :], change, 0)
        after = scores + change
        if link_factor is not None:
            link = jax.tree.map(lambda part, more: part + link_factor * more, link, link_change)
        return jnp.round(after) if self.rounding else after, link


class Setting(NamedTuple):
    """A training: text, flags and functions are compiled for, numpy numbers are not."""

    link: AbstractLink
    mask: str
    objective: Objective
    curriculum: Curriculum
    rule: StepRule
    oracle: Oracle | None
    steps: int
    every: int | None

    @property
    def one_product(self) -> bool:
        """Whether the only gradient is that of teacher forcing at W = 0, a single product."""
        plain = self.objective.supervision == "teacher" and not self.objective.answer_weight
        fixed = self.rule.link_eta is None and self.curriculum == "all"
        return self.steps == 1 and plain and fixed

    @property
    def staged(self) -> bool:
        """Whether levels are learnt one after the other."""
        return self.curriculum != "all" or self.rule.rounding or self.rule.lowest

    @property
    def needs_mean(self) -> bool:
        """Whether the oracle wants the mean gradient over all targets."""
        return bool(getattr(self.oracle, "needs_mean", False))


@eqx.filter_jit
def train_runs(
    setting: Setting, draw: Draw, leaves: Int[AnyArray, "runs k"], keys: Array
) -> tuple[Walk[Parameters], PyTree]:
    """Every run from W = 0, one after the other, and what is noted at their ends."""

    def train_run(leaves: Array, key: Array) -> tuple[Walk[Parameters], PyTree]:
        return _train_run(setting, draw, leaves, key)

    walked, end = over_runs(train_run, leaves, keys)
    return Walk(*walked), end


def _train_run(
    setting: Setting, draw: Draw, leaves: Array, key: Array
) -> tuple[Walk[Parameters], PyTree]:
    """One run; its key gives the rows (1), the filter's strings (3) and the oracle's errors (4)."""
    run = _Run.of(setting, draw, leaves, key)
    scores = jnp.zeros((draw.n + leaves.shape[0] - 1, leaves.shape[0] - 1), jnp.float32)
    start = (scores, _link_arrays(setting))
    state = (start, run.optimiser.init(start))
    if not setting.one_product:
        found = walk(run.step, state, steps=setting.steps, every=setting.every, keep=_parameters)
        end = found.end[0]
        passes, notes = run.look(end)
        if setting.every is not None:  # the trace has the end, too
            last = run.rows(jnp.asarray(setting.steps))
            notes = {**notes, **run.gradient(end, passes, last)[0]}
        return Walk(end, found.noted, found.path), notes
    (after, _), notes = run.step(state, jnp.zeros((), int))
    if setting.every is None:
        return Walk(after, notes, ()), run.look(after)[1]
    models = [run.build(start), run.build(after)]
    notes = {**notes, "answer": traced_risks(models, leaves, key)}
    return Walk(after, notes, jax.tree.map(lambda *ends: jnp.stack(ends), start, after)), {}


def _parameters(state: State) -> Parameters:
    """The part of a state that the trace keeps."""
    return state[0]


class _Run(NamedTuple):
    """What a run needs at every step.

    rows, averaged: of a step by its number; averaged over all targets. strings: of the filter.
    """

    setting: Setting
    leaves: Array
    rows: Callable[[Array], Stream | Table]
    averaged: Callable[[Array], Stream | Table]
    strings: Array | None
    oracle_key: Array
    build: Build
    optimiser: optax.GradientTransformationExtraArgs

    @classmethod
    def of(cls, setting: Setting, draw: Draw, leaves: Array, key: Array) -> "_Run":
        """A run from its key."""
        rows_key, strings = jax.random.fold_in(key, 1), None
        if isinstance(setting.curriculum, Filter):
            strings_key = jax.random.fold_in(key, 3)
            strings = draw_signs(strings_key, setting.curriculum.augmentation, draw.n)
        rows = draw.rows(leaves, rows_key)
        averaged = draw.rows(leaves, rows_key, averaged=True) if setting.needs_mean else rows
        build, optimiser = _builder(setting, draw.n), setting.rule.built()
        oracle_key = jax.random.fold_in(key, 4)
        return cls(setting, leaves, rows, averaged, strings, oracle_key, build, optimiser)

    def step(self, state: State, number: Array) -> tuple[State, dict[str, Array]]:
        """The state after a step, and what is noted before it."""
        parameters, memory = state
        rows, (passes, notes) = self.rows(number), self.look(parameters)
        losses, (true, link_gradient) = self.gradient(parameters, passes, rows)
        if self.setting.oracle is not None:
            key = jax.random.fold_in(self.oracle_key, number)

            def mean() -> Array:
                return self.gradient(parameters, passes, self.averaged(number))[1][0]

            children = tree_children(self.leaves, self.build(parameters).n)
            true, more = self.setting.oracle.answer(true, Query(key, children, mean))
            notes = {**notes, **more}
        gradient, line = (true, link_gradient), {}
        if losses:
            risk = risk_of(self.setting.objective, self.build, passes, rows)
            line = {"value": losses["risk"], "grad": gradient, "value_fn": risk}
        updates, memory = self.optimiser.update(gradient, memory, parameters, **line)
        moved = self.setting.rule.moved(parameters, updates)
        return (moved, memory), {**notes, **losses}

    def look(self, parameters: Parameters) -> tuple[Array, dict[str, Array]]:
        """What the curriculum passes, and how far the levels are."""
        passes = level_passes(self.setting.curriculum, self.build(parameters), self.strings)
        if not self.setting.staged:
            return passes, {}
        solved = levels_solved(parameters[0], self.leaves, self.setting.mask)
        return passes, {"solved_levels": solved, "passes": passes}

    def gradient(
        self, parameters: Parameters, passes: Array, rows: Stream | Table
    ) -> tuple[dict[str, Array], Parameters]:
        """Losses by name, and the gradient; the first step of teacher forcing has no losses."""
        setting, model = self.setting, self.build(parameters)
        if setting.one_product:
            first = first_gradient(setting.link, rows, model.n, model.k, setting.mask)
            scale = 1 / (model.k - 1) if setting.objective.mean_loss else 1.0
            return {}, (scale * first, None)
        objective, everything = setting.objective, jnp.ones_like(passes)
        if objective.supervision != "answer":
            losses, gradient = losses_and_gradient(objective, self.build, parameters, passes, rows)
            return losses._asdict(), gradient
        # The answer needs all levels below it: one that is silenced writes, but does not move.
        losses, gradient = losses_and_gradient(objective, self.build, parameters, everything, rows)
        return losses._asdict(), (per_node(passes, model.k) * gradient[0], gradient[1])


def _link_arrays(setting: Setting) -> PyTree:
    """The numbers of the link that train; None if it is fixed."""
    if setting.rule.link_eta is None:
        return None
    arrays = eqx.filter(setting.link, eqx.is_inexact_array)
    return jax.tree.map(lambda each: jnp.asarray(each, jnp.float32), arrays)


def _builder(setting: Setting, n: int) -> Build:
    """From parameters to the model that they are of."""

    def build(parameters: Parameters) -> ChainModel:
        scores, arrays = parameters
        link = setting.link if arrays is None else eqx.combine(arrays, setting.link)
        return ChainModel(scores, n, link, setting.mask)

    return build
