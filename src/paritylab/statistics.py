"""Means, differences and laws of measured numbers; rates come from xorfind."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from xorfind.statistics import Method, Rate, rate_interval, share_text

__all__ = [
    "Mean",
    "Method",
    "PowerLaw",
    "Rate",
    "half_point",
    "half_point_interval",
    "pooled",
    "power_law",
    "rate_difference",
    "rate_interval",
    "share_text",
    "threshold_law",
]

#: Resamples behind an interval.
DRAWS = 400


def pooled(rates: Iterable[Rate]) -> Rate:
    """All runs as one rate.

    >>> print(pooled([Rate(1, 4), Rate(3, 4)]).count)
    4 of 8
    """
    parts = list(rates)
    return Rate(sum(each.successes for each in parts), sum(each.runs for each in parts))


@dataclass(frozen=True)
class Mean:
    """A mean of independent values with its 95 % interval (Student's t), and how many they are.

    >>> print(Mean.of([1.0, 2.0, 3.0]))
    2 [-0.484, 4.48] over 3
    """

    value: float
    low: float
    high: float
    runs: int

    @classmethod
    def of(cls, values: Any) -> "Mean":
        from scipy import stats

        array = np.asarray(values, dtype=np.float64).ravel()
        if array.size < 2:
            raise ValueError(f"an interval needs at least 2 values, got {array.size}")
        mean = float(array.mean())
        half = float(stats.t.ppf(0.975, array.size - 1) * stats.sem(array))
        return cls(mean, mean - half, mean + half, array.size)

    @property
    def interval(self) -> tuple[float, float]:
        return self.low, self.high

    def __str__(self) -> str:
        return f"{self.text} over {self.runs:,}"

    @property
    def text(self) -> str:
        """The mean with its interval, without the number of runs."""
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


def rate_difference(first: Rate, second: Rate) -> tuple[float, float]:
    """Newcombe's 95 % interval of the first rate minus the second, runs independent.

    Two intervals may meet and their rates still differ: this is shorter than what they leave.

    >>> low, high = rate_difference(Rate(56, 70), Rate(48, 80))
    >>> round(low, 3), round(high, 3)
    (0.052, 0.334)
    """
    gap = first.value - second.value
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    return gap - below, gap + above


class PowerLaw(NamedTuple):
    """y ≈ factor·x^exponent, with the exponent's 95 % interval.

    censored: resampled draws of `threshold_law` in which some size's half point lay outside its
    grid and was put at the grid's end.
    """

    exponent: float
    low: float
    high: float
    factor: float
    censored: int = 0

    def __str__(self) -> str:
        return f"{self.exponent:.2f} [{self.low:.2f}, {self.high:.2f}]"


def power_law(x: Any, y: Any) -> PowerLaw:
    """Least squares on logarithms; the interval is Student's, from the scatter around the line.

    >>> str(power_law([1, 2, 4, 8], [3, 12, 48, 192]))
    '2.00 [2.00, 2.00]'
    """
    from scipy import stats

    log_x, log_y = (np.log(np.asarray(values, dtype=np.float64)) for values in (x, y))
    if log_x.size < 3:
        raise ValueError(f"an exponent with an interval needs at least 3 points, got {log_x.size}")
    fit = stats.linregress(log_x, log_y)
    half = float(stats.t.ppf(0.975, log_x.size - 2) * fit.stderr)
    slope = float(fit.slope)
    return PowerLaw(slope, slope - half, slope + half, math.exp(fit.intercept))


def half_point(sizes: Any, successes: Any) -> float:
    """Size at which the success rate first reaches 1/2, between grid points in log size.

    successes: one row of flags per size. NaN if the rate stays on one side of 1/2.
    """
    rates = np.asarray(successes, dtype=np.float64).mean(axis=1)
    if rates[0] >= 0.5 or not (rates >= 0.5).any():
        return math.nan
    return float(math.exp(_log_half_point(np.log(np.asarray(sizes, dtype=np.float64)), rates)))


def _log_half_point(log_sizes: np.ndarray, rates: np.ndarray) -> float:
    """As `half_point`, in logs; a rate that stays on one side gives the grid's nearer end."""
    above = np.flatnonzero(rates >= 0.5)
    if not above.size:
        return float(log_sizes[-1])
    at = int(above[0])
    if at == 0:
        return float(log_sizes[0])
    share = (0.5 - rates[at - 1]) / (rates[at] - rates[at - 1])
    return float(log_sizes[at - 1] + share * (log_sizes[at] - log_sizes[at - 1]))


def half_point_interval(sizes: Any, successes: Any) -> tuple[float, float]:
    """95 % interval of `half_point` from resampling the runs; outside the grid, the grid's end.

    >>> flags = np.arange(9)[:, None] >= np.array([3, 4, 4, 5])
    >>> low, high = half_point_interval(2.0 ** np.arange(9), flags)
    >>> round(low), round(high)
    (6, 20)
    """
    table, logs = np.asarray(successes, dtype=np.float64), np.log(np.asarray(sizes, dtype=float))
    runs = table.shape[1]
    chosen = np.random.default_rng(0).integers(0, runs, (DRAWS, runs))
    halves = [_log_half_point(logs, table[:, each].mean(axis=1)) for each in chosen]
    low, high = np.exp(np.percentile(halves, [2.5, 97.5]))
    return float(low), float(high)


def threshold_law(sizes: Any, grids: Any, successes: Any, *, draws: int = DRAWS) -> PowerLaw:
    """How the half point grows with size, its interval from resampling the runs of every size.

    grids: for each size, the numbers tried. successes: for each size, flags (numbers, runs). A
    resampled half point outside its grid counts at the grid's end, and the draw as censored; if
    the runs themselves have one outside, nothing is known and the interval is the whole line.

    >>> flags = [np.arange(9)[:, None] >= np.full(20, at) for at in (2, 4, 6)]
    >>> law = threshold_law([1, 2, 4], [2.0 ** np.arange(9)] * 3, flags)
    >>> round(law.exponent, 6), law.censored
    (2.0, 0)
    """
    tables = [np.asarray(flags, dtype=np.float64) for flags in successes]
    logs = [np.log(np.asarray(grid, dtype=np.float64)) for grid in grids]
    measured = [half_point(grid, table) for grid, table in zip(grids, tables, strict=True)]
    if not np.all(np.isfinite(measured)):
        return PowerLaw(math.nan, -math.inf, math.inf, math.nan, draws)
    log_x = np.log(np.asarray(sizes, dtype=np.float64))
    exponent, intercept = np.polyfit(log_x, np.log(measured), 1)
    generator, slopes, censored = np.random.default_rng(0), [], 0
    for _ in range(draws):
        rates = [t[:, generator.integers(0, t.shape[1], t.shape[1])].mean(axis=1) for t in tables]
        censored += any(rate[0] >= 0.5 or not (rate >= 0.5).any() for rate in rates)
        halves = [_log_half_point(*pair) for pair in zip(logs, rates, strict=True)]
        slopes.append(np.polyfit(log_x, halves, 1)[0])
    low, high = (float(edge) for edge in np.percentile(slopes, [2.5, 97.5]))
    return PowerLaw(float(exponent), low, high, math.exp(intercept), censored)
