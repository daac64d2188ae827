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
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from paritylab.solvers.labelled_rows import LabelledRows

#: Subsets whose evidence is computed together.
TOGETHER = 128


def log_choose(n: float, k: float) -> float:
    """The logarithm of n over k."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_family(n: int, size: int, known: bool) -> float:
    """Log of what a subset's two-sided p-value is multiplied by; known: whether the size was."""
    return log_choose(n, size) + (0.0 if known else math.log(size * (size + 1)))


def log_overlap_tails(rows: int, first: Any, second: int, overlap: Any) -> tuple[Any, Any]:
    """log P(O ≥ overlap) and log P(O ≤ overlap) of two random sets of rows of given sizes.

    first, overlap: numbers, or arrays of one shape (cases,).

    >>> above, below = log_overlap_tails(10, 5, 5, 5)
    >>> round(math.exp(above) * 252, 9)
    1.0
    """
    known = log_factorials(rows)
    first, overlap = np.asarray(first)[..., None], np.asarray(overlap)[..., None]
    low, high = max(0, int(first.min()) + second - rows), min(int(first.max()), second)
    at = np.arange(low, high + 1)
    others, neither = first - at, rows - first - second + at
    logs = -known[at] - known[second - at] - known[others] - known[neither]
    logs += known[first] + known[rows - first] + known[second] + known[rows - second] - known[rows]
    logs[(others < 0) | (neither < 0)] = -np.inf
    return _log_sum(logs, at >= overlap), _log_sum(logs, at <= overlap)


def _log_sum(logs: np.ndarray, chosen: np.ndarray) -> Any:
    """log Σ exp of the log-probabilities chosen, along the last axis."""
    logs = np.where(chosen, logs, -np.inf)
    top = logs.max(axis=-1)
    return np.minimum(0.0, top + np.log(np.exp(logs - top[..., None]).sum(axis=-1)))


@lru_cache(maxsize=8)
def log_factorials(most: int) -> np.ndarray:
    """Logarithms of 0!, 1!, …, most!."""
    return np.asarray(gammaln(np.arange(most + 1) + 1.0))


def log_dependence(column: np.ndarray, labels: np.ndarray) -> float:
    """Log of the two-sided p-value of "these two rows of bits are independent"."""
    first, second = int(column.sum(dtype=np.int64)), int(labels.sum(dtype=np.int64))
    overlap = int(np.count_nonzero(column & labels))
    return min(
        0.0, math.log(2) + float(min(log_overlap_tails(len(labels), first, second, overlap)))
    )


class Fit(NamedTuple):
    """One subset on all rows: sign, how many rows fit, and its corrected log p-value.

    log_p may exceed 0, which ranks what is not significant at all.
    """

    subset: tuple[int, ...]
    sign: int
    fitting: int
    log_p: float


def fits(table: LabelledRows, subsets: Iterable[Iterable[int]], known: bool = False) -> list[Fit]:
    """Signs, agreements and p-values of subsets; known: whether their size was given."""
    chosen = [tuple(sorted(int(each) for each in subset)) for subset in subsets]
    made: list[Fit] = []
    for start in range(0, len(chosen), TOGETHER):
        made += _fits(table, chosen[start : start + TOGETHER], known)
    return made


def fit(table: LabelledRows, subset: Iterable[int], known: bool = False) -> Fit:
    """A subset's sign, agreement and p-value; known: whether its size was given."""
    return fits(table, [subset], known)[0]


def _fits(table: LabelledRows, subsets: list[tuple[int, ...]], known: bool) -> list[Fit]:
    columns, label = np.stack([table.parity(each) for each in subsets]), table.label_bits
    rows, minus = table.rows, int(np.count_nonzero(label))
    ones, overlap = np.count_nonzero(columns, axis=1), np.count_nonzero(columns & label, axis=1)
    # The sign is that of the dependence, which differs from the majority's if labels are biased.
    signs = np.where(overlap * rows >= ones * minus, 1, -1)
    equal = rows - ones - minus + 2 * overlap
    tails = np.minimum(*log_overlap_tails(rows, ones, minus, overlap))
    logs = np.minimum(0.0, math.log(2) + tails).tolist()
    fitting = np.where(signs == 1, equal, rows - equal).tolist()
    made = []
    for at, each in enumerate(subsets):
        price = log_family(max(table.distinct, len(each)), len(each), known) if each else 0.0
        made.append(Fit(each, int(signs[at]), fitting[at], logs[at] + price))
    return made
