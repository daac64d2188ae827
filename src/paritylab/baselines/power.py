"""How many rows support a parity, and how much noise they tolerate.

For fair bits, a parity and noise ν the four counts of (parity, label) are multinomial; the power is
their probability wherever the conditional test of `significance` rejects. Beyond a thousand rows
the normal approximation is as good: with contrast c = 1 - 2ν the correlation of N rows is about
normal with mean c and standard error √((1 - c²)/N), and it must exceed q/√N, q the quantile of the
level.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri, ndtri_exp

from paritylab._support.checks import whole
from paritylab.baselines.significance import log_choose, log_family, log_overlap_tails

#: Columns beyond which counts of subsets lose their meaning.
MOST_BITS = 2**31 - 1
#: Up to this many rows the parity's margin is summed over; beyond, five points of Gauss and
#: Hermite stand for its nearly normal distribution.
EXACT_ROWS = 100
#: Beyond this many rows the normal approximation is as good as sums.
NORMAL_ROWS = 1000
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
#: Halvings that place a noise level between 0 and 1/2.
HALVINGS = 12


def _check(n: int, k: int, noise: float, alpha: float, power: float = 0.5) -> None:
    """One clear error for numbers out of range."""
    whole("k", k, 1, whole("n", n, 1, MOST_BITS))
    if not (0 <= noise < 0.5 and 0 < alpha < 1 and 0 < power < 1):
        raise ValueError(
            "need noise in [0, 0.5), alpha and power in (0, 1), got "
            f"noise={noise}, alpha={alpha}, power={power}"
        )


def rows_needed(
    n: int, k: int, noise: float, alpha: float = 0.01, power: float = 0.99, known_size: bool = True
) -> int:
    """The least number of rows at which a k-parity of n fair bits is supported with this power.

    noise: ν. alpha: level after correction. known_size: whether the size k is given.

    >>> rows_needed(200, 3, 0.0), rows_needed(200, 3, 0.2)
    (37, 168)
    """
    _check(n, k, noise, alpha, power)
    level = round(math.log(alpha) - log_family(n, k, known_size), 9)
    estimate = max(4, math.ceil(_normal_rows(level, noise, power)))
    low, high = max(3, int(0.97 * estimate) - 2), int(1.05 * estimate) + 8
    while _power(low, level, noise) >= power:
        low = low // 2
    while _power(high, level, noise) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(middle, level, noise) >= power else (middle, high)
    # Power is a saw in the number of rows: look a little below for a smaller one that serves.
    for rows in range(max(4, high - max(4, high // 50)), high):
        if rows <= EXACT_ROWS and _power(rows, level, noise) >= power:
            return rows
    return high


def approximate_rows_needed(
    n: int, k: int, noise: float, alpha: float = 0.01, power: float = 0.99, known_size: bool = True
) -> int:
    """`rows_needed` to a few percent and a few rows, at once: by the normal approximation.

    >>> approximate_rows_needed(200, 3, 0.2), rows_needed(200, 3, 0.2)
    (171, 168)
    """
    level = math.log(alpha) - log_family(n, k, known_size)
    # Counts are coarser than the approximation: about eight rows, at any level and noise.
    return math.ceil(_normal_rows(level, noise, power)) + 8


@lru_cache(maxsize=4096)
def detectable_noise(
    n: int, k: int, rows: int, alpha: float = 0.01, power: float = 0.99, known_size: bool = True
) -> float | None:
    """The largest noise at which these rows support a k-parity with this power; None if none.

    >>> round(detectable_noise(200, 3, 168), 2)
    0.2
    """
    _check(n, k, 0.0, alpha, power)
    if rows < 1:
        raise ValueError(f"there must be at least one row, got rows={rows}")
    level = math.log(alpha) - log_family(n, k, known_size)
    if _power(rows, level, 0.0) < power:
        return None
    low, high = 0.0, 0.5
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _power(rows, level, middle) >= power else (low, middle)
    return low


def support_power(
    n: int, k: int, rows: int, noise: float, alpha: float = 0.01, known_size: bool = True
) -> float:
    """The chance that `rows` rows support a k-parity of n fair bits at level alpha."""
    _check(n, k, noise, alpha)
    return _power(whole("rows", rows, 1), math.log(alpha) - log_family(n, k, known_size), noise)


# The normal approximation.


def _quantile(level: float) -> float:
    """Standard errors that a two-sided test asks for; level: logarithm of its p-value."""
    return -float(ndtri_exp(level - math.log(2)))


def _normal_power(rows: int, level: float, noise: float) -> float:
    contrast = 1 - 2 * noise
    excess = contrast * math.sqrt(rows) - _quantile(level)
    return float(ndtr(excess / math.sqrt(1 - contrast**2))) if noise else float(excess >= 0)


def _normal_rows(level: float, noise: float, power: float) -> float:
    """Rows at which a normal correlation exceeds its threshold with this power."""
    contrast = 1 - 2 * noise
    margin = float(ndtri(power)) * math.sqrt(1 - contrast**2)
    return ((_quantile(level) + margin) / contrast) ** 2


# Sums.


@lru_cache(maxsize=4096)
def _power(rows: int, level: float, noise: float) -> float:
    """P(log of the two-sided conditional p-value ≤ level)."""
    if rows > NORMAL_ROWS:
        return _normal_power(rows, level, noise)
    # The other half of the margins is the same with parity and label both negated.
    if rows <= EXACT_ROWS:
        margins = _probable_counts(rows, 0.5)
        margins = margins[2 * margins >= rows]
        chances = _pmf(rows, 0.5, margins) * np.where(2 * margins == rows, 1, 2)
    else:
        margins = np.round(rows / 2 + _NODES * math.sqrt(rows) / 2).astype(int)
        chances = _WEIGHTS
    total = sum(
        chance * _conditional_power(rows, ones, level, noise)
        for ones, chance in zip(margins.tolist(), chances.tolist(), strict=True)
    )
    return float(total / chances.sum())


def _conditional_power(rows: int, ones: int, level: float, noise: float) -> float:
    """The power given that the parity is -1 in `ones` rows.

    Of those rows `lost` labels are flipped, of the others `gained`, so that the label is -1 in
    ones - lost + gained rows, and parity and label both are in ones - lost.
    """
    lost, gained = _probable_counts(ones, noise), _probable_counts(rows - ones, noise)
    weight = _pmf(ones, noise, lost)[:, None] * _pmf(rows - ones, noise, gained)[None, :]
    minus = ones - lost[:, None] + gained[None, :]
    rejected = (ones - lost)[:, None] >= _thresholds(rows, ones, level)[minus]
    return float(weight[rejected].sum() / weight.sum())


@lru_cache(maxsize=4096)
def _thresholds(rows: int, ones: int, level: float) -> np.ndarray:
    """For every probable number of labels -1 the least overlap that is significant; rows + 1 for
    the others."""
    thresholds = np.full(rows + 1, rows + 1)
    minus = np.union1d(_probable_counts(rows, 0.5), [ones])
    thresholds[minus] = least_overlaps(rows, ones, minus, level)
    return thresholds


def least_overlaps(rows: int, ones: int, minus: np.ndarray, level: float) -> np.ndarray:
    """The least number of rows with parity and label -1 that is significant, given both margins.

    minus: rows labelled -1, several. It is rows + 1 where no overlap is significant.
    """
    upper = np.minimum(ones, minus)
    low, high = ones * minus // rows, upper + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        above, _ = log_overlap_tails(rows, minus, ones, middle)
        significant = above + math.log(2) <= level
        low, high = np.where(significant, low, middle), np.where(significant, middle, high)
    return np.where(high <= upper, high, rows + 1)


def _probable_counts(trials: int, chance: float) -> np.ndarray:
    """Counts that a binomial takes but for a chance of about 1e-6."""
    middle, reach = trials * chance, 5 * math.sqrt(trials * chance * (1 - chance)) + 5
    if chance in (0, 1):
        return np.array([trials * int(chance)], dtype=np.int64)
    return np.arange(max(0, int(middle - reach)), min(trials, int(middle + reach)) + 1)


def _pmf(trials: int, chance: float, counts: np.ndarray) -> np.ndarray:
    if chance in (0, 1):
        return np.where(counts == trials * chance, 1.0, 0.0)
    logs = log_choose(trials, counts) + counts * math.log(chance)
    pmf: np.ndarray = np.exp(logs + (trials - counts) * math.log1p(-chance))
    return pmf
