"""Gradient descent in one compiled loop: any model, any loss, any optax optimiser, many runs.

`descend` is one run. `descend_all` maps it over runs that share a model's shape: run i has its own
parameters, target or rows, and key. From fold_in(key, 2) one half draws the rows of a `Sample`, the
other the rows of every step (`Fresh`, or a random batch).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from paritylab.learning.data import Data, Fresh, Rows, Sample, are_uniform, functions_of
from paritylab.learning.parts import OptimiserPart
from paritylab.models.protocol import Model, parameters_of, with_parameters
from paritylab.precision import AnyArray, float64
from paritylab.problem import Loss
from paritylab.problem.sampling import each_key
from paritylab.risk.objective import Target as Arrays, stacked_targets
from paritylab.risk.rows import WeightedRows, draw_rows, empirical_risk, every_row

#: Optimisers by name; each takes the step size.
OPTIMISERS: dict[str, Callable[..., optax.GradientTransformation]] = {
    "sgd": optax.sgd,
    "momentum": lambda eta: optax.sgd(eta, momentum=0.9),
    "normalised": lambda eta: optax.chain(optax.normalize_by_update_norm(), optax.sgd(eta)),
    "adam": optax.adam,
    "adamw": optax.adamw,
    "rmsprop": optax.rmsprop,
}


def sign_rule(eta: float, decay: float, dead: float) -> optax.GradientTransformation:
    """Sign descent: w ← (1 - eta·decay)·w - eta·sign(∇), with sign = 0 where |∇| < dead."""

    def update(gradient: PyTree, state: PyTree, weights: PyTree = None) -> tuple[PyTree, PyTree]:
        def one(slope: Array, weight: Array) -> Array:
            move = jnp.where(jnp.abs(slope) < dead, 0, jnp.sign(slope))
            return -eta * (decay * weight + move)

        return jax.tree.map(one, gradient, weights), state

    return optax.GradientTransformation(lambda _: optax.EmptyState(), update)


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
) -> Walk[State]:
    """`steps` calls of step(state, number) -> (state, noted); call it under jit.

    every: how many steps lie between two entries of the path; None keeps none. keep: the part of a
    state that belongs on the path.
    """

    def stretch(state: State, first: jax.Array, length: int) -> tuple[State, PyTree]:
        after, noted = jax.lax.scan(step, state, first + jnp.arange(length))
        return after, (keep(state), noted)

    if every is None:
        end, noted = jax.lax.scan(step, start, jnp.arange(steps))
        return Walk(end, noted, ())
    whole, rest = divmod(steps, every)
    starts = jnp.arange(0, whole * every, every)
    end, (path, noted) = jax.lax.scan(lambda state, at: stretch(state, at, every), start, starts)
    noted = jax.tree.map(lambda many: many.reshape(whole * every, *many.shape[2:]), noted)
    if rest:
        end, (last, more) = stretch(end, jnp.asarray(whole * every), rest)
        path = jax.tree.map(lambda many, one: jnp.concatenate([many, one[None]]), path, last)
        noted = jax.tree.map(lambda many, few: jnp.concatenate([many, few]), noted, more)
    return Walk(end, noted, path)


class Path(NamedTuple):
    """Where a run ended and the way there.

    parameters: at the end. path: parameters (or what was kept of them) before steps 0, every,
    2·every, … risks: the risk the optimiser saw at the same steps. Both are empty if no trace was
    asked for.
    """

    parameters: PyTree
    path: PyTree
    risks: Float[Array, " records"]


def descend(
    risk: Callable[..., jax.Array],
    parameters: PyTree,
    optimiser: optax.GradientTransformation,
    *,
    steps: int,
    every: int | None = None,
    key: jax.Array,
    numbered: bool = False,
    keep: Callable[[PyTree], PyTree] = lambda parameters: parameters,
) -> Path:
    """`steps` steps of the optimiser on risk(parameters, key of the step); call it under jit.

    every: how many steps lie between two entries of the path; None keeps no path. numbered: the
    risk changes with time and is called as risk(parameters, key, number of the step). keep: what of
    the parameters belongs on the path.
    """
    optimiser = optax.with_extra_args_support(optimiser)

    def step(
        carry: tuple[PyTree, PyTree], number: jax.Array
    ) -> tuple[tuple[PyTree, PyTree], jax.Array]:
        parameters, state = carry
        step_key = jax.random.fold_in(key, number)
        given = (step_key, number) if numbered else (step_key,)
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
    found = walk(step, start, steps=steps, every=every, keep=lambda state: keep(state[0]))
    risks = jnp.zeros(0) if every is None else found.noted[::every]
    return Path(found.end[0], found.path, risks)


def as_optimiser(optimiser: OptimiserPart, eta: float | jax.Array) -> optax.GradientTransformation:
    """An optax optimiser from its name and a step size; a ready one passes unchanged."""
    if isinstance(optimiser, str):
        if optimiser not in OPTIMISERS:
            known = ", ".join(OPTIMISERS)
            raise ValueError(f"optimiser must be one of {known} or from optax, got {optimiser!r}")
        return OPTIMISERS[optimiser](eta)
    if isinstance(optimiser, optax.GradientTransformation):
        return optimiser
    name = getattr(optimiser, "__name__", type(optimiser).__name__)
    if callable(optimiser):
        raise ValueError(f"optimiser must be called first, such as optax.{name}(0.1), got {name}")
    raise ValueError(f"optimiser must be a name or from optax, got {name}")


class Schedule(NamedTuple):
    """How a compiled loop runs: an optimiser by name (or ready), steps, stride of the trace."""

    optimiser: OptimiserPart
    steps: int
    every: int | None
    batch: int | None = None


#: The population risk of a model as a function of its target.
ExactRisk = Callable[[Model, Arrays], jax.Array]


class Source(NamedTuple):
    """Where a compiled loop gets its risk from.

    kind: name of the data kind. samples: rows drawn per run or step. uniform: all bits are fair.
    exact: the population risk, for Population.
    """

    kind: str
    samples: int
    uniform: bool
    exact: ExactRisk | None = None


def descend_all(
    model: Model,
    parameters: PyTree,
    data: Data,
    keys: jax.Array,
    *,
    loss: Loss,
    schedule: Schedule,
    eta: float,
    exact: ExactRisk | None = None,
    arrays: PyTree = None,
    taus: Float[np.ndarray, " steps"] | None = None,
) -> Path:
    """Train one run per key in one compiled call; every leaf of the result has a run axis first.

    model: a skeleton; parameters: its trainable numbers with a leading axis of runs. arrays: what
    else differs between the runs' models, a tree shaped like the model with the same leading axis.
    taus: the temperature `model.tau` of every step, where it changes.
    """
    if isinstance(data, Fresh) and schedule.batch is not None:
        raise ValueError(
            f"Fresh draws its {data.samples} samples at every step; batch is for rows drawn once"
        )
    samples = data.samples if isinstance(data, Sample | Fresh) else 0
    source = Source(type(data).__name__, samples, are_uniform(data), exact)
    with float64():
        path = _descend_compiled(
            model,
            loss,
            source,
            schedule,
            np.float64(eta),
            parameters,
            training_rows(data, keys)
            if isinstance(data, Rows)
            else stacked_targets(functions_of(data, "gradient descent on a model")),
            keys,
            arrays,
            taus,
        )
        return Path(*jax.tree.map(np.asarray, path))


def stacked(trees: Iterable[PyTree]) -> PyTree:
    """Trees of one shape as one, with a leading axis of runs."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


