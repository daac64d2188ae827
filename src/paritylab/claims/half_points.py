"""Where half of the runs succeed, in rows or in harm, and quotients: each with its interval."""

import math
from typing import Any

import numpy as np

from paritylab.claims import Estimate
from paritylab.statistics import Rate, half_point, half_point_interval


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
