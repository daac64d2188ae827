"""The frame of a chart: heading, legend, plot, axes and labels of a panel on a matplotlib figure.

All lengths are points. A figure has its panels two in a row.
"""

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, MaxNLocator

from paritylab.report.style import HEATS, theme
from paritylab.report.words import short

Series = dict[str, Any]
Look = dict[str, Any]

#: Width of a panel, height of its plot, height of a row of words, width of a letter.
WIDTH, PLOT, ROW, LETTER = 380.0, 190.0, 16.0, 6.4
#: Panels in a row, and the space between them.
ACROSS, GAP = 2, 28.0
COLOURS = theme("light")
RULE: Look = {"color": COLOURS["soft"], "linewidth": 1.4, "linestyle": (0, (2, 3))}


class Plan(NamedTuple):
    """A panel before it is drawn. heading: lines above, words with their colour. legend: words with
    the look of their sample. plot: its height. label: lines below. paint: fills the axes. key: what
    the colours of a heat map stand for."""

    heading: list[tuple[str, str]]
    legend: list[tuple[str, Look]]
    plot: float
    label: list[str]
    paint: Callable[[Axes], None]
    key: str = ""

    @property
    def columns(self) -> int:
        """Columns of the legend: as many as the longest entry allows."""
        lines = [line for words, _ in self.legend for line in words.split("\n")]
        return max(1, min(4, int(WIDTH / (max(map(len, lines), default=1) * LETTER + 44))))

    @property
    def above(self) -> float:
        """From the panel's top to its plot."""
        rows = sum(words.count("\n") + 1 for words, _ in self.legend)
        return ROW * (len(self.heading) + -(-rows // self.columns)) + 10

    @property
    def height(self) -> float:
        return self.above + self.plot + 26 + ROW * len(self.label) + 20 * bool(self.key)


def draw(planned: Sequence[Plan], margin: float = 10.0) -> Figure:
    """All panels on one figure."""
    rows = [planned[at : at + ACROSS] for at in range(0, len(planned), ACROSS)]
    heights = [max(plan.height for plan in row) + margin for row in rows]
    width = max(len(row) for row in rows) * (WIDTH + GAP) - GAP + 2 * margin
    figure = Figure(figsize=(width / 72, (sum(heights) + margin) / 72))
    top = sum(heights) + margin
    for row, tall in zip(rows, heights, strict=True):
        for number, plan in enumerate(row):
            _place(figure, plan, margin + number * (WIDTH + GAP), top - margin)
        top -= tall
    return figure


def _place(figure: Figure, plan: Plan, left: float, top: float) -> None:
    """Draw a panel whose upper left corner is at these points of the figure."""
    wide, tall = (72 * float(side) for side in figure.get_size_inches())

    def write(x: float, y: float, text: str, colour: str, side: str = "left") -> None:
        place = (left + x) / wide, (top - y) / tall
        figure.text(*place, text, **font(colour), ha=side, va="baseline")

    for number, (text, colour) in enumerate(plan.heading):
        write(0, ROW * (number + 1) - 4, text, colour)
    axes = figure.add_axes((0, 0, 1, 1))
    plan.paint(axes)
    lines = [line for name in axes.get_yticklabels() for line in name.get_text().split("\n")]
    inner = 12 + LETTER * max(map(len, lines), default=0)
    length, bottom = WIDTH - inner - 18, top - plan.above - plan.plot
    box = ((left + inner) / wide, bottom / tall, length / wide, plan.plot / tall)
    axes.set_position(box)
    _finish(axes, length)
    if plan.legend:
        _legend(figure, plan, (left / wide, (top - ROW * len(plan.heading) - 3) / tall))
    below = plan.above + plan.plot + 20
    for number, text in enumerate(plan.label):
        half = LETTER * len(text) / 2
        middle = max(half, min(inner + length / 2, WIDTH - half))
        write(middle, below + ROW * (number + 1) - 2, text, "soft", "center")
    if plan.key:
        below += ROW * len(plan.label) + 17
        write(0, below, f"{plan.key}: 0", "soft")
        start = 8 + (len(plan.key) + 3) * LETTER
        for level in range(HEATS):
            corner = (left + start + 12 * level) / wide, (top - below) / tall
            look: Look = {"facecolor": COLOURS[f"h{level}"], "transform": figure.transFigure}
            figure.add_artist(Rectangle(corner, 12.3 / wide, 10 / tall, **look))
        write(start + 12 * HEATS + 6, below, "1", "soft")


def _legend(figure: Figure, plan: Plan, corner: tuple[float, float]) -> None:
    """Samples with their names, from an upper left corner on."""
    legend = figure.legend(
        [Line2D([0], [0], **look) for _, look in plan.legend],
        [words for words, _ in plan.legend],
        loc="upper left",
        bbox_to_anchor=corner,
        ncols=plan.columns,
        borderpad=0,
        borderaxespad=0,
        labelspacing=0.25,
        columnspacing=1,
        handlelength=2,
        frameon=False,
        fontsize=11.5,
        labelcolor=COLOURS["ink"],
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def font(colour: str, size: float = 11.5) -> Look:
    return {"fontsize": size, "color": COLOURS[colour], "parse_math": False}


def wrapped(words: Any, letters: float = WIDTH / LETTER) -> list[str]:
    return textwrap.wrap(str(words or ""), int(letters))


def label(series: Series, axis: str) -> list[str]:
    return wrapped(series.get(axis, {}).get("label"))


def heading(series: Series, title: Any = None) -> list[tuple[str, str]]:
    """Title and label of the vertical axis, in lines."""
    above = [(line, "ink") for line in wrapped(title or series.get("title"))]
    return above + [(line, "soft") for line in label(series, "y")]


def numbers(values: Any) -> np.ndarray:
    """Values as floats; None is no number."""
    return np.array(list(values), dtype=float)


def set_axis(
    axes: Axes, axis: str, values: Any, asked: Series, sizes: Sequence[float] = ()
) -> None:
    """Scale, limits that hold every value which can be placed, and ticks.

    asked: the series' own entry for the axis. sizes: values that are ticks if they are few.
    """
    log, share = asked.get("scale") == "log", bool(asked.get("percent"))
    known = numbers(values)
    known = known[np.isfinite(known) & ((known > 0) | (not log))]
    low, high = (float(known.min()), float(known.max())) if known.size else (1.0, 1.0)
    if log:
        room = max(0.06 * np.log10(high / low), 0.04) if high > low else 0.15
        low, high = low / 10**room, high * 10**room
    elif share and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low == high:
        low, high = min(0.0, 1.5 * low), max(0.0, 1.5 * high, 1.0)
    else:
        # A vertical axis that nearly reaches zero begins there: a flat line then looks flat.
        flat = axis == "y" and 0 <= low < 0.6 * high
        room = 0.05 * (high - low)
        low, high = 0.0 if flat else low - room, high + room
    places = sorted({float(size) for size in sizes if low <= size <= high})
    if not 1 <= len(places) <= 8 or any(size != round(size) for size in places):
        places = [0, 0.25, 0.5, 0.75, 1] if (share and (low, high) == (0, 1)) else []
        decades = [LogLocator(numticks=7), LogLocator(subs=(1, 2, 5))] if log else []
        for locator in (*decades, MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])):
            if len(places) < 2:
                places = [at for at in locator.tick_values(low, high) if low <= at <= high]
    names = [f"{100 * at:g} %" if share and at else short(float(at)) for at in places]
    axes.set(**{f"{axis}scale": "log" if log else "linear", f"{axis}lim": (low, high)})
    getattr(axes, f"set_{axis}ticks")(places, names, **font("soft", 11))
    getattr(axes, f"set_{axis}ticks")([], minor=True)


def _finish(axes: Axes, length: float) -> None:
    """Names below the plot that do not touch, the lower edge only, nothing cut off."""
    scale = np.log if axes.get_xscale() == "log" else np.asarray
    low, high = (float(scale(end)) for end in axes.get_xlim())
    kept, end = [], -np.inf
    for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        at = (float(scale(place)) - low) / (high - low) * length
        half = (LETTER * len(label.get_text()) + 6) / 2
        if at - half >= end:
            kept.append((place, label.get_text()))
            end = at + half
    axes.set_xticks([at for at, _ in kept], [name for _, name in kept], **font("soft", 11))
    axes.set_facecolor("none")
    axes.spines[["top", "left", "right"]].set_visible(False)
    axes.spines["bottom"].set_color(COLOURS["soft"])
    axes.tick_params(axis="y", length=0, pad=6)
    axes.tick_params(axis="x", length=4, color=COLOURS["soft"])
    axes.set_axisbelow(True)
    for artist in axes.get_children():
        artist.set_clip_on(False)


def rule(axes: Axes, series: Series, upright: str = "x") -> None:
    """Grid lines, and dotted rules at values that matter. upright: the axis of standing rules."""
    if upright == "x":
        axes.grid(axis="y", color=COLOURS["line"], linewidth=1)
    for mark in series.get("marks", ()):
        line = axes.axvline if mark["axis"] == upright else axes.axhline
        line(float(mark["at"]), **RULE)
