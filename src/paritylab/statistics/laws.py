"""Power laws through measured points, with the interval of the exponent."""

import math
from typing import Any, NamedTuple

import numpy as np


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
