"""Success rates as claims draw them."""

from collections.abc import Iterable
from typing import Any

from paritylab.statistics import Rate


def rate_line(label: str, x: Iterable[float], rates: Iterable[Rate]) -> dict[str, Any]:
    """A line of a figure with its band of intervals."""
    rates = list(rates)
    return {
        "label": label,
        "x": list(x),
        "y": [rate.value for rate in rates],
        "low": [rate.low for rate in rates],
        "high": [rate.high for rate in rates],
    }
