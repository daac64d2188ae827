"""Meeting in the middle: all subsets of a size that fit every row, from lists of half the size.

The first 64 rows of a set are one word, the exclusive or of its columns' words. A set fits there if
the word of its lower half, plus the label's, equals that of its upper half; both lists are sorted
and met. What meets is tried on all rows.
"""

import math
from collections.abc import Callable, Iterable

import numpy as np

from xorfind.answer import Size, Step, Stop
from xorfind.rows import packed
from xorfind.solvers.correlation import colex
from xorfind.solvers.growth import possible_sizes
from xorfind.solvers.judge import Candidates, Task, supported

#: Longest list of halves, 8 bytes each and as much again to sort, and most fits listed.
LONGEST, MOST_FITS = 30_000_000, 100_000
#: Halves worked on at a time, and halves per second assumed when a search is planned.
TOGETHER, RATE = 1 << 20, 3e6


def meeting(task: Task) -> Candidates:
    """Every subset of the size, or of sizes 1, 2, … , that fits all rows."""
    if task.k is not None:
        return fitting_by_size(task, [task.k])
    possible = possible_sizes(task)
    # One size beyond what the rows could support is looked at: what fits there is reported.
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
    columns, found = task.table.distinct, list[tuple[int, ...]]()
    done, stop = list[Size](), Stop.EXHAUSTED
    for size in sizes:
        # The lists of halves must fit in memory and in the time left.
        halves = math.comb(columns, size - size // 2)
        if halves > LONGEST or halves / RATE > min(task.left, seconds()):
            stop = Stop.TOO_MANY
            break
        fits, whole = fitting_subsets(task, size)
        found += fits
        done.append(Size.of(columns, size, math.comb(columns, size) if whole else 0))
        if not whole:
            stop = Stop.BUDGET if task.left <= 0 else Stop.TOO_MANY
        elif supported(task, found) is not None:
            stop = Stop.FOUND
            break
        if stop_at_any and found:
            break
    return Candidates(found, (Step("meeting", stop, tuple(done), clean=True),))


def fitting_subsets(task: Task, size: int) -> tuple[list[tuple[int, ...]], bool]:
    """Subsets of one size that fit every row with either sign, and whether those are all."""
    table, n = task.table, task.table.distinct
    if size > n:
        return [], True
    words, label = table.packed_columns, table.packed_label
    full = packed(np.ones((1, table.rows), np.uint8))[0]
    lower, upper = size // 2, size - size // 2
    total, highs = math.comb(n, lower), math.comb(n, upper)
    parts = [_sums(words[:, 0], upper, at, at + TOGETHER) for at in range(0, highs, TOGETHER)]
    right = _even(np.concatenate(parts), full[0])
    order = np.argsort(right, kind="stable")
    right = right[order]
    found = list[tuple[int, ...]]()
    for start in range(0, total, TOGETHER):
        left = _even(_sums(words[:, 0], lower, start, start + TOGETHER) ^ label[0], full[0])
        sets = _met(left, right, order, start, lower, upper)
        found += map(table.named, sets[_fits(words, label, full, sets)])
        stop = min(start + TOGETHER, total)
        task.tell(stop / total, f"halves of {size} columns")
        if len(found) > MOST_FITS or task.left < 0:
            return found, stop == total
    return found, True


def _sums(words: np.ndarray, size: int, start: int, stop: int) -> np.ndarray:
    """The exclusive or of one word over sets number start … stop-1, as far as there are such."""
    sets = colex(np.arange(start, min(stop, math.comb(len(words), size))), size)
    made: np.ndarray = np.bitwise_xor.reduce(words[sets], axis=1)
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
    first = np.searchsorted(right, left[hit], side="left")
    many = np.searchsorted(right, left[hit], side="right") - first
    found = []
    for some in np.array_split(np.arange(len(hit)), max(1, int(many.sum()) >> 20)):
        low = np.repeat(hit[some], many[some])
        inside = np.arange(len(low)) - np.repeat(np.cumsum(many[some]) - many[some], many[some])
        high = order[np.repeat(first[some], many[some]) + inside]
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
