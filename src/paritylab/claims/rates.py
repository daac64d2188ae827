"""Success rates as claims draw them."""

from collections.abc import Iterable
from typing import Any

from paritylab.claims.figures import Line
from paritylab.statistics import Rate


def rate_line(label: str, x: Iterable[float], rates: Iterable[Rate]) -> dict[str, Any]:
    """A line of a figure with its band of intervals."""
    return Line.of_rates(label, list(x), rates).series()
