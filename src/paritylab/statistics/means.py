"""Means of independent values with Student's interval."""

from dataclasses import dataclass
from typing import Any

import numpy as np


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
