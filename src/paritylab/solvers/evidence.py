"""How far rows support a parity: exact conditional tests, corrected for every subset there is.

Under "labels do not depend on the rows" and given how often a parity and the label are -1, the
number of rows where both are is hypergeometric, whatever the columns look like: biased, dependent,
repeated. The correction covers all subsets of all sizes at once: size k has the share 1/(k(k+1)) of
the level (shares that sum to 1), or all of it where the size is known, divided evenly among its
subsets and the two signs. A subset's p-value is therefore valid however it was found.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, gammaln

from paritylab.solvers.table import Table


def log_choose(n: float, k: float) -> float:
    """The logarithm of n over k."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_family(n: int, size: int, known: bool) -> float:
    """Log of what a subset's two-sided p-value is multiplied by; known: whether the size was."""
    return log_choose(n, size) + (0.0 if known else math.log(size * (size + 1)))


def log_overlap_tails(rows: int, first: int, second: int, overlap: int) -> tuple[float, float]:
    """log P(O ≥ overlap) and log P(O ≤ overlap) of two random sets of rows of given sizes.

    >>> round(math.exp(log_overlap_tails(10, 5, 5, 5)[0]) * 252, 9)
    1.0
    """
    known = log_factorials(rows)
    low, high = max(0, first + second - rows), min(first, second)
    at = np.arange(low, high + 1)
    logs = -known[at] - known[first - at] - known[second - at]
    logs -= known[rows - first - second + at]
    constant = known[first] + known[rows - first] + known[second] + known[rows - second]
    logs += constant - known[rows]
    split = overlap - low
    return _log_sum(logs[split:]), _log_sum(logs[: split + 1])


def _log_sum(logs: np.ndarray) -> float:
    """log Σ exp of log-probabilities."""
    top = float(logs.max())
    return min(0.0, top + math.log(float(np.exp(logs - top).sum())))


@lru_cache(maxsize=8)
def log_factorials(most: int) -> np.ndarray:
    """Logarithms of 0!, 1!, …, most!."""
    return gammaln(np.arange(most + 1) + 1.0)


def log_dependence(column: np.ndarray, labels: np.ndarray) -> float:
    """Log of the two-sided p-value of "these two rows of bits are independent"."""
    first, second = int(column.sum(dtype=np.int64)), int(labels.sum(dtype=np.int64))
    overlap = int(np.count_nonzero(column & labels))
    return min(0.0, math.log(2) + min(log_overlap_tails(len(labels), first, second, overlap)))


class Fit(NamedTuple):
    """One subset on all rows: sign, how many rows fit, and its corrected log p-value.

    log_p may exceed 0, which ranks what is not significant at all.
    """

    subset: tuple[int, ...]
    sign: int
    fitting: int
    log_p: float


def fit(table: Table, subset: Iterable[int], known: bool = False) -> Fit:
    """A subset's sign, agreement and p-value; known: whether its size was given."""
    members = tuple(sorted(int(each) for each in subset))
    column, label = table.parity(members), table.label_bits
    rows, ones, minus = table.rows, int(np.count_nonzero(column)), int(np.count_nonzero(label))
    overlap = int(np.count_nonzero(column & label))
    # The sign is that of the dependence, which differs from the majority's if labels are biased.
    sign = 1 if overlap * rows >= ones * minus else -1
    equal = rows - ones - minus + 2 * overlap
    log_p = min(0.0, math.log(2) + min(log_overlap_tails(rows, ones, minus, overlap)))
    if members:
        log_p += log_family(max(table.distinct, len(members)), len(members), known)
    return Fit(members, sign, equal if sign == 1 else rows - equal, log_p)


def noise_interval(misses: int, rows: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share, by bisection of the beta distribution."""
    tail = (1 - confidence) / 2

    def solve(a: float, b: float, goal: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if betainc(a, b, middle) < goal else (low, middle)
        return high

    lower = 0.0 if misses == 0 else solve(misses, rows - misses + 1, tail)
    upper = 1.0 if misses == rows else solve(misses + 1, rows - misses, 1 - tail)
    return lower, upper
