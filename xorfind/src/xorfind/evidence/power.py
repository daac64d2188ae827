"""How many rows support a parity, and how noisy one may be to be seen: summed, not guessed.

For fair bits, a parity and noise ν the four counts of (parity, label) are multinomial; the power is
their probability wherever the conditional test of `evidence` rejects.
"""

import math
import numbers
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri, ndtri_exp

from xorfind.checks import check_kind, whole
from xorfind.evidence.levels import (
    log_choose_all,
    log_factorials,
    log_family,
    log_overlap_tails,
)

#: Columns beyond which counts of subsets lose their meaning.
MOST_BITS = 2**31 - 1
#: Up to this many rows the parity's margin is summed over; beyond, five points of Gauss and
#: Hermite stand for its nearly normal distribution.
EXACT_ROWS = 100
#: Beyond this many rows the bell curve is as good as sums.
BELL_ROWS = 1000
_NODES = np.array(
    [-2.856970013872806, -1.355626179974266, 0.0, 1.355626179974266, 2.856970013872806]
)
_WEIGHTS = np.array([0.011257411, 0.222075922, 0.533333333, 0.222075922, 0.011257411])


def _check(n: int, k: int, noise: float, alpha: float, power: float = 0.5) -> None:
    """One line for what is no problem of this kind."""
    whole("k", k, 1, whole("n", n, 1, MOST_BITS))
    for name, value in (("noise", noise), ("alpha", alpha), ("power", power)):
        check_kind(name, value, numbers.Real, "a number")
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
    level = math.log(alpha) - log_family(n, k, known)
    return _least_rows(round(level, 9), float(noise), float(power))


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


@lru_cache(maxsize=1024)
def _least_rows(level: float, noise: float, power: float) -> int:
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
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if _power(rows, level, middle) >= power else (low, middle)
    return low


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


def _bell_correlation(rows: int, level: float, power: float) -> float:
    """The correlation r with (r·sqrt(rows) - quantile)/sqrt(1-r²) = the power's quantile, or 1."""
    quantile, more = -float(ndtri_exp(level - math.log(2))), float(ndtri(power))
    inside = max(0.0, more**2 * (rows + more**2 - quantile**2))
    return min(1.0, (quantile * math.sqrt(rows) + math.sqrt(inside)) / (rows + more**2))


def _agreement_given(rows: int, ones: int, minus: int, level: float, power: float) -> float | None:
    """The least agreement with this power of a parity that is -1 in `ones` rows; None if none.

    both: the share of rows in which parity and label are -1, from independence to its most.
    """
    if not 0 < ones < rows or not 0 < minus < rows:
        return None
    odd, share = ones / rows, minus / rows
    reaches = _power_bell if rows > BELL_ROWS else _power_summed
    low, high = odd * share, min(odd, share)
    if reaches(rows, ones, minus, level, high) < power:
        return None
    for _ in range(12):
        middle = (low + high) / 2
        enough = reaches(rows, ones, minus, level, middle) >= power
        low, high = (low, middle) if enough else (middle, high)
    return 1 - odd - share + 2 * high


def _chances(rows: int, ones: int, minus: int, both: float) -> tuple[float, float]:
    """How often the label is not -1 where the parity is, and -1 where it is not."""
    lost, gained = 1 - both * rows / ones, (minus - both * rows) / (rows - ones)
    return min(max(lost, 0.0), 1.0), min(max(gained, 0.0), 1.0)


def _power_summed(rows: int, ones: int, minus: int, level: float, both: float) -> float:
    losing, gaining = _chances(rows, ones, minus, both)
    return _power_given(rows, ones, level, losing, gaining, minus / rows)


def _power_bell(rows: int, ones: int, minus: int, level: float, both: float) -> float:
    """The same for many rows: the overlap beyond what chance gives is about normal."""
    losing, gaining = _chances(rows, ones, minus, both)
    odd = ones / rows
    spread = (1 - odd) ** 2 * ones * losing * (1 - losing)
    spread += odd**2 * (rows - ones) * gaining * (1 - gaining)
    beyond = rows * both - _least_overlap(rows, ones, minus, level)
    return float(ndtr(beyond / math.sqrt(spread))) if spread else float(beyond >= 0)


