"""Meeting in the middle: all subsets of a size that fit every row, from lists of half the size.

The first 64 rows of a set are one word, the exclusive or of its columns' words. A set fits there if
the word of its lower half, plus the label's, equals that of its upper half; both lists are sorted
and compared. Matches are tried on all rows.
"""

import math
from collections.abc import Callable, Iterable

import numpy as np

from paritylab.baselines.answer import Size, Step, Stop
from paritylab.baselines.correlation import colex
from paritylab.baselines.gf2 import pack_bits
from paritylab.baselines.growing_sizes import supportable_sizes
from paritylab.baselines.task import Candidates, Task

#: Longest list of halves, 8 bytes each and as much again to sort, and most fits listed.
MAX_HALVES, MAX_FITS = 30_000_000, 100_000
#: Halves in one block, and halves per second assumed when a search is planned.
BLOCK, HALVES_PER_SECOND = 1 << 20, 3e6


def meeting(task: Task) -> Candidates:
    """Every subset of the size, or of sizes 1, 2, … , that fits all rows."""
    if task.k is not None:
        return fitting_by_size(task, [task.k])
    sizes = supportable_sizes(task)
    # One size beyond what the rows could support is searched, so that its fits can be listed.
    largest = min(len(sizes) + 1, task.table.distinct)
    return fitting_by_size(task, range(1, largest + 1), stop_at_any=True)


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
    columns, subsets = task.table.distinct, list[tuple[int, ...]]()
    records, stop = list[Size](), Stop.EXHAUSTED
    for k in sizes:
        # The lists of halves must fit in memory and in the time left.
        halves = math.comb(columns, k - k // 2)
        if halves > MAX_HALVES or halves / HALVES_PER_SECOND > min(task.seconds_left, seconds()):
            stop = Stop.TOO_MANY
            break
        fitting, complete = fitting_subsets(task, k)
        subsets += fitting
        total = math.comb(columns, k)
        records.append(Size(k, total, total if complete else 0))
        if not complete:
            stop = Stop.BUDGET if task.seconds_left <= 0 else Stop.TOO_MANY
        elif task.best_supported(subsets) is not None:
            stop = Stop.FOUND
            break
        if stop_at_any and subsets:
            break
    return Candidates(subsets, (Step("meeting", stop, tuple(records), clean=True),))


def fitting_subsets(task: Task, k: int) -> tuple[list[tuple[int, ...]], bool]:
    """Subsets of one size that fit every row with either sign, and whether those are all."""
    table, n = task.table, task.table.distinct
    if k > n:
        return [], True
    words, label = table.packed_columns, table.packed_label
    ones = pack_bits(np.ones((1, table.rows), np.uint8))[0]
    lower, upper = k // 2, k - k // 2
    total, uppers = math.comb(n, lower), math.comb(n, upper)
    blocks = [_half_sums(words[:, 0], upper, at, at + BLOCK) for at in range(0, uppers, BLOCK)]
    right = _without_sign(np.concatenate(blocks), ones[0])
    order = np.argsort(right, kind="stable")
    right = right[order]
    subsets = list[tuple[int, ...]]()
    for start in range(0, total, BLOCK):
        sums = _half_sums(words[:, 0], lower, start, start + BLOCK) ^ label[0]
        left = _without_sign(sums, ones[0])
        sets = _matching_halves(left, right, order, start, lower, upper)
        subsets += map(table.columns_of, sets[_fits_all_rows(words, label, ones, sets)])
        stop = min(start + BLOCK, total)
        task.report(stop / total, f"halves of {k} columns")
        if len(subsets) > MAX_FITS or task.seconds_left < 0:
            return subsets, stop == total
    return subsets, True


def _half_sums(words: np.ndarray, size: int, start: int, stop: int) -> np.ndarray:
    """The exclusive or of one word over sets number start … stop-1, as far as these exist."""
    sets = colex(np.arange(start, min(stop, math.comb(len(words), size))), size)
    sums: np.ndarray = np.bitwise_xor.reduce(words[sets], axis=1)
    return sums


def _without_sign(words: np.ndarray, ones: np.uint64) -> np.ndarray:
    """Words or their complements, whichever has the first row 0: a sign makes no difference."""
    return np.where(words & np.uint64(1), words ^ ones, words)


def _matching_halves(
    left: np.ndarray, right: np.ndarray, order: np.ndarray, start: int, lower: int, upper: int
) -> np.ndarray:
    """Sets whose halves agree; every one at its unique split into low and high members."""
    # In order, searches stay in the cache; then only the matches are counted.
    sorting = np.argsort(left)
    near = np.minimum(np.searchsorted(right, left[sorting]), len(right) - 1)
    hit = np.sort(sorting[right[near] == left[sorting]])
    first = np.searchsorted(right, left[hit], side="left")
    counts = np.searchsorted(right, left[hit], side="right") - first
    sets = []
    for part in np.array_split(np.arange(len(hit)), max(1, int(counts.sum()) >> 20)):
        low = np.repeat(hit[part], counts[part])
        starts = np.repeat(np.cumsum(counts[part]) - counts[part], counts[part])
        high = order[np.repeat(first[part], counts[part]) + np.arange(len(low)) - starts]
        lows, highs = colex(low + start, lower), colex(high, upper)
        ordered = lows[:, -1] < highs[:, 0] if lower else np.ones(len(low), bool)
        sets.append(np.concatenate([lows[ordered], highs[ordered]], axis=1))
    return np.concatenate(sets)


def _fits_all_rows(
    words: np.ndarray, label: np.ndarray, ones: np.ndarray, sets: np.ndarray
) -> np.ndarray:
    """Flags of the sets that fit all rows, with one sign."""
    fits = np.ones(len(sets), bool)
    sign = None
    for word in range(words.shape[1]):
        errors = np.bitwise_xor.reduce(words[sets, word], axis=1) ^ label[word]
        sign = (errors & np.uint64(1)).astype(bool) if sign is None else sign
        fits &= errors == np.where(sign, ones[word], np.uint64(0))
    return fits
