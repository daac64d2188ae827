"""How far rows support a parity: exact conditional tests, corrected for every subset there is.

Under "labels do not depend on the rows" and given how often a parity and the label are -1, the
number of rows where both are is hypergeometric, whatever the columns look like: biased, dependent,
repeated. The correction covers all subsets of all sizes at once: size k has the share 1/(k(k+1)) of
the level (shares that sum to 1), or all of it where the size is known, divided evenly among its
subsets and the two signs. A subset's p-value is therefore valid however it was found.
"""

import math
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, gammaln, logsumexp

from paritylab.solvers.table import Table

#: Up to this many columns all cells of a subset are looked at.
MOST_CELLS = 10


def log_choose(n: float, k: float) -> float:
    """The logarithm of n over k."""
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def log_family(n: int, size: int, known: bool) -> float:
    """Log of what a subset's two-sided p-value is multiplied by; known: whether the size was."""
    return log_choose(n, size) + (0.0 if known else math.log(size * (size + 1)))


def log_overlap_tails(rows: int, first: int, second: int, overlap: int) -> tuple[float, float]:
    """log P(O ≥ overlap) and log P(O ≤ overlap) of two random sets of rows of given sizes.

    >>> round(math.exp(log_overlap_tails(10, 5, 5, 5)[0]) * 252, 9)
    1.0
    """
    low, high = max(0, first + second - rows), min(first, second)
    at = np.arange(low, high + 1, dtype=np.float64)
    logs = (
        gammaln(first + 1)
        - gammaln(at + 1)
        - gammaln(first - at + 1)
        + gammaln(rows - first + 1)
        - gammaln(second - at + 1)
        - gammaln(rows - first - second + at + 1)
        - log_choose(rows, second)
    )
    split = overlap - low
    return (
        min(0.0, float(logsumexp(logs[split:]))),
        min(0.0, float(logsumexp(logs[: split + 1]))),
    )


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
    column = table.parity(members)
    equal = int(np.count_nonzero(column == table.label_bits))
    log_p = log_dependence(column, table.label_bits)
    # The sign is that of the dependence, which differs from the majority's if labels are biased.
    ones, minus = int(column.sum(dtype=np.int64)), int(table.label_bits.sum(dtype=np.int64))
    overlap = int(np.count_nonzero(column & table.label_bits))
    sign = 1 if overlap * table.rows >= ones * minus else -1
    fitting = equal if sign == 1 else table.rows - equal
    if members:
        log_p += log_family(max(table.distinct, len(members)), len(members), known)
    return Fit(members, sign, fitting, log_p)


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


def better_table(table: Table, found: Fit, alpha: float) -> str | None:
    """One sentence if another function of the same columns fits significantly better, else None.

    Two tests, each at alpha/2: whether in some cell of the columns most rows contradict the parity,
    and whether its errors depend on some of its columns. Noise that only depends on the parity
    itself, such as labels lost in one direction, leaves it a parity.
    """
    if not found.subset or found.fitting == table.rows:
        return None
    predicted = table.parity(found.subset) ^ (found.sign < 0)
    errors = (predicted != table.label_bits).astype(np.uint8)
    names = ", ".join(str(each) for each in found.subset)
    if len(found.subset) <= MOST_CELLS:
        better = _majority(table, found, errors, alpha / 2)
        if better is not None:
            fitting, log_p = better
            return (
                f"not a parity: the majority in each cell of columns ({names}) fits "
                f"{fitting / table.rows:.1%} of the rows, the parity "
                f"{found.fitting / table.rows:.1%} ({_p_text(log_p)})"
            )
    sizes = range(1, len(found.subset)) if len(found.subset) <= MOST_CELLS else (1, 2)
    parts = [part for size in sizes for part in combinations(found.subset, size)]
    if not parts:
        return None
    logs = [log_dependence(table.parity(part), errors) for part in parts]
    at = int(np.argmin(logs))
    log_p = min(0.0, logs[at] + math.log(len(parts)))
    if log_p > math.log(alpha / 2):
        return None
    odd = table.parity(parts[at]).astype(bool)
    what = "column" if len(parts[at]) == 1 else "xor of columns"
    return (
        f"not a plain parity: it fails on {errors[~odd].mean():.1%} of the rows where the {what} "
        f"{', '.join(map(str, parts[at]))} is 0 and on {errors[odd].mean():.1%} where it is 1 "
        f"({_p_text(log_p)})"
    )


def _majority(
    table: Table, found: Fit, errors: np.ndarray, level: float
) -> tuple[int, float] | None:
    """Rows the best table fits and the log p-value, if it differs significantly from the parity."""
    weights = 1 << np.arange(len(found.subset))
    cells = table.bits[:, list(found.subset)].astype(np.int64) @ weights
    count = np.bincount(cells, minlength=1 << len(found.subset))
    wrong = np.bincount(cells, weights=errors, minlength=len(count)).astype(np.int64)
    worse = np.flatnonzero(2 * wrong > count)
    if not len(worse):
        return None
    # P(at least `wrong` of `count` contradict) if each does with chance 1/2.
    tails = betainc(wrong[worse], count[worse] - wrong[worse] + 1, 0.5)
    log_p = math.log(max(tails.min(), 1e-300)) + math.log(np.count_nonzero(count))
    if log_p > math.log(level):
        return None
    return int(np.maximum(wrong, count - wrong).sum()), min(0.0, log_p)


def _p_text(log_p: float) -> str:
    return f"p = {math.exp(log_p):.1g}" if log_p > -690 else "p < 1e-299"