def descend_from(
    starts: Sequence[Model],
    data: Data,
    keys: jax.Array,
    *,
    loss: Loss,
    schedule: Schedule,
    eta: float,
) -> Path:
    """`descend_all` from one model per run; whatever their arrays hold belongs to the run."""
    numbers = [jax.tree.map(np.float64, parameters_of(model)) for model in starts]
    held = [eqx.filter(model, eqx.is_array) for model in starts]
    with float64():
        try:
            parameters, arrays = (
                jax.tree.map(lambda *each: jnp.stack(each), *trees) for trees in (numbers, held)
            )
        except ValueError:
            raise ValueError("all runs must start from models of one shape") from None
    return descend_all(
        starts[0], parameters, data, keys, loss=loss, schedule=schedule, eta=eta, arrays=arrays
    )


@eqx.filter_jit
def _descend_compiled(
    model: Model,
    loss: Loss,
    source: Source,
    schedule: Schedule,
    eta: np.float64,
    parameters: PyTree,
    given: PyTree,
    keys: jax.Array,
    arrays: PyTree,
    taus: Float[AnyArray, " steps"] | None,
) -> Path:
    """All runs in one compiled call, mapped over parameters, targets or rows, keys and own arrays.

    Everything that is not an array is part of the key under which compiled code is found again.
    The rows of a `Sample` are drawn inside, from the run's own key: a run then sees the same rows
    alone, in a block of any size and on any device, and no row is ever sent there.
    """
    optimiser = as_optimiser(schedule.optimiser, eta)

    def one(parameters: PyTree, given: PyTree, key: jax.Array, own: PyTree) -> Path:
        data_key, step_key = jax.random.split(jax.random.fold_in(key, 2))
        mine = model if own is None else eqx.combine(own, model)

        def risk(p: PyTree, step_key: jax.Array, number: jax.Array) -> jax.Array:
            now = with_parameters(mine, p)
            if taus is not None:
                now = eqx.tree_at(lambda each: each.tau, now, taus[number])
            return risk_of(now, step_key)

        risk_of = _risk_of_run(loss, source, schedule.batch, given, data_key)
        return descend(
            risk,
            parameters,
            optimiser,
            steps=schedule.steps,
            every=schedule.every,
            key=step_key,
            numbered=True,
        )

    return Path(*jax.vmap(one)(parameters, given, keys, arrays))


