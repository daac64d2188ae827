"""Subsets by growing size through the split product, and by growth from one that is supported."""

import itertools
import math

import numpy as np

from xorfind.answer import Size, Step, Stop
from xorfind.evidence.levels import log_choose, log_family
from xorfind.evidence.power import detectable_noise
from xorfind.solvers.correlation import BestSets, correlate
from xorfind.solvers.judge import ONLY_JUST, Candidates, Task, supported

#: A search that would not see this share of its subsets in the time left is not begun.
LEAST_SHARE = 0.01
#: Multiplications and additions per second assumed when a search is planned.
RATE = 4e10


def correlation(task: Task) -> Candidates:
    """Every subset of the size, or of sizes 1, 2, … as far as rows and time allow."""
    return by_growing_size(task)


def by_growing_size(
    task: Task,
    patience: float = math.inf,
    after: Candidates | None = None,
    covered: float = -1.0,
) -> Candidates:
    """Subsets of growing size.

    patience: seconds that one size may take. after: a search of smaller sizes, to go on with.
    covered: noise up to which parities of any size have been searched for; a size that needs less
    noise than that to be seen, and with it all larger ones, is left out.

    A set that is only just supported may be luck, one time in 1/alpha; one size more is then
    searched if that takes no more than a quarter of the time left.
    """
    columns = task.table.distinct
    candidates = [] if after is None else list(after.subsets)
    begin = 0 if after is None else after.steps[-1].largest
    done = [] if after is None else [size for size in after.steps[-1].sizes if size.k <= begin]
    stop = Stop.EXHAUSTED
    for size in (each for each in possible_sizes(task) if each > begin):
        if stop is Stop.FOUND and split_seconds(task, size) > task.left / 4:
            break
        if covered >= 0 and visible_noise(task, size) <= covered:
            break
        if stop is not Stop.FOUND and not _begins(task, size, patience):
            stop = Stop.TOO_MANY
            break
        found = _of_size(task, size)
        candidates += grown(task, found.subsets)
        done.append(Size.of(columns, size, found.examined))
        best = supported(task, candidates)
        once_more = stop is not Stop.FOUND and found.complete
        if best is not None:
            stop = Stop.FOUND
            if not once_more or best.log_p <= math.log(task.alpha) - ONLY_JUST:
                break
        elif not found.complete:
            stop = Stop.BUDGET
            break
    return Candidates(candidates, (Step("correlation", stop, tuple(done)),))


def _begins(task: Task, size: int, patience: float) -> bool:
    """Whether the sets of this size are worth a start: pairs always; more columns if there is time
    for all sets, or for a share of those of the one size that was asked for."""
    if size <= 2 or split_seconds(task, size) <= min(patience, task.left):
        return True
    hopeless = LEAST_SHARE * split_seconds(task, size) > task.left
    return task.k is not None and patience == math.inf and not hopeless


def possible_sizes(task: Task) -> list[int]:
    """Sizes at which these rows could support a subset at all, were there no noise."""
    if task.k is not None:
        return [task.k]
    best = math.log(2) - log_choose(task.table.rows, task.table.minus)
    level, columns = math.log(task.alpha), task.table.distinct
    sizes = itertools.takewhile(
        lambda size: best + log_family(columns, size, False) <= level, range(1, columns + 1)
    )
    return list(sizes) or [1]


def visible_noise(task: Task, size: int) -> float:
    """The noise at which these rows show a parity of so many columns every second time, or -1.

    Columns and labels are taken for fair; others show less.
    """
    table = task.table
    if not 1 <= size <= table.distinct:
        return -1.0
    known = task.k is not None
    seen = detectable_noise(table.distinct, size, table.rows, task.alpha, power=0.5, known=known)
    return -1.0 if seen is None else seen


def _of_size(task: Task, size: int) -> BestSets:
    """The best subsets of one size, as column numbers of the table."""
    table = task.table
    found = correlate(
        table.signs,
        table.labels,
        size,
        deadline=task.deadline,
        progress=lambda done: task.tell(done, f"sets of {size} columns"),
    )
    return found._replace(subsets=[table.named(each) for each in found.subsets])


def split_seconds(task: Task, size: int) -> float:
    """Seconds that all subsets of this size would take."""
    n, rows = task.table.distinct, task.table.rows
    if size > n:
        return 0.0
    # A few rows more than there are, for what each subset costs apart from its rows.
    return 2.0 * (rows + 20) * math.exp(min(600.0, log_choose(n, size))) / RATE


def grown(task: Task, candidates: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Candidates and what the best one grows into, one or two columns exchanged at a time.

    With biased or dependent columns a part of a parity correlates with the label; the whole does
    more, and is a step away: labels times the part correlate with the columns that differ.
    """
    best = supported(task, candidates)
    if best is None or task.k is not None or best.fitting == task.table.rows:
        return candidates
    table, added = task.table, list(candidates)
    while task.left > 0:
        rest = table.labels * (1 - 2 * table.parity(best.subset).astype(np.int8))
        if abs(int(rest.sum(dtype=np.int64))) == table.rows:
            break
        steps = [
            tuple(sorted(set(best.subset) ^ set(table.named(each))))
            for size in (1, 2)
            for each in correlate(table.signs, rest, size, keep=8, deadline=task.deadline).subsets
        ]
        next_best = supported(task, [best.subset, *steps])
        added += steps
        if next_best is None or next_best.log_p >= best.log_p - 1e-9:
            break
        best = next_best
    return added
