"""Intervals for measured numbers."""

import numpy as np
from scipy import stats


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