def _risk_of_run(
    loss: Loss, source: Source, batch: int | None, given: PyTree, data_key: jax.Array
) -> Callable[[Model, jax.Array], jax.Array]:
    """risk(model, key of the step) for one run."""
    exact = source.exact
    if exact is not None:
        return lambda model, _: exact(model, given)
    if source.kind == "Fresh":

        def fresh(model: Model, step_key: jax.Array) -> jax.Array:
            rows = draw_rows(step_key, given, source.samples, uniform=source.uniform)
            return empirical_risk(model, rows, loss)

        return fresh
    noise: float | jax.Array = 0.0
    if source.kind == "AllInputs":
        rows, noise = every_row(given), (1 - jnp.abs(given.contrast)) / 2
    elif source.kind == "Sample":
        rows = draw_rows(data_key, given, source.samples, uniform=source.uniform)
    else:
        rows = given

    def on_rows(model: Model, step_key: jax.Array) -> jax.Array:
        chosen = rows if batch is None else _some_rows(rows, step_key, batch, source)
        return empirical_risk(model, chosen, loss, noise)

    return on_rows


def _some_rows(rows: WeightedRows, key: jax.Array, batch: int, source: Source) -> WeightedRows:
    """A random batch of the rows, each drawn by its share."""
    size = rows.labels.shape[0]
    if source.kind == "AllInputs" and not source.uniform:
        index = jax.random.choice(key, size, (batch,), p=rows.shares)
    else:
        index = jax.random.randint(key, (batch,), 0, size)
    return WeightedRows(rows.bits[index], rows.labels[index], jnp.full(batch, 1 / batch))


def training_rows(data: Rows, keys: jax.Array) -> PyTree:
    """The rows each run trains on, a `risk.rows.Rows` of numpy arrays (runs, N, …); the others are
    held out for judging."""
    chosen = np.stack([data.split(key)[0] for key in each_key(keys)])
    bits, labels = (of[chosen].astype(np.float64) for of in (data.bits, data.labels))
    shares = np.full(chosen.shape, 1 / chosen.shape[1])
    return WeightedRows(*map(jnp.asarray, (bits, labels, shares)))


def traced(path: Path, schedule: Schedule, **named: np.ndarray) -> dict[str, np.ndarray]:
    """The trace of a descent by name; empty if none was kept."""
    if schedule.every is None:
        return {}
    steps = np.arange(0, schedule.steps, schedule.every)
    return {"step": steps, "risk": np.asarray(path.risks), **named}
