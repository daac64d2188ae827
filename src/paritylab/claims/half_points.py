"""Where half of the runs succeed, in rows or in harm, and quotients: each with its interval."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paritylab.claims import Estimate
from paritylab.statistics import PowerLaw, Rate, half_point, half_point_interval, threshold_law


def half_point_estimate(sizes: Any, successes: Any) -> Estimate:
    """Where the success rate reaches 1/2, with a 95 % interval from resampling the runs.

    sizes: what was tried, growing. successes: flags (sizes, runs). If the rate stays on one side of
    1/2, the half point counts at the nearer end of what was tried.

    >>> half_point_estimate([1, 2, 4], np.zeros((3, 5), bool)).value
    4.0
    """
    flags = np.asarray(successes)
    at = half_point(sizes, flags)
    if math.isnan(at):
        at = float(sizes[0] if flags[0].mean() >= 0.5 else sizes[-1])
    return Estimate(at, *half_point_interval(sizes, flags), flags.shape[1])


@dataclass(frozen=True)
class HalfPoints:
    """Half points of growing problems. sizes: of the problems; grids: what was tried at each size;
    flags: what succeeded, (tried, runs)."""

    sizes: list[float] = field(default_factory=list)
    grids: list[Any] = field(default_factory=list)
    flags: list[Any] = field(default_factory=list)

    def add(self, size: float, grid: Any, flags: Any) -> Estimate:
        """One more size; its half point."""
        self.sizes.append(size)
        self.grids.append(grid)
        self.flags.append(flags)
        return half_point_estimate(grid, flags)

    def law(self) -> PowerLaw:
        """How the half point grows with the size."""
        return threshold_law(self.sizes, self.grids, self.flags)


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


def inverse(estimate: Estimate, over: float = 1.0) -> Estimate:
    """A number over a positive estimate."""
    return Estimate(over / estimate.value, over / estimate.high, over / estimate.low, estimate.runs)


def scaled(estimate: Estimate, by: float) -> Estimate:
    """The estimate in another unit."""
    return Estimate(estimate.value * by, estimate.low * by, estimate.high * by, estimate.runs)