@lru_cache(maxsize=256)
def _least_overlap(rows: int, ones: int, minus: int, level: float) -> int:
    """The least number of rows with parity and label -1 that is significant, given both margins."""
    low, high = ones * minus // rows, min(ones, minus) + 1
    while high - low > 1:
        # A few dozen overlaps at a time: a handful of rounds for any number of rows.
        tried = np.unique(np.linspace(low, high, 34).astype(np.int64))[1:-1]
        above, _ = log_overlap_tails(rows, np.full(len(tried), ones), minus, tried)
        significant = above + math.log(2) <= level
        high = int(tried[significant].min(initial=high))
        low = int(tried[~significant].max(initial=low))
    return high if high <= min(ones, minus) else rows + 1


def support_power(
    n: int, k: int, rows: int, noise: float, alpha: float = 0.01, known: bool = True
) -> float:
    """The chance that `rows` rows support a k-parity of n fair bits at level alpha."""
    _check(n, k, noise, alpha)
    return _power(whole("rows", rows, 1), math.log(alpha) - log_family(n, k, known), noise)


@lru_cache(maxsize=4096)
def _power(rows: int, level: float, noise: float) -> float:
    """P(log of the two-sided conditional p-value ≤ level)."""
    if rows > BELL_ROWS:
        return 1.0 if _bell_rows(level, noise, 1 - 1e-9) < rows else _bell_power(rows, level, noise)
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


def _bell_power(rows: int, level: float, noise: float) -> float:
    contrast, quantile = 1 - 2 * noise, -float(ndtri_exp(level - math.log(2)))
    return float(ndtr((contrast * math.sqrt(rows) - quantile) / math.sqrt(1 - contrast**2)))


def _bell_rows(level: float, noise: float, power: float) -> float:
    """Rows at which a normal correlation exceeds its threshold with this power."""
    contrast, quantile = 1 - 2 * noise, -float(ndtri_exp(level - math.log(2)))
    return ((quantile + float(ndtri(power)) * math.sqrt(1 - contrast**2)) / contrast) ** 2


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
    overlap = np.broadcast_to((ones - lost)[:, None], minus.shape)
    rejected = overlap >= _thresholds(rows, ones, level, share)[minus]
    return float(weight[rejected].sum() / weight.sum())


@lru_cache(maxsize=4096)
def _thresholds(rows: int, ones: int, level: float, share: float) -> np.ndarray:
    """For every number of labels -1, the least overlap that is significant.

    share: of labels that are -1, about. It is rows + 1 where no overlap is significant, and where
    the number of labels is as good as impossible.
    """
    least = np.full(rows + 1, rows + 1)
    minus = np.union1d(_likely(rows, share), [ones])[:, None]
    # No overlap below what chance alone gives is significant.
    by_chance = ones * min(ones, int(share * rows)) // rows
    overlap = np.arange(ones, by_chance - 3 * math.isqrt(rows), -1)
    overlap = overlap[overlap >= 0][None, :]
    inside = (overlap <= minus) & (minus - overlap <= rows - ones)
    known = log_factorials(rows)
    other = np.where(inside, minus - overlap, 0)
    logs = known[ones] - known[overlap] - known[ones - overlap] + known[rows - ones]
    logs = logs - known[other] - known[np.where(inside, rows - ones - other, 0)]
    logs = np.where(inside, logs - (known[rows] - known[minus] - known[rows - minus]), -np.inf)
    significant = inside & (np.logaddexp.accumulate(logs, axis=1) + math.log(2) <= level)
    reached = np.where(significant, overlap, rows + 1).min(axis=1)
    least[minus[:, 0]] = reached
    return least


def _likely(trials: int, chance: float) -> np.ndarray:
    """Counts that a binomial takes but for a chance of about 1e-6."""
    middle, reach = trials * chance, 5 * math.sqrt(trials * chance * (1 - chance)) + 5
    if chance in (0, 1):
        return np.array([trials * int(chance)], dtype=np.int64)
    return np.arange(max(0, int(middle - reach)), min(trials, int(middle + reach)) + 1)


def _pmf(trials: int, chance: float, counts: np.ndarray) -> np.ndarray:
    if chance in (0, 1):
        return np.where(counts == trials * chance, 1.0, 0.0)
    logs = log_choose_all(trials, counts) + counts * math.log(chance)
    made: np.ndarray = np.exp(logs + (trials - counts) * math.log1p(-chance))
    return made
