"""The automatic choice: cheap methods first, expensive ones while time is left."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from paritylab.baselines.answer import Step, Stop
from paritylab.baselines.elimination import noiseless_elimination
from paritylab.baselines.growing_sizes import (
    correlation_seconds,
    extend_best,
    search_growing_sizes,
    supportable_sizes,
)
from paritylab.baselines.meet_in_the_middle import fitting_by_size
from paritylab.baselines.pair_reduction import (
    MAX_REDUCTION_COLUMNS,
    reduction,
    reduction_noise,
    reduction_seconds,
)
from paritylab.baselines.random_systems import affordable_noise, random_rows, restarts
from paritylab.baselines.task import Candidates, Task
from paritylab.baselines.walsh import MAX_WALSH_COLUMNS, walsh, walsh_seconds

#: Seconds that a search may take before others have had their turn.
PATIENCE = 1.0
#: Columns up to which the Walsh transform is a matter of milliseconds.
FEW_COLUMNS = 20
#: Rows of the first random part of a large table, and how many times larger the next one is.
FIRST_PART, PART_GROWTH = 1 << 13, 8
#: Methods that have looked at every subset these rows could support, if they came to their end.
EXHAUSTIVE = ("walsh", "correlation")


def auto(task: Task) -> Candidates:
    """The first method that supports a subset, or all that was searched."""
    results = _search_part(task) or _run_in_turn(task, _methods(task))
    subsets = [subset for result in results for subset in result.subsets]
    return Candidates(subsets, tuple(step for result in results for step in result.steps))


def _run_in_turn(task: Task, methods: Iterable[Candidates]) -> list[Candidates]:
    """Results of the methods, until one supports a subset or has looked at all of them."""
    results = list[Candidates]()
    for result in methods:
        last = result.steps[-1]
        if last.method in EXHAUSTIVE:
            # It repeats an earlier search of small sizes.
            results = [r for r in results if r.steps[-1].method != "correlation"]
        results.append(result)
        if last.method in EXHAUSTIVE and last.complete:
            break
        if task.best_supported(result.subsets) is not None:
            break
    return results


def _search_part(task: Task) -> list[Candidates] | None:
    """A quick search of random parts of a large table; None unless all rows support its subset.

    The p-value of a subset is valid however the subset was found. So a short search of a part may
    name it, and the evidence is that of all rows.
    """
    table, rows = task.table, FIRST_PART
    while rows * PART_GROWTH <= table.rows and task.seconds_left > 0:
        sampled = task.generator.choice(table.rows, rows, replace=False, shuffle=False)
        part = task.restrict(sampled, time.perf_counter() + task.seconds_left / 2)
        if not part.table.distinct:
            return None
        result = _run_in_turn(part, _methods(part, quick=True))[-1]
        if task.best_supported(result.subsets) is not None:
            steps = tuple(replace(step, rows=rows, stop=Stop.FOUND) for step in result.steps[-1:])
            return [result._replace(steps=steps)]
        rows *= PART_GROWTH
    return None


def _methods(task: Task, *, quick: bool = False) -> Iterator[Candidates]:
    """The result of each method in its turn. quick: only of those that take a moment."""
    columns, rows = task.table.distinct, task.table.rows
    overdetermined = rows > columns + 1
    if overdetermined and columns**2 * rows / 5e10 <= task.seconds_left:
        # Elimination decides at once whether a parity fits all rows.
        yield noiseless_elimination(task)
    transforms = columns <= MAX_WALSH_COLUMNS and walsh_seconds(columns, rows) <= task.seconds_left
    if transforms and columns <= FEW_COLUMNS:
        yield _extended_walsh(task)
    small_sizes = _search_small_sizes(task)
    yield small_sizes
    if transforms and columns > FEW_COLUMNS:
        yield _extended_walsh(task)
    if _is_reducible(task):
        yield reduction(task)
    long = [] if overdetermined else [s for s in supportable_sizes(task) if _is_slow(task, s)]
    if long:
        # Sizes too large for correlation, in case every label is right.
        yield restarts(task, min(task.seconds_left / 4, 2 * PATIENCE))
        yield fitting_by_size(task, long, lambda: task.seconds_left / 4)
    if quick:
        return
    covered_noise = -1.0
    if overdetermined:
        # A size that random rows have covered, or that these rows cannot show, is not searched.
        covered_noise, seconds = 0.0, task.seconds_left / 4
        if affordable_noise(task, seconds) * rows >= 1:
            result = random_rows(task, seconds, task.k or small_sizes.steps[-1].largest + 1)
            covered_noise = result.covered_noise
            yield result
    if task.seconds_left > 0:
        yield search_growing_sizes(task, after=small_sizes, covered_noise=covered_noise)


def _extended_walsh(task: Task) -> Candidates:
    result = walsh(task)
    return result._replace(subsets=extend_best(task, result.subsets))


def _search_small_sizes(task: Task) -> Candidates:
    """Subsets of growing size, each if it takes no longer than about a second, and far less than
    all sizes at once would."""
    patience, columns, rows = PATIENCE, task.table.distinct, task.table.rows
    if columns <= MAX_WALSH_COLUMNS:
        patience = min(patience, walsh_seconds(columns, rows) / 8)
    elif _is_reducible(task):
        patience = min(patience, reduction_seconds(columns, rows) / 8)
    smallest = supportable_sizes(task)[0]
    if smallest > 2 and correlation_seconds(task, smallest) > patience:
        return Candidates([], (Step("correlation", Stop.TOO_MANY),))
    return search_growing_sizes(task, patience)


def _is_reducible(task: Task) -> bool:
    """Whether there are more columns than a transform takes, and rows with so many pairs that one
    step of reduction tolerates more noise than random rows would in the same time."""
    columns, rows = task.table.distinct, task.table.rows
    if not MAX_WALSH_COLUMNS < columns <= MAX_REDUCTION_COLUMNS:
        return False
    if reduction_seconds(columns, rows) > task.seconds_left / 2:
        return False
    return reduction_noise(columns, rows) > affordable_noise(task, PATIENCE)


def _is_slow(task: Task, size: int) -> bool:
    """Whether correlation would take long for sets of this size."""
    return size > 2 and correlation_seconds(task, size) > PATIENCE
