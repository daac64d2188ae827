"""How far rows support a parity: exact conditional tests, corrected for every subset there is.

Under "labels do not depend on the rows" and given how often a parity and the label are -1, the
number of rows where both are is hypergeometric, whatever the columns look like: biased, dependent,
repeated. The correction covers all subsets of all sizes at once: size k has the share 1/(k(k+1)) of
the level (shares that sum to 1), or all of it where the size is known, divided evenly among its
subsets and the two signs. A subset's p-value is therefore valid however it was found.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from paritylab.baselines.labelled_rows import LabelledRows

#: Subsets whose evidence is computed together.
BATCH = 128


def log_choose(n: Any, k: Any) -> Any:
    """The logarithm of n over k, entry by entry."""
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(np.subtract(n, k) + 1.0)


def log_family(n: int, size: int, known_size: bool) -> float:
    """Log of the factor that corrects a subset's two-sided p-value for all subsets.

    known_size: whether the size was given, so that only subsets of that size compete.
    """
    return float(log_choose(n, size)) + (0.0 if known_size else math.log(size * (size + 1)))


def log_overlap_tails(rows: int, first: Any, second: int, overlap: Any) -> tuple[Any, Any]:
    """log P(O ≥ overlap) and log P(O ≤ overlap) of two random sets of rows of given sizes.

    first, overlap: numbers, or arrays of one shape (cases,). The overlap must be a possible one.

    Only the lighter tail is summed, outwards from the overlap; the other one is what is left. The
    logarithm of a chance bends by the sum of 1/cell over the four cells, at least 16/rows, so that
    after 3·√rows steps less than e^-72 of the tail is missing, whatever the number of rows.

    >>> above, below = log_overlap_tails(10, 5, 5, 5)
    >>> round(math.exp(above) * 252, 9)
    1.0
    """
    first, overlap = (np.asarray(count, np.int64)[..., None] for count in (first, overlap))
    low, high = np.maximum(0, first + second - rows), np.minimum(first, second)
    upwards = overlap >= (first + 1) * (second + 1) // (rows + 2)
    at = overlap + np.where(upwards, 1, -1) * np.arange(min(rows, 3 * math.isqrt(rows) + 9) + 1)
    # Chances of neighbours: P(o + 1)/P(o) = (first-o)(second-o)/((o+1)(neither+1)).
    lower = np.where(upwards, at, at - 1)
    inside = (lower >= low) & (lower < high)
    o = np.where(inside, lower, low)
    with np.errstate(divide="ignore"):
        steps = np.log((first - o) * (second - o) / ((o + 1.0) * (rows - first - second + o + 1.0)))
    steps = np.where(inside, np.where(upwards, steps, -steps), -np.inf)[..., :-1]
    logs = np.concatenate([_log_chance(rows, first, second, overlap), steps], axis=-1)
    logs = np.cumsum(logs, axis=-1)
    light = np.logaddexp(_log_sum(logs[..., 1:]), logs[..., 0])
    heavy = np.log1p(-np.minimum(1.0, np.exp(_log_sum(logs[..., 1:]))))
    light, heavy, up = np.minimum(0.0, light), np.minimum(0.0, heavy), upwards[..., 0]
    return np.where(up, light, heavy), np.where(up, heavy, light)


def _log_chance(rows: int, first: Any, second: int, overlap: Any) -> Any:
    """log P(O = overlap)."""
    inside = log_choose(first, overlap) + log_choose(rows - first, second - overlap)
    return inside - log_choose(rows, second)


def _log_sum(logs: np.ndarray) -> Any:
    """log Σ exp along the last axis."""
    top = logs.max(axis=-1, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return top + np.log(np.exp(logs - top[..., None]).sum(axis=-1))


def log_dependence(column: np.ndarray, labels: np.ndarray) -> float:
    """Log of the two-sided p-value of "these two rows of bits are independent"."""
    first, second = int(column.sum(dtype=np.int64)), int(labels.sum(dtype=np.int64))
    overlap = int(np.count_nonzero(column & labels))
    tails = log_overlap_tails(len(labels), first, second, overlap)
    return min(0.0, math.log(2) + float(min(tails)))


class Fit(NamedTuple):
    """One subset on all rows.

    subset: numbers of columns. sign: the label is sign·(-1)^(xor of the columns) on `agreeing`
    rows. log_p: log of the p-value, corrected for all subsets; it may exceed 0, which ranks what
    is not significant at all.
    """

    subset: tuple[int, ...]
    sign: int
    agreeing: int
    log_p: float


def fit_subsets(
    table: LabelledRows, subsets: Iterable[Iterable[int]], known_size: bool = False
) -> list[Fit]:
    """Signs, agreements and p-values of subsets. known_size: whether their size was given."""
    ordered = [tuple(sorted(int(column) for column in subset)) for subset in subsets]
    fits: list[Fit] = []
    for start in range(0, len(ordered), BATCH):
        fits += _fit_batch(table, ordered[start : start + BATCH], known_size)
    return fits


def _fit_batch(table: LabelledRows, subsets: list[tuple[int, ...]], known_size: bool) -> list[Fit]:
    parities = np.stack([table.packed_parity(subset) for subset in subsets])
    rows, minus = table.rows, int(np.count_nonzero(table.label_bits))
    ones, overlap = (
        np.bitwise_count(words).sum(axis=1, dtype=np.int64)
        for words in (parities, parities & table.packed_label)
    )
    # The sign is that of the dependence, which differs from the majority's if labels are biased.
    signs = np.where(overlap * rows >= ones * minus, 1, -1)
    equal = rows - ones - minus + 2 * overlap
    tails = np.minimum(*log_overlap_tails(rows, ones, minus, overlap))
    logs = np.minimum(0.0, math.log(2) + tails).tolist()
    agreeing = np.where(signs == 1, equal, rows - equal).tolist()
    fits = []
    for at, subset in enumerate(subsets):
        size = len(subset)
        factor = log_family(max(table.distinct, size), size, known_size) if subset else 0.0
        fits.append(Fit(subset, int(signs[at]), agreeing[at], logs[at] + factor))
    return fits
