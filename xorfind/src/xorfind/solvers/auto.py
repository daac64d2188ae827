"""The choice of a method: cheap ones first, dearer ones while time is left, each with a reason."""

import math
import time
from collections.abc import Iterator
from dataclasses import replace

from xorfind.answer import Step, Stop
from xorfind.rows import LabelledRows
from xorfind.solvers.elimination import clean
from xorfind.solvers.growth import (
    by_growing_size,
    grown,
    possible_sizes,
    split_seconds,
    supported,
)
from xorfind.solvers.judge import Candidates, Task
from xorfind.solvers.meeting import fitting_by_size
from xorfind.solvers.random_parts import (
    affordable_noise,
    random_rows,
    restarts,
    syndrome_seconds,
)
from xorfind.solvers.reduction import (
    MOST_REDUCED,
    reduced_noise,
    reduction,
    reduction_seconds,
)
from xorfind.solvers.syndrome import CHECKS, WRONG
from xorfind.solvers.walsh import walsh, walsh_seconds

#: Seconds that a search may take before others have had their turn.
PATIENCE = 1.0
#: Columns up to which the Walsh transform is a matter of milliseconds, and at all.
FEW_COLUMNS, SOME_COLUMNS = 20, 26
#: Rows of the first look at a table of very many, and how many times larger the next one is.
FIRST_PART, GROWTH = 1 << 13, 8
#: Methods that have looked at every subset these rows could support, if they came to their end.
EXHAUSTIVE = ("walsh", "correlation")


def auto(task: Task) -> Candidates:
    """The first method that supports a subset, or all that was searched."""
    done = _on_a_part(task) or _at_once(task)
    last = done[-1].steps[-1]
    exhaustive = last.method in EXHAUSTIVE and last.complete
    if exhaustive or supported(task, done[-1].subsets) is not None:
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


def _on_a_part(task: Task) -> list[Candidates] | None:
    """What random parts of very many rows show at once, if all rows support it; None if nothing.

    The p-value of a subset is valid however the subset was found. So a search that takes a moment
    on a part may name it, and the evidence is that of all rows.
    """
    table, rows = task.table, FIRST_PART
    while rows * GROWTH <= table.rows and task.left > 0:
        chosen = task.generator.choice(table.rows, rows, replace=False, shuffle=False)
        part = replace(
            task,
            table=LabelledRows(table.bits[chosen], table.labels[chosen]),
            deadline=time.perf_counter() + task.left / 2,
            ordered=False,
            fits={},
            lambdas={},
        )
        if not part.table.distinct:
            return None
        made = _at_once(part)[-1]
        if supported(task, made.subsets) is not None:
            steps = tuple(replace(step, rows=rows, stop=Stop.FOUND) for step in made.steps[-1:])
            return [made._replace(steps=steps)]
        rows *= GROWTH
    return None


def _at_once(task: Task) -> list[Candidates]:
    """What takes no more than a moment, each method in turn until one supports a subset or all
    have been looked at."""
    done: list[Candidates] = []
    for method in (
        _clean_many_rows,
        _one_or_two_wrong,
        _few_columns,
        _quick_sizes,
        _some_columns,
        _pairs_of_rows,
        _clean_few_rows,
    ):
        made = method(task)
        if made is None:
            continue
        if made.steps[-1].method == "walsh":
            # It has seen all sizes, also those that were too many one by one.
            done = [each for each in done if each.steps[-1].method != "correlation"]
        done.append(made)
        last = made.steps[-1]
        exhaustive = last.method in EXHAUSTIVE and last.complete
        if exhaustive or supported(task, made.subsets) is not None:
            break
    return done


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


def _one_or_two_wrong(task: Task) -> Candidates | None:
    """More rows than columns, and one or two wrong labels: parity checks name them."""
    table = task.table
    if table.rows < table.distinct + 1 + CHECKS or not any(_beyond_patience(task)):
        return None
    if syndrome_seconds(table.distinct) > min(task.left / 4, 5 * PATIENCE):
        return None
    return random_rows(task, tries=1)


def _few_columns(task: Task) -> Candidates | None:
    """Every subset of any size, where that takes no time."""
    return _every_subset(task) if task.table.distinct <= FEW_COLUMNS else None


def _some_columns(task: Task) -> Candidates | None:
    """Every subset of any size, after the small ones."""
    return _every_subset(task) if FEW_COLUMNS < task.table.distinct <= SOME_COLUMNS else None


def _every_subset(task: Task) -> Candidates | None:
    if walsh_seconds(task.table.distinct, task.table.rows) > task.left:
        return None
    found = walsh(task)
    return found._replace(subsets=grown(task, found.subsets))


def _quick_sizes(task: Task) -> Candidates | None:
    """Subsets of growing size, each if it takes no longer than about a second, and far less than
    all sizes at once would."""
    sizes, patience = possible_sizes(task), PATIENCE
    columns, rows = task.table.distinct, task.table.rows
    if columns <= SOME_COLUMNS:
        patience = min(patience, walsh_seconds(columns, rows) / 8)
    elif _has_pairs(task):
        patience = min(patience, reduction_seconds(columns, rows) / 8)
    if sizes[0] > 2 and split_seconds(task, sizes[0]) > patience:
        return Candidates([], (Step("correlation", Stop.TOO_MANY),))
    return by_growing_size(task, patience)


def _pairs_of_rows(task: Task) -> Candidates | None:
    """More columns than a transform takes: one step of reduction."""
    return reduction(task) if _has_pairs(task) else None


def _has_pairs(task: Task) -> bool:
    """Whether rows have so many pairs that one step of reduction shows more noise than random rows
    would at once."""
    columns, rows = task.table.distinct, task.table.rows
    if not SOME_COLUMNS < columns <= MOST_REDUCED:
        return False
    if reduction_seconds(columns, rows) > task.left / 2:
        return False
    return reduced_noise(columns, rows) > affordable_noise(task, PATIENCE)


def _clean_few_rows(task: Task) -> Candidates | None:
    """Sizes too large for correlation, should every row be right."""
    table = task.table
    if table.rows > table.distinct + 1:
        return None
    beyond = list(_beyond_patience(task))
    if not beyond:
        return None
    drawn = restarts(task, min(task.left / 4, 2 * PATIENCE))
    if supported(task, drawn.subsets) is not None:
        return drawn
    met = fitting_by_size(task, beyond, lambda: task.left / 4)
    return Candidates(drawn.subsets + met.subsets, drawn.steps + met.steps)


def _beyond_patience(task: Task) -> Iterator[int]:
    """Sizes that correlation would take long for."""
    return (s for s in possible_sizes(task) if s > 2 and split_seconds(task, s) > PATIENCE)


def _little_noise(task: Task, size: int) -> Candidates | None:
    """More rows than columns: random rows, if they could be right at some noise worth a try.

    size: the smallest that has not been searched; what was need not come out again.
    """
    table, seconds = task.table, task.left / 4
    if table.rows < table.distinct + 1 + CHECKS:
        return None
    # Less noise than one wrong label in all rows has been tried for.
    if max(affordable_noise(task, seconds, wrong) for wrong in (0, WRONG)) * table.rows < 1:
        return None
    return random_rows(task, seconds, task.k or size)
