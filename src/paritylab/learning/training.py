"""The one loop of gradient training: starts, rows, steps, trace, progress, memory, evaluation.

A learner that goes step by step says three things, as a solver of optimistix does, and `learn` does
the rest, for many runs in one compiled call:

* `init(key, target)`: the state of a run before its first step. Of the target only the sizes
  `target.n` and `target.k` are known.
* `step(state, risk, key)`: the state after one step, and a record of it: a number (the risk) or a
  dict of arrays. `risk(parameters)` is the value and the gradient at this step.
* `model(state, target)`: the model that the state stands for.

and how many `steps` it takes. It is a frozen dataclass or an `equinox.Module`: floats among its
fields may change without compiling again, everything else is what code is compiled for. All three
are traced, so they are written with jax.numpy. What else a learner may have is in `Stepwise`.

>>> import equinox as eqx, jax, jax.numpy as jnp
>>> from dataclasses import dataclass
>>> from paritylab import Parity, Population, learn
>>>
>>> @dataclass(frozen=True)
... class SignSteps:
...     eta: float = 0.003
...     steps: int = 200
...
...     def init(self, key, target):
...         return eqx.nn.MLP(target.n, "scalar", 32, 1, key=key)
...
...     def step(self, net, risk, key):
...         value, gradient = risk(net)
...         moves = jax.tree.map(lambda slope: -self.eta * jnp.sign(slope), gradient)
...         return eqx.apply_updates(net, moves), value
...
...     def model(self, net, target):
...         return net
>>>
>>> runs = learn(SignSteps(), Population(Parity(8, (1, 4))), runs=4, trace=10)
>>> runs.kind, runs.rate().successes, runs.trace["risk"].shape
('exact', 4, (4, 20))
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, PyTree

from paritylab.learning.contract import LossPart, Trained
from paritylab.learning.data import Data, Population, Rows, Target, Unknown, targets_or_unknown
from paritylab.learning.descent import walk
from paritylab.learning.judging import MOST_BITS, SAMPLES, judge_models, judging_loss
from paritylab.learning.objective import (
    ExactRisk,
    Objective,
    StepRisk,
    risk_of_run,
    training_inputs,
)
from paritylab.models.protocol import Model, check_model, parameters_of, with_parameters
from paritylab.precision import float64, is_fixed
from paritylab.problem.sampling import each_key

#: Numbers that all runs of a block may hold at a time, 1 GB.
AT_ONCE = 1 << 27
#: Stretches of steps between which a run reports its progress.
STRETCHES = 20

#: Whom `learn` tells how far it is: nobody, the terminal, or a function of one's own.
Report: TypeAlias = "bool | Callable[[Progress], object] | None"


class Progress(NamedTuple):
    """How far a call of `learn` is: of `total` steps of all runs, `done`, in so many seconds."""

    done: int
    total: int
    seconds: float


class RunKeys(NamedTuple):
    """What one run draws from: its start, the rows of a `Sample`, and its steps."""

    start: jax.Array
    rows: jax.Array
    steps: jax.Array


class Stepwise:
    """What the loop asks of a learner besides `init`, `step` and `model`, each with an answer.

    Deriving from it is optional. A learner with a method `draw(key, target)` has its starts drawn
    outside of compiled code, one run after another; `init(drawn, target)` then gets what was drawn
    in place of the key.
    """

    steps: int
    #: What is descended; None is the loss that judges.
    loss: LossPart | None = None
    #: Rows per step of those drawn once; all of them if None.
    batch: int | None = None
    #: Inputs of up to so many bits are all visited to judge a run; beyond, so many fresh samples.
    judged_by: ClassVar[tuple[int, int]] = (MOST_BITS, SAMPLES)
    #: Whether runs follow one another, because the rows of a single one may fill the memory.
    one_by_one: ClassVar[bool] = False
    #: Whether it computes in float32, twice as fast, instead of float64.
    single: ClassVar[bool] = False

    def keys_of(self, key: jax.Array) -> RunKeys:
        """Keys of a run, from its own."""
        rows, steps = jax.random.split(jax.random.fold_in(key, 2))
        return RunKeys(jax.random.split(key)[1], rows, steps)

    def learnt_from(self, data: Data, keys: jax.Array) -> PyTree:
        """What the runs learn from, arrays with an axis of runs first."""
        return training_inputs(data, keys)

    def exact_risk(self, data: Data) -> ExactRisk | None:
        """risk(model, target's arrays) over all inputs, equal for equal settings, if it is known
        in closed form; inputs are visited else, up to n = 20."""
        return None

    def objective(self, data: Data) -> Objective:
        """What is descended."""
        exact = self.exact_risk(data) if isinstance(data, Population) else None
        return Objective.of(data, self.loss or judging_loss(data), self.batch, exact)

    def finish(self, state: Any, risk: StepRisk) -> dict[str, Array]:
        """Numbers of a run that are known at its end, by name; they become its stats."""
        return {}


def update(
    rule: optax.GradientTransformationExtraArgs,
    risk: StepRisk,
    value: jax.Array,
    gradient: PyTree,
    parameters: PyTree,
    memory: PyTree,
    *,
    model: Any = None,
) -> tuple[PyTree, PyTree]:
    """Parameters and memory after a step of the rule; line searches ask for more than the
    gradient, other rules ignore it. model: the one that parameters belong to, the risk's if
    None."""

    def value_at(parameters: PyTree) -> Array:
        return risk.value(parameters if model is None else with_parameters(model, parameters))

    more: dict[str, Any] = {"value": value, "grad": gradient, "value_fn": value_at}
    updates, memory = rule.update(gradient, memory, parameters, **more)
    return optax.apply_updates(parameters, updates), memory


class Size(NamedTuple):
    """What a learner knows of a target before it meets data."""

    n: int
    k: int | None


class PerRun(NamedTuple):
    """What differs between runs; every leaf has the run as its first axis.

    given: the target's arrays, or rows. drawn: parameters and other arrays of the start that was
    drawn outside; None if `init` draws it.
    """

    given: PyTree
    keys: jax.Array
    drawn: PyTree = None


class Shape(NamedTuple):
    """What a loop is compiled for, besides learner and objective. every: stride of the trace.
    length: steps in this call. last: whether the runs end with it."""

    size: Size
    steps: int
    every: int | None
    length: int
    last: bool
    one_by_one: bool


class Steps(NamedTuple):
    """All runs at their ends, in numpy, runs first.

    parameters: trained. records: of the steps of the trace. path: the parameters before them.
    stats: of `finish`.
    """

    parameters: PyTree
    records: dict[str, Any]
    path: PyTree
    stats: dict[str, Any]


def trace_of(steps: Steps, total: int, every: int | None, **path: np.ndarray) -> dict[str, Any]:
    """The trace by name; empty if none was asked for."""
    if every is None:
        return {}
    return {"step": np.arange(0, total, every), **steps.records, **path}


def train_stepwise(
    learner: Any, data: Data, keys: jax.Array, trace: int | None, report: Report = None
) -> Trained:
    """Take all steps, rebuild every model from its numbers, and judge it."""
    end, targets = take_steps(learner, data, keys, trace, report), targets_or_unknown(data)
    # Files hold a dict as it is, of any other tree the leaves.
    numbers = end.parameters
    if not isinstance(numbers, dict | np.ndarray):
        numbers = tuple(jax.tree.leaves(numbers))
    each = [jax.tree.map(lambda leaf, i=run: leaf[i], numbers) for run in range(len(keys))]
    models = list(map(partial(rebuild_model, learner), each, targets, each_key(keys)))
    most_bits, samples = getattr(learner, "judged_by", Stepwise.judged_by)
    found = judge_models(models, data, keys, most_bits=most_bits, samples=samples)
    path = {"parameters": end.path} if isinstance(end.path, np.ndarray) else flat_path(end.path)
    return found.trained(
        data,
        numbers,
        [None] * len(models),
        stats={"accuracy": found.accuracy, **end.stats},
        trace=trace_of(end, learner.steps, trace, **path),
    )


def rebuild_model(learner: Any, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> Model:
    """The start of the run, drawn again from its key, with the trained numbers in it."""
    if hasattr(learner, "rebuild"):
        model: Model = learner.rebuild(numbers, target, key)
        return model
    with _precision(learner):
        start = _start(learner, target, key)
        own = parameters_of(start)
        if isinstance(own, dict):
            numbers = {name: numbers[name] for name in own}
        elif isinstance(numbers, tuple):
            numbers = jax.tree.unflatten(jax.tree.structure(own), list(numbers))
        return with_parameters(start, numbers)


def _rows_of(tree: PyTree, runs: Any) -> PyTree:
    """Some runs of a tree whose leaves have an axis of runs first."""
    return jax.tree.map(lambda leaf: leaf[runs], tree)


def _start(learner: Any, target: Target | Unknown, key: jax.Array, start: PyTree = None) -> Model:
    """The model of a run before its first step."""
    run = answer(learner, "keys_of")(key)
    if hasattr(learner, "draw"):
        drawn: Model = learner.draw(run.start, target)
        return drawn
    size = Size(target.n, target.k)
    return _model_of(learner, learner.init(run.start if start is None else start, size), size)


def _model_of(learner: Any, state: PyTree, size: Size) -> Model:
    """`model` of the learner's class: `Descent` has a setting of the same name."""
    model: Model = type(learner).model(learner, state, size)
    return model


def take_steps(
    learner: Any,
    data: Data,
    keys: jax.Array,
    trace: int | None,
    report: Report = None,
    *,
    targets: tuple[Target | Unknown, ...] | None = None,
    given: PyTree = None,
    drawn: PyTree = None,
) -> Steps:
    """All runs from their starts to their ends, as many at a time as fit into memory.

    targets, given: of the runs with these keys; all of the data if None. drawn: what `init` gets in
    place of keys, with an axis of runs first.
    """
    begin, tell = time.perf_counter(), _teller(report)
    with _precision(learner):
        targets = targets_or_unknown(data) if targets is None else targets
        given = answer(learner, "learnt_from")(data, keys) if given is None else given
        objective, packed = answer(learner, "objective")(data), pack(learner)
        shape = Shape(
            Size(data.n, data.k),
            learner.steps,
            trace,
            learner.steps,
            True,
            getattr(learner, "one_by_one", False),
        )
        pairs, parts = list(zip(each_key(keys), targets, strict=True)), []
        first = _start(learner, *reversed(pairs[0]), _rows_of(drawn, 0))
        if not is_fixed(learner):
            check_model(first, data.n)
        for block in blocks_of(len(keys), _runs_at_once(first, objective, data, shape)):
            start, skeleton = _rows_of(drawn, block), None
            if hasattr(learner, "draw"):
                starts = (_start(learner, *reversed(pairs[run])) if run else first for run in block)
                start, skeleton = _arrays_of(list(starts))
            runs = PerRun(_rows_of(given, block), keys[block], start)
            stretches = _in_stretches(packed, objective, shape, runs, skeleton, tell)
            for part, done in stretches:
                end = part
                if tell:
                    finished = min(len(parts) * len(block), len(keys)) * learner.steps
                    total = len(keys) * learner.steps
                    now = min(finished + done * len(block), total)
                    tell(Progress(now, total, time.perf_counter() - begin))
            parts.append(end)
    joined: Steps = jax.tree.map(lambda *each: np.concatenate(each)[: len(keys)], *parts)
    return joined


def _in_stretches(
    packed: PyTree,
    objective: Objective,
    shape: Shape,
    runs: PerRun,
    skeleton: Model | None,
    tell: Callable[[Progress], object] | None,
) -> Iterator[tuple[Steps, int]]:
    """What is there after each stretch of the steps, and how many steps are done: one stretch if
    nobody wants to know."""
    every = shape.every or 1
    length = shape.steps
    if tell:
        length = max(every, -(-shape.steps // STRETCHES) // every * every)
    carry, kept, at = None, [], 0
    while True:
        length = min(length, shape.steps - at)
        now = shape._replace(length=length, last=at + length == shape.steps)
        end, carry = _compiled(packed, objective, now, runs, skeleton, np.int64(at), carry)
        kept.append((end.records, end.path))
        at += length
        if now.last:
            records, path = kept[0]
            if len(kept) > 1:
                records, path = jax.tree.map(lambda *each: jnp.concatenate(each, axis=1), *kept)
            yield jax.tree.map(np.asarray, end._replace(records=records, path=path)), at
            return
        jax.block_until_ready(carry)
        yield end, at


@eqx.filter_jit
def _compiled(
    packed: PyTree,
    objective: Objective,
    shape: Shape,
    runs: PerRun,
    skeleton: Model | None,
    first: np.int64,
    carry: PyTree,
) -> tuple[Steps, PyTree]:
    """A stretch of the steps of all runs of a block in one compiled call.

    Everything that is not an array is part of the key under which compiled code is found again.
    The rows of a `Sample` are drawn inside, from the run's own key: a run then sees the same rows
    alone, in a block of any size and on any device, and no row is ever sent there.
    """
    learner = unpack(packed)

    def model_at(state: PyTree) -> Model:
        return _model_of(learner, state, shape.size)

    def one(run: PerRun, state: PyTree) -> tuple[Steps, PyTree]:
        own = answer(learner, "keys_of")(run.keys)
        start = own.start
        if skeleton is not None:
            parameters, arrays = run.drawn
            start = with_parameters(eqx.combine(arrays, skeleton), parameters)
        elif run.drawn is not None:
            start = run.drawn
        begin = learner.init(start, shape.size)
        arrays, fixed = eqx.partition(begin, eqx.is_array)
        risk_at = risk_of_run(objective, run.given, own.rows, model_at(begin))

        def parameters_at(arrays: PyTree) -> PyTree:
            return parameters_of(model_at(eqx.combine(arrays, fixed)))

        def step(arrays: PyTree, number: Array) -> tuple[PyTree, PyTree]:
            key = jax.random.fold_in(own.steps, number)
            state, record = learner.step(eqx.combine(arrays, fixed), risk_at(key, number), key)
            record = record if isinstance(record, dict) else {"risk": record}
            # What an update makes of an array keeps its type, so that the loop can carry it.
            after = jax.tree.map(
                lambda new, old: jnp.asarray(new, jnp.asarray(old).dtype),
                eqx.filter(state, eqx.is_array),
                arrays,
            )
            return after, record

        way = walk(
            step,
            arrays if state is None else state,
            steps=shape.length,
            every=shape.every,
            keep=parameters_at,
            first=first,
        )
        records: dict[str, Any] = {}
        if shape.every is not None:
            records = {name: each[:: shape.every] for name, each in way.noted.items()}
        stats = {}
        if shape.last:
            end = eqx.combine(way.end, fixed)
            number = shape.steps
            final = risk_at(jax.random.fold_in(own.steps, number), number)
            stats = answer(learner, "finish")(end, final)
        return Steps(parameters_at(way.end), records, way.path, stats), way.end

    if shape.one_by_one:
        found: tuple[Steps, PyTree] = jax.lax.map(lambda each: one(*each), (runs, carry))
    else:
        found = jax.vmap(one)(runs, carry)
    return found


def answer(learner: Any, name: str) -> Callable[..., Any]:
    """A method of the learner, or that of `Stepwise` bound to it."""
    if hasattr(learner, name):
        method: Callable[..., Any] = getattr(learner, name)
        return method
    return lambda *given: getattr(Stepwise, name)(_WithDefaults(learner), *given)


@dataclass(frozen=True)
class _WithDefaults(Stepwise):
    """A learner of one's own, with the answers of `Stepwise` for what it does not have."""

    learner: Any

    def __getattribute__(self, name: str) -> Any:
        learner = object.__getattribute__(self, "learner")
        if not name.startswith("__") and hasattr(learner, name):
            return getattr(learner, name)
        return object.__getattribute__(self, name)


def pack(learner: Any) -> PyTree:
    """A learner as a tree whose floats are arrays: they may change without compiling again."""
    if isinstance(learner, eqx.Module):
        return learner
    names = [each.name for each in fields(learner)] if is_dataclass(learner) else vars(learner)
    values = {name: getattr(learner, name) for name in names}
    numbers = {name: np.float64(v) for name, v in values.items() if type(v) is float}
    return type(learner), numbers, {n: v for n, v in values.items() if n not in numbers}


def unpack(packed: PyTree) -> Any:
    """The learner of a tree; its numbers are those that are being traced."""
    if isinstance(packed, eqx.Module):
        return packed
    made, numbers, others = packed
    learner = object.__new__(made)
    for name, value in {**others, **numbers}.items():
        object.__setattr__(learner, name, value)
    return learner


def blocks_of(runs: int, most: int) -> list[np.ndarray]:
    """Run numbers in blocks of equal size, at most `most`; the last run fills up the last block.

    >>> [block.tolist() for block in blocks_of(5, 3)]
    [[0, 1, 2], [3, 4, 4]]
    """
    blocks = -(-runs // max(1, most))
    each = -(-runs // blocks)
    return [np.minimum(at * each + np.arange(each), runs - 1) for at in range(blocks)]


def _runs_at_once(start: Model, objective: Objective, data: Data, shape: Shape) -> int:
    """How many runs fit into memory: their arrays, path, rows, and what a model makes of a row.

    A model of so many trained numbers has about numbers/n hidden neurons.
    """
    held, numbers = (
        sum(np.size(leaf) for leaf in jax.tree.leaves(tree))
        for tree in (eqx.filter(start, eqx.is_array), parameters_of(start))
    )
    records = 0 if shape.every is None else -(-shape.steps // shape.every)
    rows = objective.rows_at_once(data.n, len(data.labels) if isinstance(data, Rows) else 0)
    size = 3 * held + records * numbers + rows * (data.n + numbers / data.n)
    return max(1, int(AT_ONCE / size))


def _arrays_of(starts: list[Model]) -> tuple[PyTree, Model]:
    """Trained numbers and other arrays of some starts, with an axis of runs, and the model into
    which they go."""
    parameters = [jax.tree.map(np.float64, parameters_of(each)) for each in starts]
    arrays = [eqx.filter(each, eqx.is_array) for each in starts]
    skeleton: Model = eqx.filter(starts[0], eqx.is_array, inverse=True)
    return (_stacked(parameters), _stacked(arrays)), skeleton


def _stacked(trees: Iterable[PyTree]) -> PyTree:
    """Trees of all runs as one, in jax arrays, with a leading axis of runs."""
    try:
        return jax.tree.map(lambda *each: jnp.stack(each), *trees)
    except ValueError:
        raise ValueError("all runs must start from models of one shape") from None


def flat_path(path: PyTree) -> dict[str, np.ndarray]:
    """The recorded parameters by name."""
    leaves = jax.tree_util.tree_leaves_with_path(path)
    return {jax.tree_util.keystr(place, simple=True, separator="."): leaf for place, leaf in leaves}


@contextmanager
def _precision(learner: Any) -> Iterator[None]:
    """float64, or float32 if the learner says so, whatever the caller's mode."""
    if not getattr(learner, "single", False):
        with float64():
            yield
        return
    with jax.enable_x64(False), jax.default_matmul_precision("highest"):
        yield


def _teller(report: Report) -> Callable[[Progress], object] | None:
    """The function that is told how far the runs are; True is left to whoever shows a bar."""
    return report if callable(report) and not isinstance(report, bool) else None
