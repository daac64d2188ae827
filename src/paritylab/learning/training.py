"""The one loop of gradient training: starts, rows, steps, trace, progress, memory, evaluation.

What a learner says to it is in `paritylab.learning.stepwise`.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from paritylab._support.precision import AnyArray, float64
from paritylab._support.user_functions import is_fixed
from paritylab.learning.contract import Trained
from paritylab.learning.data import Data, Rows, Target, Unknown, targets_or_unknown
from paritylab.learning.descent import walk
from paritylab.learning.judging import judge_models
from paritylab.learning.objective import (
    Objective,
    risk_of_run,
)
from paritylab.learning.stepwise import (
    Progress,
    Report,
    Size,
    Stepwise,
    answer,
    pack,
    unpack,
)
from paritylab.models.protocol import Model, check_model, parameters_of, with_parameters
from paritylab.problem.sampling import each_key

#: Numbers that all runs of a block may hold at a time, 1 GB.
AT_ONCE = 1 << 27
#: Stretches of steps between which a run reports its progress.
STRETCHES = 20


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
    return rebuild_stepwise(learner, numbers, target, key)


def rebuild_stepwise(
    learner: Any, numbers: PyTree, target: Target | Unknown, key: jax.Array
) -> Model:
    """`rebuild_model` of a learner that says what a step is and leaves the rest to `learn`."""
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
        pairs, parts = list(zip(targets, each_key(keys), strict=True)), list[Steps]()
        first = _start(learner, *pairs[0], _rows_of(drawn, 0))
        if not is_fixed(learner):
            check_model(first, data.n)
        for block in blocks_of(len(keys), _runs_at_once(first, objective, data, shape)):
            start, skeleton = _rows_of(drawn, block), None
            if hasattr(learner, "draw"):
                starts = (_start(learner, *pairs[run]) if run else first for run in block)
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
        end, carry = _compiled(packed, objective, now, runs, skeleton, np.asarray(at), carry)
        kept.append((end.records, end.path))
        at += length
        if now.last:
            records, path = kept[0]
            if len(kept) > 1:
                records, path = jax.tree.map(lambda *each: jnp.concatenate(each, axis=1), *kept)
            yield jax.tree.map(np.asarray, end._replace(records=records, path=path)), at
            return
        jax.block_until_ready(carry)  # type: ignore[no-untyped-call]
        yield end, at


@eqx.filter_jit
def _compiled(
    packed: PyTree,
    objective: Objective,
    shape: Shape,
    runs: PerRun,
    skeleton: Model | None,
    first: AnyArray,
    carry: PyTree,
) -> tuple[Steps, PyTree]:
    """A stretch of the steps of all runs of a block in one compiled call.

    Everything that is not an array is part of the key under which compiled code is found again.
    The rows of a `Sample` are drawn inside, from the run's own key: a run then sees the same rows
    alone, in a block of any size and on any device, and no row is ever sent there.
    """
    one = partial(_one_run, unpack(packed), objective, shape, skeleton, first)
    if shape.one_by_one:
        found: tuple[Steps, PyTree] = jax.lax.map(lambda each: one(*each), (runs, carry))
    else:
        found = jax.vmap(one)(runs, carry)
    return found


def _one_run(
    learner: Any,
    objective: Objective,
    shape: Shape,
    skeleton: Model | None,
    first: AnyArray,
    run: PerRun,
    state: PyTree,
) -> tuple[Steps, PyTree]:
    """A stretch of one run; state: the arrays that it goes on with, None at the start."""
    own, start = answer(learner, "keys_of")(run.keys), run.drawn
    if skeleton is not None:
        parameters, arrays = run.drawn
        start = with_parameters(eqx.combine(arrays, skeleton), parameters)
    begin = learner.init(own.start if start is None else start, shape.size)
    arrays, fixed = eqx.partition(begin, eqx.is_array)
    model = _model_of(learner, begin, shape.size)
    risk_at = risk_of_run(objective, run.given, own.rows, model)

    def parameters_at(arrays: PyTree) -> PyTree:
        return parameters_of(_model_of(learner, eqx.combine(arrays, fixed), shape.size))

    def step(arrays: PyTree, number: Array) -> tuple[PyTree, PyTree]:
        key = jax.random.fold_in(own.steps, number)
        after, record = learner.step(eqx.combine(arrays, fixed), risk_at(key, number), key)
        # What an update makes of an array keeps its type, so that the loop can carry it.
        after = jax.tree.map(
            lambda new, old: jnp.asarray(new, jnp.asarray(old).dtype),
            eqx.filter(after, eqx.is_array),
            arrays,
        )
        return after, record if isinstance(record, dict) else {"risk": record}

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
        final = risk_at(jax.random.fold_in(own.steps, shape.steps), shape.steps)
        stats = answer(learner, "finish")(eqx.combine(way.end, fixed), final)
    return Steps(parameters_at(way.end), records, way.path, stats), way.end


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
