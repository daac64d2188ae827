"""How many rows support a parity, and how noisy one may be to be seen: summed, not guessed.

For fair bits, a parity and noise ν the four counts of (parity, label) are multinomial; the power is
their probability wherever the conditional test of `levels` rejects. Beyond a thousand rows the bell
curve is as good: with contrast c = 1 - 2ν the correlation of N rows is about normal with mean c and
standard error √((1 - c²)/N), and it must exceed q/√N, q the quantile of the level.
"""

import math
from functools import lru_cache, partial

import numpy as np
from scipy.special import ndtr, ndtri, ndtri_exp

from xorfind.checks import whole
from xorfind.evidence.levels import log_choose, log_family, log_overlap_tails

#: Columns beyond which counts of subsets lose their meaning.
MOST_BITS = 2**31 - 1
#: Up to this many rows the parity's margin is summed over; beyond, five points of Gauss and
#: Hermite stand for its nearly normal distribution.
EXACT_ROWS = 100
#: Beyond this many rows the bell curve is as good as sums.
BELL_ROWS = 1000
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
#: Halvings that place a noise or an agreement between 0 and 1/2.
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
    n: int, k: int, noise: float, alpha: float = 0.01, power: float = 0.99, known: bool = True
) -> int:
    """The least number of rows at which a k-parity of n fair bits is supported with this power.

    noise: ν. alpha: level after correction. known: whether the size k is given.

    >>> rows_needed(200, 3, 0.0), rows_needed(200, 3, 0.2)
    (37, 168)
    """
    _check(n, k, noise, alpha, power)
    level = round(math.log(alpha) - log_family(n, k, known), 9)
    bell = max(4, math.ceil(_bell_rows(level, noise, power)))
    low, high = max(3, int(0.97 * bell) - 2), int(1.05 * bell) + 8
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


def rows_about(
    n: int, k: int, noise: float, alpha: float = 0.01, power: float = 0.99, known: bool = True
) -> int:
    """`rows_needed` to a few percent and a few rows, at once: by the bell curve.

    >>> rows_about(200, 3, 0.2), rows_needed(200, 3, 0.2)
    (171, 168)
    """
    level = math.log(alpha) - log_family(n, k, known)
    # Counts are coarser than the curve: about eight rows, at any level and noise.
    return math.ceil(_bell_rows(level, noise, power)) + 8


@lru_cache(maxsize=4096)
def detectable_noise(
    n: int, k: int, rows: int, alpha: float = 0.01, power: float = 0.99, known: bool = True
) -> float | None:
    """The largest noise at which these rows support a k-parity with this power; None if none.

    >>> round(detectable_noise(200, 3, 168), 2)
    0.2
    """
    _check(n, k, 0.0, alpha, power)
    if rows < 1:
        raise ValueError(f"there must be at least one row, got rows={rows}")
    level = math.log(alpha) - log_family(n, k, known)
    if _power(rows, level, 0.0) < power:
        return None
    low, high = 0.0, 0.5
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _power(rows, level, middle) >= power else (low, middle)
    return low


def support_power(
    n: int, k: int, rows: int, noise: float, alpha: float = 0.01, known: bool = True
) -> float:
    """The chance that `rows` rows support a k-parity of n fair bits at level alpha."""
    _check(n, k, noise, alpha)
    return _power(whole("rows", rows, 1), math.log(alpha) - log_family(n, k, known), noise)


