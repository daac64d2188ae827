"""Meeting in the middle: all subsets of a size that fit every row, from lists of half the size."""

import math
import time
from collections.abc import Callable, Iterable

import numpy as np

from xorfind.answer import Size, Step, Stop
from xorfind.rows import packed
from xorfind.solvers.correlation import colex
from xorfind.solvers.growth import possible_sizes
from xorfind.solvers.judge import Candidates, Task, supported

#: Longest list of halves, 8 bytes each and as much again to sort, and most fits listed.
LONGEST, MOST_FITS = 30_000_000, 100_000
#: Halves per second assumed when a search is planned.
RATE = 3e6


def meeting(task: Task) -> Candidates:
    """Every subset of the size, or of sizes 1, 2, … , that fits all rows."""
    if task.k is not None:
        return fitting_by_size(task, [task.k])
    possible = possible_sizes(task)
    # One size beyond what the rows could support is looked at: what fits there is told.
    sizes = range(1, min(len(possible) + 1, task.table.distinct) + 1)
    return fitting_by_size(task, sizes, stop_at_any=True)


def fitting_by_size(
    task: Task,
    sizes: Iterable[int],
    seconds: Callable[[], float] = lambda: math.inf,
    *,
    stop_at_any: bool = False,
) -> Candidates:
    """Subsets of these sizes that fit every row, until one is supported or the time is up.

    seconds: that the next size may take. stop_at_any: end at the first size with any that fits.
    """
    found: list[tuple[int, ...]] = []
    done: list[Size] = []
    stop = Stop.EXHAUSTED
    for size in sizes:
        if not affordable(task, size, seconds()):
            stop = Stop.TOO_MANY
            break
        fits, whole = fitting_subsets(task, size)
        found += fits
        every = math.comb(task.table.distinct, size)
        done.append(Size.of(task.table.distinct, size, every if whole else 0))
        if not whole:
            stop = Stop.BUDGET if task.left <= 0 else Stop.TOO_MANY
        elif supported(task, found) is not None:
            stop = Stop.FOUND
            break
        if stop_at_any and found:
            break
    return Candidates(found, (Step("meeting", stop, tuple(done), clean=True),))


def affordable(task: Task, size: int, seconds: float = math.inf) -> bool:
    """Whether the lists of halves fit in memory and in the time left."""
    halves = math.comb(task.table.distinct, size - size // 2)
    return halves <= LONGEST and halves / RATE <= min(task.left, seconds)


def fitting_subsets(task: Task, size: int) -> tuple[list[tuple[int, ...]], bool]:
    """Subsets of one size that fit every row with either sign, and whether those are all."""
    table, n = task.table, task.table.distinct
    if size > n:
        return [], True
    words, label = table.packed_columns, packed(table.label_bits[None])[0]
    full = packed(np.ones((1, table.rows), np.uint8))[0]
    lower, upper = size // 2, size - size // 2
    right = _even(_sums(words[:, 0], upper), full[0])
    order = np.argsort(right, kind="stable")
    right = right[order]
    fits: list[np.ndarray] = []
    count, total = 0, math.comb(n, lower)
    for start in range(0, total, 1 << 20):
        stop = min(start + (1 << 20), total)
        left = _even(_sums(words[:, 0], lower, start, stop) ^ label[0], full[0])
        sets = _met(left, right, order, start, lower, upper)
        sets = sets[_fits(words, label, full, sets)]
        fits.append(sets)
        count += len(sets)
        task.tell(stop / total, f"halves of {size} columns")
        if count > MOST_FITS or time.perf_counter() > task.deadline:
            return _listed(task, fits), stop == total
    return _listed(task, fits), True


def _listed(task: Task, fits: list[np.ndarray]) -> list[tuple[int, ...]]:
    return [task.table.named(each) for part in fits for each in part.tolist()]


def _sums(words: np.ndarray, size: int, start: int = 0, stop: int | None = None) -> np.ndarray:
    """The exclusive or of one word over sets number start … stop-1."""
    stop = math.comb(len(words), size) if stop is None else stop
    made = np.zeros(stop - start, np.uint64)
    for at in range(start, stop, 1 << 20):
        sets = colex(np.arange(at, min(at + (1 << 20), stop)), size)
        for member in sets.T:
            made[at - start : at - start + len(sets)] ^= words[member]
    return made


def _even(words: np.ndarray, full: np.uint64) -> np.ndarray:
    """Words or their complements, whichever has the first row 0: a sign makes no difference."""
    return np.where(words & np.uint64(1), words ^ full, words)


def _met(
    left: np.ndarray, right: np.ndarray, order: np.ndarray, start: int, lower: int, upper: int
) -> np.ndarray:
    """Sets whose halves agree; every one at its one split into low and high members."""
    # In order, searches stay in the cache; then only what is there is counted.
    sorting = np.argsort(left)
    near = np.minimum(np.searchsorted(right, left[sorting]), len(right) - 1)
    hit = np.sort(sorting[right[near] == left[sorting]])
    first, many = np.zeros(len(left), np.int64), np.zeros(len(left), np.int64)
    first[hit] = np.searchsorted(right, left[hit], side="left")
    many[hit] = np.searchsorted(right, left[hit], side="right") - first[hit]
    found = []
    for at in np.array_split(hit, max(1, int(many.sum()) >> 20)):
        low = np.repeat(at, many[at])
        inside = np.arange(len(low)) - np.repeat(np.cumsum(many[at]) - many[at], many[at])
        high = order[np.repeat(first[at], many[at]) + inside]
        lows, highs = colex(low + start, lower), colex(high, upper)
        once = lows[:, -1] < highs[:, 0] if lower else np.ones(len(low), bool)
        found.append(np.concatenate([lows[once], highs[once]], axis=1))
    return np.concatenate(found)


def _fits(words: np.ndarray, label: np.ndarray, full: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Which sets fit all rows, with one sign."""
    fits = np.ones(len(sets), bool)
    sign = None
    for word in range(words.shape[1]):
        made = np.bitwise_xor.reduce(words[sets, word], axis=1) ^ label[word]
        sign = (made & np.uint64(1)).astype(bool) if sign is None else sign
        fits &= made == np.where(sign, full[word], np.uint64(0))
    return fits
