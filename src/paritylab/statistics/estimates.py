"""Estimates with an interval: differences and quotients of independent measurements."""

import math
from dataclasses import dataclass

from paritylab._support.number_text import number_text
from paritylab.statistics.rates import Rate


@dataclass(frozen=True)
class Estimate:
    """A measured number with its 95 % interval, such as a difference of two rates.

    runs: how many independent runs or draws are behind it.
    """

    value: float
    low: float
    high: float
    runs: int = 0

    def __str__(self) -> str:
        return f"{number_text(self.value)} [{number_text(self.low)}, {number_text(self.high)}]"


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


def difference(first: Rate, second: Rate) -> Estimate:
    """The first rate minus the second, with Newcombe's interval; their runs are independent."""
    low, high = rate_difference(first, second)
    return Estimate(first.value - second.value, low, high, first.runs + second.runs)


def quotient(first: Estimate | Rate, second: Estimate | Rate) -> Estimate:
    """First over second, of independent estimates: their distances to the ends add in squares, in
    logarithms, as errors of independent numbers do.

    Neither is negative; 0 counts as 1e-9.

    >>> print(quotient(Estimate(2, 1, 4), Estimate(1, 1, 1)))
    2 [1, 4]
    """
    (value, low, high), (under, least, most) = (
        [max(end, 1e-9) for end in (each.value, each.low, each.high)] for each in (first, second)
    )
    below = math.hypot(math.log(value / low), math.log(most / under))
    above = math.hypot(math.log(high / value), math.log(under / least))
    at = value / under
    return Estimate(at, at * math.exp(-below), at * math.exp(above), first.runs + second.runs)


def scaled(estimate: Estimate, by: float) -> Estimate:
    """The estimate in another unit."""
    return Estimate(estimate.value * by, estimate.low * by, estimate.high * by, estimate.runs)
