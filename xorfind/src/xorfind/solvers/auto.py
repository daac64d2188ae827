"""The choice of a method: cheap ones first, dearer ones while time is left, each with a reason."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from xorfind.answer import Step, Stop
from xorfind.solvers.elimination import clean
from xorfind.solvers.growth import by_growing_size, grown, possible_sizes, split_seconds
from xorfind.solvers.judge import Candidates, Task, supported
from xorfind.solvers.meeting import fitting_by_size
from xorfind.solvers.random_parts import affordable_noise, random_rows, restarts
from xorfind.solvers.reduction import MOST_REDUCED, reduced_noise, reduction, reduction_seconds
from xorfind.solvers.walsh import MOST_COLUMNS, walsh, walsh_seconds

#: Seconds that a search may take before others have had their turn.
PATIENCE = 1.0
#: Columns up to which the Walsh transform is a matter of milliseconds.
FEW_COLUMNS = 20
#: Rows of the first look at a table of very many, and how many times larger the next one is.
FIRST_PART, GROWTH = 1 << 13, 8
#: Methods that have looked at every subset these rows could support, if they came to their end.
EXHAUSTIVE = ("walsh", "correlation")


def auto(task: Task) -> Candidates:
    """The first method that supports a subset, or all that was searched."""
    done = _on_a_part(task) or _tried(task, _methods(task))
    subsets = [subset for each in done for subset in each.subsets]
    return Candidates(subsets, tuple(step for each in done for step in each.steps))


def _tried(task: Task, methods: Iterable[Candidates]) -> list[Candidates]:
    """What methods find, until one supports a subset or all have been looked at."""
    done = list[Candidates]()
    for made in methods:
        last = made.steps[-1]
        if last.method in EXHAUSTIVE:
            # It has seen what an earlier look at small sizes saw.
            done = [each for each in done if each.steps[-1].method != "correlation"]
        done.append(made)
        if last.method in EXHAUSTIVE and last.complete:
            break
        if supported(task, made.subsets) is not None:
            break
    return done


def _on_a_part(task: Task) -> list[Candidates] | None:
    """What random parts of very many rows show at once, if all rows support it; None if nothing.

    The p-value of a subset is valid however the subset was found. So a search that takes a moment
    on a part may name it, and the evidence is that of all rows.
    """
    table, rows = task.table, FIRST_PART
    while rows * GROWTH <= table.rows and task.left > 0:
        chosen = task.generator.choice(table.rows, rows, replace=False, shuffle=False)
        end = time.perf_counter() + task.left / 2
        part = replace(task.of_rows(chosen), deadline=end, ordered=False)
        if not part.table.distinct:
            return None
        made = _tried(part, _methods(part, quick=True))[-1]
        if supported(task, made.subsets) is not None:
            steps = tuple(replace(step, rows=rows, stop=Stop.FOUND) for step in made.steps[-1:])
            return [made._replace(steps=steps)]
        rows *= GROWTH
    return None


def _methods(task: Task, *, quick: bool = False) -> Iterator[Candidates]:
    """Each method in its turn. quick: only those that take no more than a moment."""
    columns, rows = task.table.distinct, task.table.rows
    more_rows = rows > columns + 1
    if more_rows and columns**2 * rows / 5e10 <= task.left:
        # Elimination sees at once whether a parity fits all rows.
        yield clean(task)
    transforms = columns <= MOST_COLUMNS and walsh_seconds(columns, rows) <= task.left
    if transforms and columns <= FEW_COLUMNS:
        yield _every_subset(task)
    first = _quick_sizes(task)
    yield first
    if transforms and columns > FEW_COLUMNS:
        yield _every_subset(task)
    if _has_pairs(task):
        yield reduction(task)
    beyond = [] if more_rows else [s for s in possible_sizes(task) if _is_long(task, s)]
    if beyond:
        # Sizes too large for correlation, should every row be right.
        yield restarts(task, min(task.left / 4, 2 * PATIENCE))
        yield fitting_by_size(task, beyond, lambda: task.left / 4)
    if quick:
        return
    covered = -1.0
    if more_rows:
        # A size that random rows have covered, or that these rows cannot show, is not searched.
        covered, seconds = 0.0, task.left / 4
        if affordable_noise(task, seconds) * rows >= 1:
            drawn = random_rows(task, seconds, task.k or first.steps[-1].largest + 1)
            covered = drawn.covered
            yield drawn
    if task.left > 0:
        yield by_growing_size(task, after=first, covered=covered)


def _every_subset(task: Task) -> Candidates:
    found = walsh(task)
    return found._replace(subsets=grown(task, found.subsets))


def _quick_sizes(task: Task) -> Candidates:
    """Subsets of growing size, each if it takes no longer than about a second, and far less than
    all sizes at once would."""
    patience, columns, rows = PATIENCE, task.table.distinct, task.table.rows
    if columns <= MOST_COLUMNS:
        patience = min(patience, walsh_seconds(columns, rows) / 8)
    elif _has_pairs(task):
        patience = min(patience, reduction_seconds(columns, rows) / 8)
    smallest = possible_sizes(task)[0]
    if smallest > 2 and split_seconds(task, smallest) > patience:
        return Candidates([], (Step("correlation", Stop.TOO_MANY),))
    return by_growing_size(task, patience)


def _has_pairs(task: Task) -> bool:
    """Whether there are more columns than a transform takes, and rows with so many pairs that one
    step of reduction shows more noise than random rows would at once."""
    columns, rows = task.table.distinct, task.table.rows
    if not MOST_COLUMNS < columns <= MOST_REDUCED:
        return False
    if reduction_seconds(columns, rows) > task.left / 2:
        return False
    return reduced_noise(columns, rows) > affordable_noise(task, PATIENCE)


def _is_long(task: Task, size: int) -> bool:
    """Whether correlation would take long for sets of this size."""
    return size > 2 and split_seconds(task, size) > PATIENCE
