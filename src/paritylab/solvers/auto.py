"""The choice of a method: cheap ones first, dearer ones while time is left, each with a reason."""

import math
from collections.abc import Iterator

from paritylab.solvers.elimination import clean
from paritylab.solvers.growth import (
    by_growing_size,
    grown,
    largest,
    possible_sizes,
    sizes_text,
    split_seconds,
    supported,
)
from paritylab.solvers.judge import Outcome, Task
from paritylab.solvers.meet_in_the_middle import affordable, fitting_subsets
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


def auto(task: Task) -> Outcome:
    """The first method that supports a subset, or all that was searched."""
    table, done = task.table, list[Outcome]()
    shape = f"{table.rows} rows of {table.distinct} distinct columns"
    for step in (_clean_many_rows, _every_subset, _quick_sizes, _clean_few_rows):
        outcome = step(task)
        if outcome is None:
            continue
        done.append(outcome)
        if supported(task, outcome.subsets) is not None:
            return outcome._replace(reason=f"{shape}: {outcome.reason}")
        if outcome.method in EXHAUSTIVE and outcome.complete:
            return _nothing(done, shape)
    last = next(each for each in done if each.method == "correlation")
    for outcome in _longer(task, last):
        if supported(task, outcome.subsets) is not None:
            return outcome._replace(reason=f"{shape}: {outcome.reason}")
        done.append(outcome)
        if outcome.method == "correlation":
            done.remove(last)
    return _nothing(done, shape)


def _longer(task: Task, last: Outcome) -> Iterator[Outcome]:
    """What takes more than a moment: random rows, then the sizes that they could not rule out."""
    drawn = _little_noise(task, last)
    if drawn is not None:
        yield drawn
    if task.left > 0:
        many = task.table.rows > task.table.distinct + 1
        covered = (drawn.covered if drawn is not None else 0.0) if many else -1.0
        yield by_growing_size(task, math.inf, last, covered)[0]


def _nothing(done: list[Outcome], shape: str) -> Outcome:
    """Everything that was searched, as one outcome."""
    tried = [each for each in done if each.searched != "nothing"] or done
    return Outcome(
        [subset for each in tried for subset in each.subsets],
        "+".join(dict.fromkeys(each.method for each in tried)),
        "; ".join(each.searched for each in tried),
        f"{shape}: no method found a subset that reaches the level",
        all(each.complete for each in tried),
    )


def _clean_many_rows(task: Task) -> Outcome | None:
    """More rows than columns: elimination sees at once whether a parity fits all."""
    table = task.table
    if table.rows <= table.distinct + 1 or table.distinct**2 * table.rows / 5e10 > task.left:
        return None
    return clean(task)


def _every_subset(task: Task) -> Outcome | None:
    """Few columns: every subset of any size."""
    n, size = task.table.distinct, task.k
    if n > SOME_COLUMNS or 2**n * 2e-7 > task.left:
        return None
    if n > FEW_COLUMNS and size is not None and split_seconds(task, size) < 1:
        return None
    found = walsh(task)
    return found._replace(subsets=grown(task, found.subsets))


def _quick_sizes(task: Task) -> Outcome | None:
    """Subsets of growing size, each if it takes no longer than about a second."""
    sizes = possible_sizes(task)
    if sizes[0] > 2 and split_seconds(task, sizes[0]) > PATIENCE:
        return Outcome([], "correlation", "nothing", "too many subsets for a first look", False)
    return by_growing_size(task, PATIENCE)[0]


def _clean_few_rows(task: Task) -> Outcome | None:
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
    found, reached = list(drawn.subsets), list[int]()
    for size in beyond:
        if not affordable(task, size, task.left / 4):
            break
        fits, _ = fitting_subsets(task, size)
        found += fits
        reached.append(size)
        if supported(task, found) is not None:
            break
    if not reached:
        return drawn._replace(complete=False)
    text = sizes_text(reached)
    return Outcome(
        found,
        "meeting",
        f"all subsets of {text} that fit every row; {drawn.searched}",
        f"fewer rows than columns, and of all subsets of {text} few fit every row",
        len(reached) == len(beyond),
    )


def _little_noise(task: Task, last: Outcome) -> Outcome | None:
    """More rows than columns: random rows, if they could be right at some noise worth a try.

    last: the search of small sizes; what it has seen need not come out again.
    """
    table, seconds = task.table, task.left / 4
    if table.rows < 1.1 * table.distinct + 20 or table.distinct > 1000:
        return None
    if affordable_noise(task, seconds) < SOME_NOISE:
        return None
    return random_rows(task, seconds, task.k or largest(last) + 1)
