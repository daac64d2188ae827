"""Charts as values: what a claim or a sweep shows of its numbers, before anything is drawn.

Each has `.series()`, the plain dict that `paritylab.figures.drawing` turns into a picture and that
travels in a claim's row. Axis labels are words a reader knows; `log` names the logarithmic axes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from paritylab.statistics import Rate

Numbers = Sequence[float] | np.ndarray


class Line(NamedTuple):
    """One line: points (x, y), a band from low to high where given, a matplotlib style.

    of_shares: y are shares between 0 and 1, which an axis shows as percentages.
    """

    label: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    style: str | None = None
    of_shares: bool | None = None

    @classmethod
    def of_rates(cls, label: str, x: Numbers, rates: Sequence[Rate]) -> Self:
        """Success rates with their intervals.

        >>> Line.of_rates("all", [8], [Rate(5, 10)]).y
        [0.5]
        """
        value, low, high = (
            [getattr(rate, part) for rate in rates] for part in ("value", "low", "high")
        )
        return cls(label, x, value, low, high, of_shares=True)


class Mark(NamedTuple):
    """A dotted rule across the axes at a value of `axis`."""

    at: float
    label: str
    axis: str = "y"


@dataclass(frozen=True)
class Lines:
    """Lines over a common x."""

    lines: Sequence[Line]
    x: str
    y: str
    log: str = ""
    marks: Sequence[Mark] = ()
    caption: str = ""

    def series(self) -> dict[str, Any]:
        shares = all(line.of_shares for line in self.lines)
        lines = [_given(**line._replace(of_shares=None)._asdict()) for line in self.lines]
        return _chart("lines", self, shares, lines=lines)


@dataclass(frozen=True)
class Bars:
    """One bar per name, with whiskers from low to high where given. of_shares: as for `Line`."""

    values: Mapping[str, float]
    y: str
    x: str = ""
    low: Mapping[str, float] | None = None
    high: Mapping[str, float] | None = None
    log: str = ""
    marks: Sequence[Mark] = ()
    caption: str = ""
    of_shares: bool = False

    @classmethod
    def of_rates(cls, rates: Mapping[str, Rate], y: str, **rest: Any) -> Self:
        """Success rates with their intervals."""
        value, low, high = (
            {name: getattr(rate, part) for name, rate in rates.items()}
            for part in ("value", "low", "high")
        )
        return cls(value, y, low=low, high=high, of_shares=True, **rest)

    def series(self) -> dict[str, Any]:
        names = list(self.values)
        low, high = ([ends[n] for n in names] if ends else None for ends in (self.low, self.high))
        bars = _given(names=names, values=list(self.values.values()), low=low, high=high)
        return _chart("bars", self, self.of_shares, bars=bars)


@dataclass(frozen=True)
class Heatmap:
    """A table of numbers between 0 and 1 as colours; a missing number has no colour.

    columns: columns to mark. points: (column, row) places to mark with a ring. x_names, y_names:
    what columns and rows are called; their numbers if absent.
    """

    values: np.ndarray | Sequence[Numbers]
    x: str
    y: str
    colour: str = "attention"
    title: str = ""
    columns: Sequence[int] = ()
    points: Sequence[tuple[int, int]] = ()
    caption: str = ""
    x_names: Sequence[str] | None = None
    y_names: Sequence[str] | None = None

    def series(self) -> dict[str, Any]:
        names = _given(x_names=self.x_names, y_names=self.y_names)
        marked = {"marks": list(self.columns), "points": list(self.points)}
        return {
            "kind": "heatmaps",
            **_axes(self.x, self.y),
            "colour": self.colour,
            "panels": [{"title": self.title, "values": self.values, **names, **marked}],
            "caption": self.caption,
        }


@dataclass(frozen=True)
class SideBySide:
    """Figures next to each other under one caption."""

    parts: Sequence[Lines | Bars | Heatmap]
    caption: str = ""

    def series(self) -> dict[str, Any]:
        parts = [part.series() for part in self.parts]
        return {"kind": "side by side", "parts": parts, "caption": self.caption}


def _chart(kind: str, figure: Lines | Bars, shares: bool = False, **parts: Any) -> dict[str, Any]:
    """What charts have in common: axes, marks and a caption; parts: what is drawn."""
    return {
        "kind": kind,
        **_axes(figure.x, figure.y, figure.log, shares),
        **parts,
        "marks": [mark._asdict() for mark in figure.marks],
        "caption": figure.caption,
    }


def _axes(x: str, y: str, log: str = "", shares: bool = False) -> dict[str, Any]:
    scale = {name: {"scale": "log"} if name in log else {} for name in ("x", "y")}
    percent = {"percent": True} if shares else {}
    return {"x": {"label": x, **scale["x"]}, "y": {"label": y, **scale["y"], **percent}}


def _given(**entries: Any) -> dict[str, Any]:
    return {name: value for name, value in entries.items() if value is not None}
