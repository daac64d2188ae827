"""What every chart shares: title, legend above the plot, grid, ticks and labels."""

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from paritylab.report.drawing.canvas import Canvas
from paritylab.report.drawing.scales import LETTER, Axis, Wish, make_axis

#: Width of a panel; letters of 11 pixels stay readable where it is shown 340 pixels wide.
WIDTH = 380.0
HEIGHT = 190.0
ROW = 16.0
_LETTER = 11.5 * LETTER

Series = dict[str, Any]


class Entry(NamedTuple):
    """A line of the legend: what it is called and how its sample is drawn."""

    words: str
    sample: Callable[[Canvas, float, float], None]


class Frame(NamedTuple):
    """The plot's box on a canvas and its axes; `x` and `y` turn values into pixels."""

    canvas: Canvas
    left: float
    top: float
    across: Axis
    up: Axis

    def x(self, value: float) -> float:
        return self.left + self.across.at(value)

    def y(self, value: float) -> float:
        return self.top + self.up.length - self.up.at(value)

    def holds(self, x: float, y: float) -> bool:
        return self.across.holds(x) and self.up.holds(y)

    @property
    def right(self) -> float:
        return self.left + self.across.length

    @property
    def bottom(self) -> float:
        return self.top + self.up.length


def is_share(axis: Any) -> bool:
    """Whether an axis shows shares, which are written as percentages."""
    return bool(axis.get("percent")) if isinstance(axis, dict) else False


def make_frame(
    series: Series, x: tuple[Sequence[float], Wish], y: tuple[Sequence[float], Wish], legend: Any
) -> Frame:
    """A canvas with everything but the data: labels, legend, grid, ticks."""
    canvas = Canvas(WIDTH, 0)
    top = _heading(canvas, series, legend)
    up = make_axis(y[0], HEIGHT, y[1])
    left = 12 + max([len(words) for _, words in up.ticks], default=1) * 11 * LETTER
    across = make_axis(x[0], WIDTH - left - 12, x[1])
    frame = Frame(canvas, left, top, across, up)
    for value, words in up.ticks:
        canvas.line([(left, frame.y(value)), (frame.right, frame.y(value))], "grid")
        canvas.text(left - 6, frame.y(value) + 4, words, "tick", "end")
    draw_across(frame, series.get("x", {}).get("label", ""))
    return frame


def draw_across(frame: Frame, label: str) -> None:
    """The lower edge with its ticks and label; the canvas ends below it."""
    canvas, bottom = frame.canvas, frame.bottom
    canvas.line([(frame.left, bottom), (frame.right, bottom)], "axis")
    for value, words in frame.across.ticks:
        place = frame.x(value)
        canvas.line([(place, bottom), (place, bottom + 4)], "axis")
        canvas.text(place, bottom + 16, words, "tick", "middle")
    end = bottom + 20
    for words in wrapped(label, WIDTH - 10):
        end += ROW
        canvas.text((frame.left + frame.right) / 2, end - 2, words, "label", "middle")
    canvas.height = end + 4


def _heading(canvas: Canvas, series: Series, legend: Sequence[Entry]) -> float:
    """Title, label of the vertical axis and legend; returns where the plot begins."""
    end = 0.0
    for words in wrapped(series.get("title", ""), WIDTH):
        end += ROW
        canvas.text(0, end - 4, words, "name")
    for words in wrapped(series.get("y", {}).get("label", ""), WIDTH):
        end += ROW
        canvas.text(0, end - 4, words, "label")
    return draw_legend(canvas, legend, end) + 12


def draw_legend(canvas: Canvas, legend: Sequence[Entry], top: float) -> float:
    """The entries from `top` on, as many in a row as fit; returns where they end."""
    x, y = 0.0, top + ROW
    for entry in legend:
        for number, words in enumerate(wrapped(entry.words, WIDTH - 34)):
            width = 30 + len(words) * _LETTER + 12
            if x and (x + width > WIDTH or number):
                x, y = 0.0, y + ROW
            if not number:
                entry.sample(canvas, x, y - 8)
            canvas.text(x + 28, y - 4, words, "name")
            x += width
    return y if legend else top


def wrapped(words: str, width: float, letter: float = _LETTER) -> list[str]:
    """Lines of at most `width` pixels."""
    return textwrap.wrap(str(words), max(8, int(width / letter))) if words else []
