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
    """First over second, with an interval from the far ends of both: wider than needed.

    Neither is negative; a second of 0 counts as 1e-9.
    """
    value, low, high = (max(each, 1e-9) for each in (second.value, second.low, second.high))
    runs = first.runs + second.runs
    return Estimate(first.value / value, first.low / high, first.high / low, runs)
