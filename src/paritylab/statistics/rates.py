"""Success rates with their intervals.

Wilson's interval is short and right on average, but its coverage at a given rate oscillates: at a
rate of 0.99 and 100 runs a 95 % interval covers about 92 % of the time. Where a guarantee matters
use Clopper and Pearson's, which never covers less than promised and is longer.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

Method = Literal["wilson", "exact"]


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
