"""Success rates as claims print and draw them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from paritylab.sweep.intervals import wilson


class RateOf:
    """A share of successes with its 95 % Wilson interval; as text "57 % [47, 66]"."""

    def __init__(self, successes) -> None:
        flags = np.asarray(successes, dtype=bool).ravel()
        self.runs = flags.size
        self.value = float(flags.mean())
        self.interval = wilson(int(flags.sum()), self.runs)
        self.low, self.high = self.interval

    def __str__(self) -> str:
        return f"{100 * self.value:.0f} % [{100 * self.low:.0f}, {100 * self.high:.0f}]"


def rate_line(label: str, x: Iterable[float], rates: Iterable[RateOf]) -> dict[str, Any]:
    """A line of a figure with its band of intervals."""
    rates = list(rates)
    return {
        "label": label,
        "x": list(x),
        "y": [rate.value for rate in rates],
        "low": [rate.low for rate in rates],
        "high": [rate.high for rate in rates],
    }
