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
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, gammaln

from paritylab.solvers.table import Table

#: Up to this many columns all cells of a subset are looked at.
MOST_CELLS = 10


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


def better_table(table: Table, found: Fit, alpha: float) -> str | None:
    """One sentence if another function of the columns fits significantly better, else None.

    Three tests, each at alpha/3: whether in some cell of the columns most rows contradict the
    parity; whether its errors depend on some of its columns or on a single other one; whether it
    fails more often on one side than on the other.
    """
    if not found.subset or found.fitting == table.rows:
        return None
    predicted = table.parity(found.subset) ^ np.uint8(found.sign < 0)
    errors = (predicted != table.label_bits).astype(np.uint8)
    return (
        _majority(table, found, errors, alpha / 3)
        or _uneven(table, found, errors, alpha / 3)
        or _one_sided(predicted, errors, alpha / 3)
    )


def _uneven(table: Table, found: Fit, errors: np.ndarray, level: float) -> str | None:
    """Whether errors depend on a part of the subset or on one more column."""
    sizes = range(1, len(found.subset)) if len(found.subset) <= MOST_CELLS else (1, 2)
    parts = [part for size in sizes for part in combinations(found.subset, size)]
    parts += [(column,) for column in table.kept.tolist() if column not in found.subset]
    if not parts:
        return None
    at = _most_dependent(table, parts, errors)
    log_p = min(0.0, log_dependence(table.parity(parts[at]), errors) + math.log(len(parts)))
    if log_p > math.log(level):
        return None
    odd = table.parity(parts[at]).astype(bool)
    what = "column" if len(parts[at]) == 1 else "xor of columns"
    return (
        f"not a plain parity: it fails on {errors[~odd].mean():.1%} of the rows where the {what} "
        f"{', '.join(map(str, parts[at]))} is 0 and on {errors[odd].mean():.1%} where it is 1 "
        f"({_p_text(log_p)})"
    )


def _most_dependent(table: Table, parts: list[tuple[int, ...]], errors: np.ndarray) -> int:
    """The part whose parity correlates most with the errors."""
    centred = errors - errors.mean()
    scores = np.empty(len(parts))
    for start in range(0, len(parts), 256):
        some = np.array([table.parity(part) for part in parts[start : start + 256]], np.float64)
        spread = np.maximum(some.var(axis=1), 1e-12)
        scores[start : start + len(some)] = (some @ centred) ** 2 / spread
    return int(scores.argmax())


def _one_sided(predicted: np.ndarray, errors: np.ndarray, level: float) -> str | None:
    """Whether the parity fails more often where it says -1 than where it says +1."""
    minus = predicted.astype(bool)
    log_p = log_dependence(predicted, errors)
    if log_p > math.log(level):
        return None
    return (
        f"uneven noise: it fails on {errors[~minus].mean():.1%} of the rows it calls +1 and on "
        f"{errors[minus].mean():.1%} of those it calls -1 ({_p_text(log_p)})"
    )


def _majority(table: Table, found: Fit, errors: np.ndarray, level: float) -> str | None:
    """Whether most rows of some cell contradict the parity, more than chance would have it."""
    if len(found.subset) > MOST_CELLS:
        return None
    weights = 1 << np.arange(len(found.subset))
    cells = table.bits[:, list(found.subset)].astype(np.int64) @ weights
    count = np.bincount(cells, minlength=1 << len(found.subset))
    wrong = np.bincount(cells, weights=errors, minlength=len(count)).astype(np.int64)
    worse = np.flatnonzero(2 * wrong > count)
    if not len(worse):
        return None
    # P(at least `wrong` of `count` contradict) if each does with chance 1/2.
    tails = betainc(wrong[worse], count[worse] - wrong[worse] + 1, 0.5)
    log_p = min(0.0, math.log(max(tails.min(), 1e-300)) + math.log(np.count_nonzero(count)))
    if log_p > math.log(level):
        return None
    names = ", ".join(str(each) for each in found.subset)
    fitting = int(np.maximum(wrong, count - wrong).sum())
    return (
        f"not a parity: the majority in each cell of columns ({names}) fits "
        f"{fitting / table.rows:.1%} of the rows, the parity {found.fitting / table.rows:.1%} "
        f"({_p_text(log_p)})"
    )


def _p_text(log_p: float) -> str:
    return f"p = {math.exp(log_p):.1g}" if log_p > -690 else "p < 1e-299"
