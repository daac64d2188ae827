"""Intervals for measured numbers.

Wilson's interval is short and right on average, but its coverage at a given rate oscillates: at a
rate of 0.99 and 100 runs a 95 % interval covers about 92 % of the time. Where a guarantee matters
use Clopper and Pearson's, which never covers less than promised and is longer.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import stats


def wilson(successes: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a success rate.

    (p̂ + z²/2N ± z√(p̂(1-p̂)/N + z²/4N²)) / (1 + z²/N) with p̂ = successes/runs, N = runs.

    >>> low, high = wilson(99, 100)
    >>> round(low, 3), round(high, 3)
    (0.946, 0.998)
    """
    _check(successes, runs, confidence)
    z = float(stats.norm.ppf((1 + confidence) / 2))
    rate, spread = successes / runs, z * z / runs
    half = z * math.sqrt(rate * (1 - rate) / runs + spread / (4 * runs))
    centre = rate + spread / 2
    low, high = (centre - half) / (1 + spread), (centre + half) / (1 + spread)
    return (0.0 if successes == 0 else low), (1.0 if successes == runs else high)


def clopper_pearson(successes: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval for a success rate: covers at least as often as promised.

    >>> low, high = clopper_pearson(99, 100)
    >>> round(low, 3), round(high, 4)
    (0.946, 0.9997)
    """
    _check(successes, runs, confidence)
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else stats.beta.ppf(tail, successes, runs - successes + 1)
    high = 1.0 if successes == runs else stats.beta.ppf(1 - tail, successes + 1, runs - successes)
    return float(low), float(high)


def coverage(interval, rate: float, runs: int) -> float:
    """Exact probability that the interval of a binomial experiment contains the true rate."""
    counts = np.arange(runs + 1)
    ends = np.array([interval(int(count), runs) for count in counts])
    inside = (ends[:, 0] <= rate) & (rate <= ends[:, 1])
    return float(stats.binom.pmf(counts, runs, rate)[inside].sum())


def mean_interval(values, confidence: float = 0.95) -> tuple[float, float]:
    """Student's t interval for the mean of independent values.

    >>> low, high = mean_interval([1.0, 2.0, 3.0])
    >>> round(low, 2), round(high, 2)
    (-0.48, 4.48)
    """
    values = np.asarray(values, dtype=np.float64)
    if values.size < 2:
        raise ValueError(f"an interval needs at least 2 values, got {values.size}")
    error = stats.sem(values)
    half = stats.t.ppf((1 + confidence) / 2, values.size - 1) * error
    return float(values.mean() - half), float(values.mean() + half)


def _check(successes: int, runs: int, confidence: float) -> None:
    if runs < 1:
        raise ValueError(f"a rate needs at least 1 run, got {runs}")
    if not 0 <= successes <= runs:
        raise ValueError(f"successes must be between 0 and runs={runs}, got {successes}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")


class PowerLaw(NamedTuple):
    """y ≈ factor·x^exponent, with the exponent's 95 % interval."""

    exponent: float
    low: float
    high: float
    factor: float

    def __str__(self) -> str:
        return f"{self.exponent:.2f} [{self.low:.2f}, {self.high:.2f}]"


def power_law(x, y, confidence: float = 0.95) -> PowerLaw:
    """Least squares on logarithms; the interval is Student's, from the scatter around the line.

    >>> str(power_law([1, 2, 4, 8], [3, 12, 48, 192]))
    '2.00 [2.00, 2.00]'
    """
    log_x, log_y = (np.log(np.asarray(values, dtype=np.float64)) for values in (x, y))
    if log_x.size < 3:
        raise ValueError(f"an exponent with an interval needs at least 3 points, got {log_x.size}")
    fit = stats.linregress(log_x, log_y)
    half = float(stats.t.ppf((1 + confidence) / 2, log_x.size - 2) * fit.stderr)
    slope = float(fit.slope)
    return PowerLaw(slope, slope - half, slope + half, math.exp(fit.intercept))


def half_point(sizes, successes) -> float:
    """Size at which the success rate first reaches 1/2, between grid points in log size.

    successes: one row of flags per size. NaN if the rate stays on one side of 1/2.
    """
    rates = np.asarray(successes, dtype=np.float64).mean(axis=1)
    above = np.flatnonzero(rates >= 0.5)
    if not above.size or above[0] == 0:
        return math.nan
    at = int(above[0])
    share = (0.5 - rates[at - 1]) / (rates[at] - rates[at - 1])
    logs = np.log(np.asarray(sizes, dtype=np.float64))
    return float(np.exp(logs[at - 1] + share * (logs[at] - logs[at - 1])))


def threshold_law(sizes, grids, successes, *, draws: int = 400, seed: int = 0) -> PowerLaw:
    """How the half point grows with size, its interval from resampling the runs of every size.

    grids: for each size, the numbers tried. successes: for each size, flags (numbers, runs).
    """
    generator = np.random.default_rng(seed)
    fits = []
    for draw in range(draws + 1):
        halves = []
        for grid, flags in zip(grids, successes, strict=True):
            runs = np.shape(flags)[1]
            chosen = np.arange(runs) if draw == 0 else generator.integers(0, runs, runs)
            halves.append(half_point(grid, np.asarray(flags)[:, chosen]))
        if np.all(np.isfinite(halves)):
            slope, intercept = np.polyfit(np.log(sizes), np.log(halves), 1)
            fits.append((float(slope), math.exp(intercept)))
        elif draw == 0:
            raise ValueError(f"the grid does not reach a success rate of 1/2: {halves}")
    slopes = [slope for slope, _ in fits[1:]]
    low, high = (float(edge) for edge in np.percentile(slopes, [2.5, 97.5]))
    return PowerLaw(fits[0][0], low, high, fits[0][1])