@lru_cache(maxsize=1024)
def least_agreement(
    n: int,
    k: int,
    rows: int,
    minus: int,
    imbalance: tuple[float, float],
    alpha: float = 0.01,
    power: float = 0.99,
    known: bool = True,
) -> float | None:
    """The least share of rows such that a k-parity that fits it is supported with this power.

    minus: rows labelled -1. imbalance: the least and the largest |mean| that a product of k columns
    ±1 has. How many rows a parity can fit, and how many it fits by luck, depends on both. None: no
    parity with such a mean, however clean, is sure to be supported.

    >>> round(least_agreement(20, 2, 200, 100, (0, 0.1)), 3)
    0.723
    >>> least_agreement(20, 2, 200, 10, (0, 0.1)) is None
    True
    """
    level = math.log(alpha) - log_family(n, k, known)
    mean = 1 - 2 * minus / rows
    # With the mean m of the labels and s of the parity, agreement is needed most at the s where
    # s·m + r·sqrt((1-s²)(1-m²)) peaks, r the correlation needed; more one-sided labels, larger s.
    needed = _bell_correlation(rows, level, power)
    peak = abs(mean) / math.hypot(mean, needed * math.sqrt(1 - mean**2)) if mean else 0.0
    seen, unseen = list[float](), [0.0]
    least, most = imbalance
    for bias in {math.copysign(each, mean) for each in (least, min(max(peak, least), most))}:
        ones = round(rows * (1 - bias) / 2)
        share = _agreement_given(rows, ones, minus, level, power)
        seen += [] if share is None else [share]
        unseen += [1 - abs(bias - mean) / 2] if share is None else []
    # Where parities of one mean cannot be seen at all, only a better fit than theirs is sure to be.
    return max(*seen, *unseen) if seen and max(seen) >= max(unseen) else None


# The bell curve.


def _quantile(level: float) -> float:
    """Standard errors that a two-sided test asks for; level: logarithm of its p-value."""
    return -float(ndtri_exp(level - math.log(2)))


def _bell_power(rows: int, level: float, noise: float) -> float:
    contrast = 1 - 2 * noise
    beyond = contrast * math.sqrt(rows) - _quantile(level)
    return float(ndtr(beyond / math.sqrt(1 - contrast**2))) if noise else float(beyond >= 0)


def _bell_rows(level: float, noise: float, power: float) -> float:
    """Rows at which a normal correlation exceeds its threshold with this power."""
    contrast = 1 - 2 * noise
    more = float(ndtri(power)) * math.sqrt(1 - contrast**2)
    return ((_quantile(level) + more) / contrast) ** 2


def _bell_correlation(rows: int, level: float, power: float) -> float:
    """The correlation r with (r·sqrt(rows) - quantile)/sqrt(1-r²) = the power's quantile, or 1."""
    quantile, more = _quantile(level), float(ndtri(power))
    inside = max(0.0, more**2 * (rows + more**2 - quantile**2))
    return min(1.0, (quantile * math.sqrt(rows) + math.sqrt(inside)) / (rows + more**2))


# Sums.


@lru_cache(maxsize=4096)
def _power(rows: int, level: float, noise: float) -> float:
    """P(log of the two-sided conditional p-value ≤ level)."""
    if rows > BELL_ROWS:
        return _bell_power(rows, level, noise)
    # The other half of the margins is the same with parity and label both turned round.
    if rows <= EXACT_ROWS:
        margins = _likely(rows, 0.5)
        margins = margins[2 * margins >= rows]
        chances = _pmf(rows, 0.5, margins) * np.where(2 * margins == rows, 1, 2)
    else:
        margins = np.round(rows / 2 + _NODES * math.sqrt(rows) / 2).astype(int)
        chances = _WEIGHTS
    total = sum(
        chance * _power_given(rows, ones, level, noise, noise, 0.5)
        for ones, chance in zip(margins.tolist(), chances.tolist(), strict=True)
    )
    return float(total / chances.sum())


def _power_given(
    rows: int, ones: int, level: float, losing: float, gaining: float, share: float
) -> float:
    """The power given in how many rows the parity is -1.

    Of those `ones` rows `lost` are flipped, each with chance `losing`, and `gained` of the others,
    each with chance `gaining`, so that the label is -1 in ones - lost + gained rows, a share of
    about `share`, and both are in ones - lost.
    """
    lost, gained = _likely(ones, losing), _likely(rows - ones, gaining)
    weight = _pmf(ones, losing, lost)[:, None] * _pmf(rows - ones, gaining, gained)[None, :]
    minus = ones - lost[:, None] + gained[None, :]
    rejected = (ones - lost)[:, None] >= _thresholds(rows, ones, level, share)[minus]
    return float(weight[rejected].sum() / weight.sum())


