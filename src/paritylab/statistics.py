"""Rates, means, differences and laws of measured numbers, with their intervals.

Wilson's interval is short and right on average, but its coverage at a given rate oscillates: at a
rate of 0.99 and 100 runs a 95 % interval covers about 92 % of the time. Where a guarantee matters
use Clopper and Pearson's, which never covers less than promised and is longer.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np

Method = Literal["wilson", "exact"]
#: Resamples behind an interval.
DRAWS = 400


@dataclass(frozen=True)
class Rate:
    """A share of successes with its 95 % Wilson interval.

    successes, runs: counts. No run at all is a rate that says nothing: NaN in [0, 1]. As text it
    has its counts, and a share is never rounded onto 0 or 100 %.

    >>> print(Rate(57, 100), "and", Rate(199, 200))
    57 of 100, 57 % [47, 66] and 199 of 200, 99.5 % [97, 99.9]
    """

    successes: int
    runs: int

    @classmethod
    def of(cls, flags: Any) -> "Rate":
        """The rate of True in an array of flags; numbers other than 0 and 1 are refused."""
        array = np.asarray(flags).ravel()
        numeric = array.dtype.kind in "biuf"
        wrong = array[~np.isin(array, (0, 1))] if numeric else array
        if wrong.size:
            raise ValueError(f"a rate counts flags, True or False per run; got {wrong[0]!s}")
        return cls(int(np.count_nonzero(array)), array.size)

    def __post_init__(self) -> None:
        whole = self.successes % 1 == 0 and self.runs % 1 == 0
        if not (whole and 0 <= self.successes <= self.runs):
            raise ValueError(
                "a rate has a whole number of successes between 0 and "
                f"runs={self.runs}, got {self.successes}"
            )

    @property
    def value(self) -> float:
        return self.successes / self.runs if self.runs else math.nan

    @cached_property
    def interval(self) -> tuple[float, float]:
        return rate_interval(self.successes, self.runs) if self.runs else (0.0, 1.0)

    @property
    def low(self) -> float:
        return self.interval[0]

    @property
    def high(self) -> float:
        return self.interval[1]

    def decides(self, rate: float) -> bool:
        """Whether the interval lies wholly on one side of the rate."""
        return rate < self.low or rate > self.high

    def __str__(self) -> str:
        return f"{self.count}, {self.percent}" if self.runs else "no runs"

    @property
    def count(self) -> str:
        """The counts alone: "57 of 100"."""
        return f"{self.successes:,} of {self.runs:,}"

    @property
    def percent(self) -> str:
        """The share and its interval alone: "57 % [47, 66]"."""
        share = share_text(self.successes, self.runs)
        return f"{share} [{_percent(self.low)}, {_percent(self.high)}]"


def share_text(successes: float, runs: float) -> str:
    """A share as text with as many digits as it needs not to look like none or all.

    >>> share_text(1, 3), share_text(1, 400), share_text(199_999, 200_000), share_text(5, 5)
    ('33 %', '0.2 %', '99.999 %', '100 %')
    """
    return f"{_percent(successes / runs)} %" if runs else "no share"


def _percent(share: float) -> str:
    if share in (0.0, 1.0) or not math.isfinite(share):
        return f"{100 * share:.0f}"
    for digits in range(7):
        text = f"{100 * share:.{digits}f}"
        if 0 < float(text) < 100:
            return text
    return "< 0.000001" if share < 0.5 else "> 99.999999"


def rate_interval(
    successes: int, runs: int, confidence: float = 0.95, method: Method = "wilson"
) -> tuple[float, float]:
    """The interval of a success rate: Wilson's score interval, or Clopper and Pearson's "exact".

    >>> low, high = rate_interval(99, 100)
    >>> round(low, 3), round(high, 3)
    (0.946, 0.998)
    """
    if runs < 1:
        raise ValueError(f"an interval needs at least 1 run, got {runs}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    if method == "wilson":
        return _wilson(successes / runs, runs, confidence)
    from scipy import stats

    test = stats.binomtest(int(successes), int(runs))
    low, high = test.proportion_ci(confidence, method=method)
    return float(low), float(high)


def _wilson(share: float, runs: int, confidence: float) -> tuple[float, float]:
    """The shares p with |share - p|/√(p(1-p)/runs) at most z; without scipy, for speed."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = share + z * z / (2 * runs)
    half = z * math.sqrt(share * (1 - share) / runs + (z / (2 * runs)) ** 2)
    scale = 1 + z * z / runs
    low = 0.0 if share == 0 else (middle - half) / scale
    return low, 1.0 if share == 1 else (middle + half) / scale


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
