"""The choice of a method: cheap ones first, dearer ones while time is left, each with a reason."""

import math
from collections.abc import Iterator

from paritylab.solvers.elimination import clean
from paritylab.solvers.growth import (
    by_growing_size,
    grown,
    possible_sizes,
    split_seconds,
    supported,
)
from paritylab.solvers.judge import Candidates, Task
from paritylab.solvers.meet_in_the_middle import fitting_by_size
from paritylab.solvers.outcome import Step, Stop
from paritylab.solvers.random_parts import affordable_noise, random_rows, restarts
from paritylab.solvers.walsh import walsh

#: Seconds that a search may take before others have had their turn.
PATIENCE = 1.0
#: Columns up to which the Walsh transform is a matter of milliseconds, and at all.
FEW_COLUMNS, SOME_COLUMNS = 20, 26
#: Methods that have looked at every subset these rows could support, if they came to their end.
EXHAUSTIVE = ("walsh", "correlation")
#: Noise worth trying random rows for.
SOME_NOISE = 0.005


def auto(task: Task) -> Candidates:
    """The first method that supports a subset, or all that was searched."""
    done: list[Candidates] = []
    for method in (_clean_many_rows, _every_subset, _quick_sizes, _clean_few_rows):
        made = method(task)
        if made is None:
            continue
        done.append(made)
        last = made.steps[-1]
        exhaustive = last.method in EXHAUSTIVE and last.complete
        if exhaustive or supported(task, made.subsets) is not None:
            return _together(done)
    first = next(each for each in done if each.steps[-1].method == "correlation")
    for made in _longer(task, first):
        if made.steps[-1].method == "correlation":
            # It went on where the first look ended.
            done.remove(first)
        done.append(made)
        if supported(task, made.subsets) is not None:
            break
    return _together(done)


def _longer(task: Task, first: Candidates) -> Iterator[Candidates]:
    """What takes more than a moment: random rows, then the sizes that they could not rule out."""
    drawn = _little_noise(task, first.steps[-1].largest + 1)
    if drawn is not None:
        yield drawn
    if task.left > 0:
        many = task.table.rows > task.table.distinct + 1
        covered = (drawn.covered if drawn is not None else 0.0) if many else -1.0
        yield by_growing_size(task, math.inf, first, covered)


def _together(done: list[Candidates]) -> Candidates:
    """Everything that was searched, in order."""
    subsets = [subset for each in done for subset in each.subsets]
    return Candidates(subsets, tuple(step for each in done for step in each.steps))


def _clean_many_rows(task: Task) -> Candidates | None:
    """More rows than columns: elimination sees at once whether a parity fits all."""
    table = task.table
    if table.rows <= table.distinct + 1 or table.distinct**2 * table.rows / 5e10 > task.left:
        return None
    return clean(task)


def _every_subset(task: Task) -> Candidates | None:
    """Few columns: every subset of any size."""
    n, size = task.table.distinct, task.k
    if n > SOME_COLUMNS or 2**n * 2e-7 > task.left:
        return None
    if n > FEW_COLUMNS and size is not None and split_seconds(task, size) < 1:
        return None
    found = walsh(task)
    return found._replace(subsets=grown(task, found.subsets))


def _quick_sizes(task: Task) -> Candidates | None:
    """Subsets of growing size, each if it takes no longer than about a second."""
    sizes = possible_sizes(task)
    if sizes[0] > 2 and split_seconds(task, sizes[0]) > PATIENCE:
        return Candidates([], (Step("correlation", Stop.TOO_MANY),))
    return by_growing_size(task, PATIENCE)


def _clean_few_rows(task: Task) -> Candidates | None:
    """Sizes too large for correlation, should every row be right."""
    table = task.table
    beyond = [
        size for size in possible_sizes(task) if size > 2 and split_seconds(task, size) > PATIENCE
    ]
    if not beyond or table.rows > table.distinct + 1:
        return None
    drawn = restarts(task, min(task.left / 4, 2 * PATIENCE))
    if supported(task, drawn.subsets) is not None:
        return drawn
    met = fitting_by_size(task, beyond, lambda: task.left / 4)
    return Candidates(drawn.subsets + met.subsets, drawn.steps + met.steps)


def _little_noise(task: Task, size: int) -> Candidates | None:
    """More rows than columns: random rows, if they could be right at some noise worth a try.

    size: the smallest that has not been searched; what was need not come out again.
    """
    table, seconds = task.table, task.left / 4
    if table.rows < 1.1 * table.distinct + 20 or table.distinct > 1000:
        return None
    if affordable_noise(task, seconds) < SOME_NOISE:
        return None
    return random_rows(task, seconds, task.k or size)
