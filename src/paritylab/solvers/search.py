"""Searches by name: each takes a task and returns candidates with what was searched."""

import math
import time
from collections.abc import Callable

import numpy as np

from paritylab.solvers.correlation import Found, correlate, count_subsets
from paritylab.solvers.evidence import fit
from paritylab.solvers.gf2 import affine_solutions
from paritylab.solvers.judge import Outcome, Task

#: Multiplications and additions per second assumed when a search is planned.
RATE = 2e10


def correlation(task: Task) -> Outcome:
    """Every subset of the size, or of sizes 1, 2, … as far as the time allows."""
    sizes = [task.k] if task.k is not None else list(range(1, task.table.distinct + 1))
    candidates: list[tuple[int, ...]] = []
    examined, finished, complete = 0, [], True
    for size in sizes:
        if task.k is None and size > 2 and split_seconds(task, size) > task.left:
            complete = False
            break
        found = by_size(task, size)
        candidates += found.subsets
        examined += found.examined
        finished.append(size)
        complete &= found.complete
        if not found.complete or (task.k is None and settled(task, candidates)):
            break
    text = _sizes(finished)
    return Outcome(
        candidates,
        "correlation",
        f"{examined:,} subsets of {task.table.distinct} columns, {text}",
        f"every subset, {text}, was correlated with the labels",
        complete,
    )


def by_size(task: Task, size: int) -> Found:
    """The best subsets of one size, as column numbers of the table."""
    table = task.table
    found = correlate(
        table.signs,
        table.labels,
        size,
        deadline=task.deadline,
        progress=lambda done: task.tell(done, f"subsets of {size} columns"),
    )
    return found._replace(subsets=[tuple(table.kept[list(s)].tolist()) for s in found.subsets])


def split_seconds(task: Task, size: int) -> float:
    """Seconds that all subsets of this size would take."""
    table = task.table
    return count_subsets(table.distinct, size) * 2.0 * (table.rows + 20) / RATE


def settled(task: Task, candidates: list[tuple[int, ...]]) -> bool:
    """Whether a candidate is supported and no larger one is worth a look: it fits every row, or
    columns and labels are so even that a smaller part of a parity cannot look like one."""
    fits = [fit(task.table, each) for each in candidates]
    best = min(fits, key=lambda each: each.log_p, default=None)
    return best is not None and best.log_p <= math.log(task.alpha)


def _sizes(sizes: list[int]) -> str:
    if not sizes:
        return "of no size"
    return f"size {sizes[0]}" if len(sizes) == 1 else f"sizes {sizes[0]} to {sizes[-1]}"


def elimination(task: Task) -> Outcome:
    """The parity that all rows fit, by elimination."""
    table = task.table
    found, consistent = clean_solution(task)
    return Outcome(
        found,
        "elimination",
        f"all 2^{table.distinct} subsets of {table.distinct} columns that fit every row",
        "every row fits one parity"
        if consistent
        else "no parity fits every row: some of them sum to 0 = 1",
    )


def clean_solution(task: Task) -> tuple[list[tuple[int, ...]], bool]:
    """Subsets that fit every row, and whether there is one."""
    table = task.table
    bits = table.bits[:, table.kept]
    bits = np.concatenate([bits, np.ones((table.rows, 1), np.uint8)], axis=1)
    side = table.label_bits[:, None]
    some = min(table.rows, bits.shape[1] + 64)
    found = affine_solutions(bits[:some], side[:some])
    if not found.consistent[0]:
        return [], False
    subset = tuple(table.kept[np.flatnonzero(found.solutions[0, :-1])].tolist())
    wrong = table.parity(subset) ^ found.solutions[0, -1] ^ table.label_bits
    return ([subset], True) if subset and not wrong.any() else ([], False)


SOLVERS: dict[str, Callable[[Task], Outcome]] = {
    "correlation": correlation,
    "elimination": elimination,
}


def auto(task: Task) -> Outcome:
    """The cheapest search that can answer."""
    start = time.perf_counter()
    if task.table.rows > task.table.distinct + 20:
        found = elimination(task)
        if found.subsets:
            return found
    del start
    return correlation(task)
