"""Thresholds: the size at which half of the runs succeed, and how it grows, from resampled runs."""

import math
from typing import Any

import numpy as np

from paritylab.statistics.estimates import Estimate
from paritylab.statistics.laws import PowerLaw

#: Resamples behind an interval.
DRAWS = 400


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
