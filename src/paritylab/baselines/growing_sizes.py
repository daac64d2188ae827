"""Subsets of growing size by correlation, and extension of a supported subset."""

import itertools
import math

import numpy as np

from paritylab.baselines.answer import Size, Step, Stop
from paritylab.baselines.correlation import BestSubsets, correlate
from paritylab.baselines.power import detectable_noise
from paritylab.baselines.selection import CLEAR_MARGIN
from paritylab.baselines.significance import log_choose, log_family
from paritylab.baselines.task import Candidates, Task

#: A search that would not see this share of its subsets in the time left is not begun.
LEAST_SHARE = 0.01
#: Multiplications and additions per second assumed when a search is planned.
SPEED = 4e10


def correlation(task: Task) -> Candidates:
    """Every subset of the size, or of sizes 1, 2, … as far as rows and time allow."""
    return search_growing_sizes(task)


def search_growing_sizes(
    task: Task,
    patience: float = math.inf,
    after: Candidates | None = None,
    covered_noise: float = -1.0,
) -> Candidates:
    """Subsets of growing size.

    patience: seconds that one size may take. after: a search of smaller sizes, to go on with.
    covered_noise: up to which parities of any size have been searched for; a size that needs less
    noise than that to be detected, and with it all larger ones, is left out.

    A set that is barely supported may be chance, one time in 1/alpha; one size more is then
    searched if that takes no more than a quarter of the time left.
    """
    columns = task.table.distinct
    subsets = [] if after is None else list(after.subsets)
    start = 0 if after is None else after.steps[-1].largest
    sizes = [] if after is None else [size for size in after.steps[-1].sizes if size.k <= start]
    stop = Stop.EXHAUSTED
    for k in (k for k in supportable_sizes(task) if k > start):
        if stop is Stop.FOUND and correlation_seconds(task, k) > task.seconds_left / 4:
            break
        if covered_noise >= 0 and typical_noise(task, k) <= covered_noise:
            break
        if stop is not Stop.FOUND and not _is_worth_starting(task, k, patience):
            stop = Stop.TOO_MANY
            break
        result = _correlate_size(task, k)
        subsets += extend_best(task, result.subsets)
        sizes.append(Size(k, math.comb(columns, k), result.examined))
        best = task.best_supported(subsets)
        may_continue = stop is not Stop.FOUND and result.complete
        if best is not None:
            stop = Stop.FOUND
            if not may_continue or best.log_p <= math.log(task.alpha) - CLEAR_MARGIN:
                break
        elif not result.complete:
            stop = Stop.BUDGET
            break
    return Candidates(subsets, (Step("correlation", stop, tuple(sizes)),))


def _is_worth_starting(task: Task, k: int, patience: float) -> bool:
    """Pairs always; larger sets if there is time for all of them, or for a share of those of the
    one size that was requested."""
    if k <= 2 or correlation_seconds(task, k) <= min(patience, task.seconds_left):
        return True
    hopeless = LEAST_SHARE * correlation_seconds(task, k) > task.seconds_left
    return task.k is not None and patience == math.inf and not hopeless


def supportable_sizes(task: Task) -> list[int]:
    """Sizes at which these rows could support a subset at all, were there no noise."""
    if task.k is not None:
        return [task.k]
    best = math.log(2) - log_choose(task.table.rows, task.table.minus)
    level, columns = math.log(task.alpha), task.table.distinct
    sizes = itertools.takewhile(
        lambda k: best + log_family(columns, k, False) <= level, range(1, columns + 1)
    )
    return list(sizes) or [1]


def typical_noise(task: Task, k: int) -> float:
    """The noise at which these rows support a parity of k columns every second time, or -1.

    Columns and labels are taken for fair; biased ones tolerate less.
    """
    table, known_size = task.table, task.k is not None
    if not 1 <= k <= table.distinct:
        return -1.0
    noise = detectable_noise(
        table.distinct, k, table.rows, task.alpha, power=0.5, known_size=known_size
    )
    return -1.0 if noise is None else noise


def _correlate_size(task: Task, k: int) -> BestSubsets:
    """The best subsets of one size, as column numbers of the table."""
    table = task.table
    result = correlate(
        table.signs,
        table.labels,
        k,
        deadline=task.deadline,
        progress=lambda fraction: task.report(fraction, f"sets of {k} columns"),
    )
    return result._replace(subsets=[table.columns_of(subset) for subset in result.subsets])


def correlation_seconds(task: Task, k: int) -> float:
    """Seconds that all subsets of this size would take."""
    n, rows = task.table.distinct, task.table.rows
    if k > n:
        return 0.0
    # 20 more rows than there are, for what each subset costs apart from its rows.
    return 2.0 * (rows + 20) * math.exp(min(600.0, log_choose(n, k))) / SPEED


def extend_best(task: Task, subsets: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Subsets and what the best one extends to, one or two columns exchanged at a time.

    With biased or dependent columns a part of a parity correlates with the label; the full parity
    does more, and is a step away: labels times the part correlate with the columns that differ.
    """
    best = task.best_supported(subsets)
    if best is None or task.k is not None or best.agreeing == task.table.rows:
        return subsets
    table, extended = task.table, list(subsets)
    while task.seconds_left > 0:
        residual = table.labels * (1 - 2 * table.parity(best.subset).astype(np.int8))
        if abs(int(residual.sum(dtype=np.int64))) == table.rows:
            break
        steps = [
            tuple(sorted(set(best.subset) ^ set(table.columns_of(change))))
            for k in (1, 2)
            for change in correlate(
                table.signs, residual, k, keep=8, deadline=task.deadline
            ).subsets
        ]
        next_best = task.best_supported([best.subset, *steps])
        extended += steps
        if next_best is None or next_best.log_p >= best.log_p - 1e-9:
            break
        best = next_best
    return extended