@lru_cache(maxsize=4096)
def _thresholds(rows: int, ones: int, level: float, share: float) -> np.ndarray:
    """For every number of labels -1 that is likely with this share, the least overlap that is
    significant; rows + 1 for the others."""
    least = np.full(rows + 1, rows + 1)
    minus = np.union1d(_likely(rows, share), [ones])
    least[minus] = least_overlaps(rows, ones, minus, level)
    return least


def least_overlaps(rows: int, ones: int, minus: np.ndarray, level: float) -> np.ndarray:
    """The least number of rows with parity and label -1 that is significant, given both margins.

    minus: rows labelled -1, several. It is rows + 1 where no overlap is significant.
    """
    most = np.minimum(ones, minus)
    low, high = ones * minus // rows, most + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        above, _ = log_overlap_tails(rows, minus, ones, middle)
        significant = above + math.log(2) <= level
        low, high = np.where(significant, low, middle), np.where(significant, middle, high)
    return np.where(high <= most, high, rows + 1)


def _likely(trials: int, chance: float) -> np.ndarray:
    """Counts that a binomial takes but for a chance of about 1e-6."""
    middle, reach = trials * chance, 5 * math.sqrt(trials * chance * (1 - chance)) + 5
    if chance in (0, 1):
        return np.array([trials * int(chance)], dtype=np.int64)
    return np.arange(max(0, int(middle - reach)), min(trials, int(middle + reach)) + 1)


def _pmf(trials: int, chance: float, counts: np.ndarray) -> np.ndarray:
    if chance in (0, 1):
        return np.where(counts == trials * chance, 1.0, 0.0)
    logs = log_choose(trials, counts) + counts * math.log(chance)
    made: np.ndarray = np.exp(logs + (trials - counts) * math.log1p(-chance))
    return made


# Labels and parities that are not fair.


def _agreement_given(rows: int, ones: int, minus: int, level: float, power: float) -> float | None:
    """The least agreement with this power of a parity that is -1 in `ones` rows; None if none.

    both: the share of rows in which parity and label are -1, from independence to its most.
    """
    if not 0 < ones < rows or not 0 < minus < rows:
        return None
    odd, share = ones / rows, minus / rows
    reaches = partial(_power_at, rows, ones, minus, level)
    low, high = odd * share, min(odd, share)
    if reaches(high) < power:
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) >= power else (middle, high)
    return 1 - odd - share + 2 * high


def _power_at(rows: int, ones: int, minus: int, level: float, both: float) -> float:
    """The power if parity and label are -1 in a share `both` of the rows.

    losing, gaining: how often the label is not -1 where the parity is, and -1 where it is not. Of
    many rows the overlap beyond what chance gives is about normal.
    """
    losing = min(max(1 - both * rows / ones, 0.0), 1.0)
    gaining = min(max((minus - both * rows) / (rows - ones), 0.0), 1.0)
    if rows <= BELL_ROWS:
        return _power_given(rows, ones, level, losing, gaining, minus / rows)
    odd = ones / rows
    spread = (1 - odd) ** 2 * ones * losing * (1 - losing)
    spread += odd**2 * (rows - ones) * gaining * (1 - gaining)
    beyond = rows * both - _least_overlap(rows, ones, minus, level)
    return float(ndtr(beyond / math.sqrt(spread))) if spread else float(beyond >= 0)


@lru_cache(maxsize=256)
def _least_overlap(rows: int, ones: int, minus: int, level: float) -> int:
    return int(least_overlaps(rows, ones, np.array([minus]), level)[0])
