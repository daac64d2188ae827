"""Gradient descent in one compiled loop: any model, any loss, any optax optimiser, many runs.

`descend` is one run. `descend_all` maps it over runs that share a model's shape: run i has its own
parameters, target or rows, and key. From fold_in(key, 2) one half draws the rows of a `Sample`, the
other the rows of every step (`Fresh`, or a random batch).
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from paritylab.learning.contract import LossPart, OptimiserPart
from paritylab.learning.data import Data, Fresh, Rows, Sample, are_uniform, functions_of
from paritylab.models.protocol import Model, with_parameters
from paritylab.precision import AnyArray, float64
from paritylab.problem import Loss, as_loss
from paritylab.problem.sampling import each_key
from paritylab.risk.objective import Target as Arrays, stacked_targets
from paritylab.risk.routes.statistic import labels_at
from paritylab.risk.rows import WeightedRows, draw_rows, every_row, predictions

#: Optimisers by name; each takes the step size.
OPTIMISERS: dict[str, Callable[..., optax.GradientTransformation]] = {
    "sgd": optax.sgd,
    "momentum": lambda eta: optax.sgd(eta, momentum=0.9),
    "normalised": lambda eta: optax.chain(optax.normalize_by_update_norm(), optax.sgd(eta)),
    "adam": optax.adam,
    "adamw": optax.adamw,
    "rmsprop": optax.rmsprop,
}
#: Bits of the rows that a run holds at a time.
PIECE = 1 << 20

State = TypeVar("State")


class Walk(NamedTuple, Generic[State]):
    """end: the state after the last step. noted: what every step returned besides. path: the states
    before steps 0, every, 2·every, …; empty if none were kept."""

    end: State
    noted: PyTree
    path: PyTree


def walk(
    step: Callable[[State, jax.Array], tuple[State, PyTree]],
    start: State,
    *,
    steps: int,
    every: int | None,
    keep: Callable[[State], PyTree] = lambda state: state,
    first: AnyArray | int = 0,
) -> Walk[State]:
    """`steps` calls of step(state, number) -> (state, noted); call it under jit.

    every: how many steps lie between two entries of the path; None keeps none. keep: the part of a
    state that belongs on the path. first: number of the first step.
    """

    def stretch(state: State, first: jax.Array, length: int) -> tuple[State, PyTree]:
        after, noted = jax.lax.scan(step, state, first + jnp.arange(length))
        return after, (keep(state), noted)

    if every is None:
        end, noted = jax.lax.scan(step, start, first + jnp.arange(steps))
        return Walk(end, noted, ())
    whole, rest = divmod(steps, every)
    starts = first + jnp.arange(0, whole * every, every)
    end, (path, noted) = jax.lax.scan(lambda state, at: stretch(state, at, every), start, starts)
    noted = jax.tree.map(lambda many: many.reshape(whole * every, *many.shape[2:]), noted)
    if rest:
        end, (last, more) = stretch(end, first + jnp.asarray(whole * every), rest)
        path = jax.tree.map(lambda many, one: jnp.concatenate([many, one[None]]), path, last)
        noted = jax.tree.map(lambda many, few: jnp.concatenate([many, few]), noted, more)
    return Walk(end, noted, path)


def descend(
    risk: Callable[[Any, jax.Array, jax.Array], jax.Array],
    parameters: PyTree,
    optimiser: optax.GradientTransformation,
    *,
    steps: int,
    every: int | None = None,
    key: jax.Array,
) -> Walk[PyTree]:
    """`steps` steps of the optimiser on risk(parameters, key of the step, its number), under jit.

    every: how many steps lie between two entries of the path; None keeps no path. The walk has
    parameters; noted are the risks that the optimiser saw at the steps of the path.
    """
    optimiser = optax.with_extra_args_support(optimiser)

    def step(
        carry: tuple[PyTree, PyTree], number: jax.Array
    ) -> tuple[tuple[PyTree, PyTree], jax.Array]:
        parameters, state = carry
        given = (jax.random.fold_in(key, number), number)
        value, gradient = jax.value_and_grad(risk)(parameters, *given)
        # Line searches (L-BFGS) ask for more than the gradient; others ignore it.
        updates, state = optimiser.update(
            gradient,
            state,
            parameters,
            value=value,
            grad=gradient,
            value_fn=lambda p: risk(p, *given),
        )
        return (optax.apply_updates(parameters, updates), state), value

    start = (parameters, optimiser.init(parameters))
    found = walk(step, start, steps=steps, every=every, keep=lambda state: state[0])
    risks = jnp.zeros(0) if every is None else found.noted[::every]
    return Walk(found.end[0], risks, found.path)


def as_optimiser(optimiser: OptimiserPart, eta: float | jax.Array) -> optax.GradientTransformation:
    """An optax optimiser from its name, or from a function of the step size such as `optax.adam`;
    a ready one passes unchanged.

    A function is called inside compiled code, whatever the step size; a ready optimiser that is
    built anew for every call compiles anew.
    """
    if isinstance(optimiser, str) and optimiser in OPTIMISERS:
        return OPTIMISERS[optimiser](eta)
    if isinstance(optimiser, optax.GradientTransformation):
        return optimiser
    if not callable(optimiser):
        raise ValueError(f"optimiser must be a name or from optax, got {optimiser!r}")
    name = getattr(optimiser, "__name__", type(optimiser).__name__)
    try:
        rule = optimiser(eta)
    except Exception as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ValueError(f"the optimiser {name} fails on a step size: {reason}") from None
    if not isinstance(rule, optax.GradientTransformation):
        raise ValueError(f"{name}(eta) must give an optax optimiser, got {type(rule).__name__}")
    return rule


class Schedule(NamedTuple):
    """How a compiled loop runs: an optimiser by name (or ready), steps, stride of the trace."""

    optimiser: OptimiserPart
    steps: int
    every: int | None

    def trace(self, path: Walk[PyTree], **named: np.ndarray) -> dict[str, np.ndarray]:
        """The trace of a descent by name; empty if none was kept."""
        if self.every is None:
            return {}
        steps = np.arange(0, self.steps, self.every)
        return {"step": steps, "risk": np.asarray(path.noted), **named}


class Objective(NamedTuple):
    """What a compiled loop descends; equal objectives share compiled code.

    loss: of the predictions. kind: name of the data kind. samples: rows drawn per run or step.
    uniform: all bits are fair. batch: rows per step of those drawn once, all of them if None.
    exact: risk(model, target) over all inputs, for Population. on_rows: values(model, rows, target)
    of every row, in place of the loss of the predictions. taus: the temperature `model.tau` of
    every step, where it changes. mixture: share of the rows, at every step, whose hidden bits share
    a sign.
    """

    loss: Loss
    kind: str
    samples: int
    uniform: bool
    batch: int | None = None
    exact: Callable[[Any, Any], jax.Array] | None = None
    on_rows: Callable[[Any, WeightedRows, Any], jax.Array] | None = None
    taus: Float[AnyArray, " steps"] | None = None
    mixture: Float[AnyArray, " steps"] | None = None

    @classmethod
    def of(cls, data: Data, loss: LossPart, batch: int | None = None) -> "Objective":
        """The loss on the data's own rows."""
        if isinstance(data, Fresh) and batch is not None:
            raise ValueError(
                f"Fresh draws its {data.samples} samples at every step; batch is for rows drawn "
                "once"
            )
        samples = data.samples if isinstance(data, Sample | Fresh) else 0
        return cls(as_loss(loss), type(data).__name__, samples, are_uniform(data), batch)

    def pieces(self, n: int) -> int:
        """In how many pieces the rows of a step are drawn; by the problem alone, so that a key
        gives the same rows in blocks of any size. Batches are chosen among rows that are kept."""
        return 1 if self.batch is not None else -(-self.samples * n // PIECE)


class PerRun(NamedTuple):
    """What differs between runs; every leaf has the run as its first axis.

    parameters: the trainable numbers at the start. given: the target's arrays, or rows. arrays:
    what else differs between the runs' models, a tree shaped like the model; None if nothing does.
    """

    parameters: PyTree
    given: PyTree
    keys: jax.Array
    arrays: PyTree = None


def given_of(data: Data, keys: jax.Array) -> PyTree:
    """What the runs learn from: the arrays of their targets, or the rows that they train on."""
    if isinstance(data, Rows):
        return training_rows(data, keys)
    return stacked_targets(functions_of(data, "gradient descent on a model"))


def descend_all(
    model: Model, runs: PerRun, objective: Objective, schedule: Schedule, eta: float
) -> Walk[PyTree]:
    """Train all runs in one compiled call; every leaf of the result has a run axis first.

    model: a skeleton, into which the numbers of each run are put.
    """
    with float64():
        path = _descend_compiled(model, objective, schedule, np.float64(eta), runs)
        return Walk(*jax.tree.map(np.asarray, path))


def blocks_of(runs: int, most: int) -> list[np.ndarray]:
    """Run numbers in blocks of equal size, at most `most`; the last run fills up the last block.

    >>> [block.tolist() for block in blocks_of(5, 3)]
    [[0, 1, 2], [3, 4, 4]]
    """
    blocks = -(-runs // max(1, most))
    each = -(-runs // blocks)
    return [np.minimum(at * each + np.arange(each), runs - 1) for at in range(blocks)]


def stacked(trees: Iterable[PyTree]) -> PyTree:
    """Trees of one shape as one, with a leading axis of runs."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


@eqx.filter_jit
def _descend_compiled(
    model: Model, objective: Objective, schedule: Schedule, eta: np.float64, runs: PerRun
) -> Walk[PyTree]:
    """All runs of a block in one compiled call.

    Everything that is not an array is part of the key under which compiled code is found again.
    The rows of a `Sample` are drawn inside, from the run's own key: a run then sees the same rows
    alone, in a block of any size and on any device, and no row is ever sent there.
    """
    optimiser, taus = as_optimiser(schedule.optimiser, eta), objective.taus

    def one(run: PerRun) -> Walk[PyTree]:
        data_key, step_key = jax.random.split(jax.random.fold_in(run.keys, 2))
        mine = model if run.arrays is None else eqx.combine(run.arrays, model)
        risk_of = _risk_of_run(objective, run.given, data_key)

        def risk(parameters: PyTree, key: jax.Array, number: jax.Array) -> jax.Array:
            now = with_parameters(mine, parameters)
            if taus is not None:
                now = eqx.tree_at(lambda each: each.tau, now, taus[number])
            return risk_of(now, key, number)

        return descend(
            risk,
            run.parameters,
            optimiser,
            steps=schedule.steps,
            every=schedule.every,
            key=step_key,
        )

    return Walk(*jax.vmap(one)(runs))


def _risk_of_run(
    objective: Objective, given: PyTree, data_key: jax.Array
) -> Callable[[Model, jax.Array, jax.Array], jax.Array]:
    """risk(model, key of the step, its number) for one run."""
    exact, kind = objective.exact, objective.kind
    if exact is not None:
        return lambda model, *_: exact(model, given)
    noise: Array | float = 0.0
    kept = given
    if kind == "AllInputs":
        kept, noise = every_row(given), (1 - jnp.abs(given.contrast)) / 2
    pieces = objective.pieces(given.probabilities.shape[0]) if objective.samples else 1
    draw = partial(draw_rows, target=given, uniform=objective.uniform)
    if kind == "Sample" and pieces == 1:
        kept = draw(data_key, size=objective.samples)

    def mean(model: Model, rows: WeightedRows, key: jax.Array, number: jax.Array) -> jax.Array:
        if objective.mixture is not None:
            share = jnp.asarray(objective.mixture)[number]
            rows = share_a_sign(rows, jax.random.fold_in(key, 1), given, share)
        if objective.on_rows is not None:
            return rows.shares @ objective.on_rows(model, rows, given)
        return rows.shares @ objective.loss.noisy(rows.labels, predictions(model, rows.bits), noise)

    def streamed(model: Model, key: jax.Array, number: jax.Array) -> jax.Array:
        """The mean over rows that are drawn, used and forgotten piece by piece, also backwards."""
        size = -(-objective.samples // pieces)

        def piece(index: jax.Array) -> jax.Array:
            own, places = jax.random.fold_in(key, index), index * size + jnp.arange(size)
            shares = jnp.where(places < objective.samples, 1 / objective.samples, 0.0)
            return mean(model, draw(own, size=size)._replace(shares=shares), own, number)

        return jnp.sum(jax.lax.map(jax.checkpoint(piece), jnp.arange(pieces)))

    def risk(model: Model, key: jax.Array, number: jax.Array) -> jax.Array:
        if pieces > 1:
            found = streamed(model, key if kind == "Fresh" else data_key, number)
        elif kind == "Fresh":
            found = mean(model, draw(key, size=objective.samples), key, number)
        else:
            rows = kept if objective.batch is None else _some_rows(kept, key, objective)
            found = mean(model, rows, key, number)
        return objective.loss.outer(found)

    return risk


def _some_rows(rows: WeightedRows, key: jax.Array, objective: Objective) -> WeightedRows:
    """A random batch of the rows, each drawn by its share."""
    size, batch = rows.labels.shape[0], objective.batch or 0
    if objective.kind == "AllInputs" and not objective.uniform:
        index = jax.random.choice(key, size, (batch,), p=rows.shares)
    else:
        index = jax.random.randint(key, (batch,), 0, size)
    return WeightedRows(rows.bits[index], rows.labels[index], jnp.full(batch, 1 / batch))


def share_a_sign(rows: WeightedRows, key: jax.Array, target: Arrays, share: Array) -> WeightedRows:
    """A share of the rows with all hidden bits equal to one fair bit; label noise stays."""
    chosen, ones = jax.random.uniform(key, (2, rows.labels.shape[0]), jnp.float32)
    alike = (chosen < share)[:, None] & (jnp.asarray(target.indicator) > 0)[None, :]
    bits = jnp.where(alike, (ones < 0.5)[:, None].astype(rows.bits.dtype), rows.bits)
    flips = jnp.where(rows.labels == labels_at(rows.bits, target), 1, -1)
    return WeightedRows(bits, labels_at(bits, target) * flips, rows.shares)


def training_rows(data: Rows, keys: jax.Array) -> PyTree:
    """The rows each run trains on, (runs, N, …); the others are held out for judging."""
    chosen = np.stack([data.split(key)[0] for key in each_key(keys)])
    bits, labels = (of[chosen].astype(np.float64) for of in (data.bits, data.labels))
    shares = np.full(chosen.shape, 1 / chosen.shape[1])
    return WeightedRows(*map(jnp.asarray, (bits, labels, shares)))
