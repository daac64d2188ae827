"""Is it a parity at all? Other functions of the same columns and of a few more.

A parity with noise below one half is the more frequent answer to every combination of its columns
and of any others. A combination in which most rows say otherwise, beyond luck among all that could
have been looked at, shows that the parity is only a part of another function. Of an AND of two
columns each alone fits 3 rows in 4 and looks like a noisy parity of one column; so does each
column of a majority of three.
"""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from paritylab.discovery.words import chance, percent

#: Columns whose combinations are tabulated at most, and columns tried beside the parity's own.
_MOST_COLUMNS, _MOST_MORE, _CANDIDATES = 8, 2, 4


class Better(NamedTuple):
    """A function that fits better than a parity. columns: of the matrix. fits, parity: shares of
    rows. p_value: of a contradiction this strong if the parity held more often than not."""

    columns: tuple[int, ...]
    fits: float
    parity: float
    p_value: float

    def told(self, names: list[str]) -> str:
        """The finding as a sentence; names: of all columns of the matrix."""
        columns = ", ".join(names[at] for at in self.columns)
        return (
            f"the more frequent answer to each combination of {{{columns}}} fits "
            f"{percent(self.fits)} of rows, the best parity {percent(self.parity)} "
            f"(chance of seeing this by luck {chance(self.p_value)})"
        )


def better_function(
    bits: np.ndarray, target: np.ndarray, subset: tuple[int, ...], odd: bool, alpha: float
) -> Better | None:
    """A table of the parity's columns and up to two more that contradicts it significantly."""
    own = list(subset)
    wrong = np.bitwise_xor.reduce(bits[:, own], axis=1) ^ (0 if odd else 1) ^ target
    if not wrong.any() or len(own) > _MOST_COLUMNS:
        return None
    cells = bits[:, own].astype(np.int64) @ (1 << np.arange(len(own)))
    leading = _dependent(bits, wrong, cells, own)
    best: tuple[float, tuple[int, ...]] = (math.log(alpha), ())
    tables = [more for size in range(_MOST_MORE + 1) for more in combinations(leading, size)]
    for more in tables:
        count, missed = _counts(cells, wrong, bits, more, len(own))
        # Bonferroni over all tables of this size, their combinations, and the three sizes.
        looked = math.comb(bits.shape[1], len(more)) * len(count) * (_MOST_MORE + 1)
        tail = _contradiction(count, missed) + math.log(looked)
        if tail < best[0]:
            best = (tail, (*own, *more))
    if not best[1]:
        return None
    count, missed = _counts(cells, wrong, bits, best[1][len(own) :], len(own))
    fits = int(np.maximum(missed, count - missed).sum()) / len(target)
    return Better(tuple(sorted(best[1])), fits, 1 - float(wrong.mean()), math.exp(best[0]))


def _dependent(bits: np.ndarray, wrong: np.ndarray, cells: np.ndarray, own: list[int]) -> list[int]:
    """The columns on which it depends most, within the cells, whether a row fits the parity."""
    score = np.zeros(bits.shape[1])
    for cell in np.unique(cells):
        rows = cells == cell
        errors, here = wrong[rows].astype(np.float32), bits[rows]
        share, ones = float(errors.mean()), here.mean(axis=0)
        if not 0 < share < 1:
            continue
        covariance = (errors - share) @ here.astype(np.float32)
        spread = len(errors) * share * (1 - share) * ones * (1 - ones)
        score += np.divide(covariance**2, spread, out=np.zeros_like(score), where=spread > 0)
    score[own] = -1
    return [int(at) for at in np.argsort(-score)[:_CANDIDATES] if score[at] > 0]


def _counts(
    cells: np.ndarray, wrong: np.ndarray, bits: np.ndarray, more: tuple[int, ...], size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and rows that contradict the parity, in every combination of the columns."""
    place = cells
    for at, column in enumerate(more):
        place = place + (bits[:, column].astype(np.int64) << (size + at))
    count = np.bincount(place, minlength=1 << (size + len(more)))
    missed = np.bincount(place, weights=wrong, minlength=len(count)).astype(np.int64)
    return count, missed


def _contradiction(count: np.ndarray, missed: np.ndarray) -> float:
    """Log chance of the strongest majority against the parity in one combination."""
    from scipy.stats import binom

    against = np.flatnonzero(2 * missed > count)
    if not against.size:
        return 0.0
    return float(binom.logsf(missed[against] - 1, count[against], 0.5).min())
