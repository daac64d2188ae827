"""Series become matplotlib figures in the colours of the page.

One call serves the page, the documents, sweeps, the command line and notebooks: `draw` gives a
figure with a panel for each part of a series, `paint` fills axes of your own.

A series is plain JSON, as `paritylab.figures.charts` makes it: {"kind": "lines" | "bars" |
"heatmaps", "x": {"label", "scale"}, "y": {"label", "scale", "percent"}, "marks": [{"axis", "at",
"label"}], "title", "caption"}. Lines have "lines": [{"label", "x", "y", "low", "high", "style",
"colour"}]; bars "bars": {"names", "values", "low", "high"};
maps "panels": [{"title", "values", "marks", "points", "x_names", "y_names", "lines", "level"}]:
rows of numbers between 0 and 1 with marked columns and places, lines over them, and a contour at a
level. The kind "side by side" holds whole series in "parts".
"""

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from paritylab._support.colours import HEATS, HUES, theme
from paritylab._support.number_text import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Series = dict[str, Any]
Look = dict[str, Any]

COLOURS = theme("light")
#: Points: width of a panel, height of its plot, of a row of words; width of a letter.
WIDTH, PLOT, ROW, LETTER = 380.0, 200.0, 15.0, 6.4
#: Panels in a row; letters of a heading, of a legend's entry, of a name left of the plot.
ACROSS, HEADING, ENTRY, NAME = 2, 50, 40, 30
#: So many points of a line have a marker each, and whiskers rather than a band.
POINTS = 30
MARKERS = ("o", "s", "^", "D", "X", "P")
_RULE: Look = {"color": COLOURS["soft"], "linewidth": 1.4, "linestyle": (0, (2, 3))}
#: Lines over a heat map.
_PENS: dict[str, Look] = {
    "theory": {"color": COLOURS["ink"], "linewidth": 1.8, "linestyle": (0, (6, 4))},
    "theory2": {"color": COLOURS["ink"], "linewidth": 1.8, "linestyle": (0, (2, 3))},
}
_STYLE: Any = {
    "font.size": 11.2,
    "text.color": COLOURS["ink"],
    "text.parse_math": False,
    "axes.facecolor": "none",
    "axes.edgecolor": COLOURS["soft"],
    "axes.labelcolor": COLOURS["soft"],
    "axes.titlecolor": COLOURS["ink"],
    "axes.titlelocation": "left",
    "axes.titlesize": 11.5,
    "axes.axisbelow": True,
    **{f"axes.spines.{side}": False for side in ("left", "right", "top")},
    **{f"{axis}tick.color": COLOURS["soft"] for axis in "xy"},
    "ytick.major.size": 0,
    "grid.color": COLOURS["line"],
    "legend.frameon": False,
    "legend.fontsize": 11.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "one",
}


@contextmanager
def styled() -> Iterator[None]:
    """matplotlib with the page's colours inside the block; ticks are made when a figure is saved,
    so saving belongs inside, too."""
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield


def draw(series: Series) -> "Figure":
    """All panels of a series on one figure, two in a row."""
    from matplotlib.figure import Figure

    parts = panels_of(series)
    across = min(ACROSS, len(parts))
    rows = [parts[at : at + across] for at in range(0, len(parts), across)]
    heights = [max(map(_height, row)) for row in rows]
    with styled():
        size = (across * WIDTH / 72, sum(heights) / 72)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.add_gridspec(len(rows), across, height_ratios=heights)
        for at, part in enumerate(parts):
            paint(figure.add_subplot(grid[divmod(at, across)]), part)
    return figure


def panels_of(series: Series) -> list[Series]:
    """Series of one panel each."""
    if series["kind"] == "side by side":
        return [each for part in series["parts"] for each in panels_of(part)]
    if series["kind"] == "heatmaps":
        return [{**series, "panels": [panel]} for panel in series["panels"]]
    return [series]


def paint(axes: "Axes", series: Series) -> None:
    """One panel on axes: its data, then heading, legend, rules and labels."""
    flat = series["kind"] == "bars"
    for axis in "xy":
        if series.get(axis, {}).get("scale") == "log":
            (axes.set_xscale if (axis == "x") != flat else axes.set_yscale)("log")
    {"lines": _lines, "bars": _bars, "heatmaps": _heatmap}[series["kind"]](axes, series)
    for mark in series.get("marks", ()):
        line = axes.axvline if (mark["axis"] == "x") != flat else axes.axhline
        line(float(mark["at"]), label=_wrapped(mark.get("label"), ENTRY) or None, **_RULE)
    axes.set_xlabel(_wrapped(_label(series, "y" if flat else "x")), fontsize=11.2)
    axes.set_title(_heading(series), pad=8 + 16 * _legend(axes))
    for artist in axes.get_children():
        artist.set_clip_on(False)  # limits hold every value


def _height(series: Series) -> float:
    """Points that a panel needs: its plot and the words around it."""
    plot, entries = PLOT, [*series.get("marks", ()), *series.get("lines", ())]
    if series["kind"] == "bars":
        plot = _bar_row(series) * (len(series["bars"]["names"]) + 0.2)
    if series["kind"] == "heatmaps":
        (panel,) = series["panels"]
        plot = _cell(len(panel["values"])) * len(panel["values"]) + 40
        entries = [*panel.get("lines", ()), *([{"label": "50 %"}] if "level" in panel else [])]
    names = {_wrapped(each["label"], ENTRY) for each in entries if each.get("label")}
    heading = _heading(series)
    above = _rows(names) + (_rows([heading]) if heading else 0)
    below = _rows([_wrapped(_label(series, "y" if series["kind"] == "bars" else "x"))])
    return plot + ROW * (above + below) + 34


def _label(series: Series, axis: str) -> str:
    return str(series.get(axis, {}).get("label") or "")


def _wrapped(words: Any, letters: int = HEADING) -> str:
    return textwrap.fill(str(words or ""), letters)


def _heading(series: Series) -> str:
    """Title and name of the vertical axis, which is easier to read above than along it."""
    if series["kind"] == "bars":
        return ""
    panels = series.get("panels") or [{}]
    title = panels[0].get("title") or series.get("title")
    return "\n".join(filter(None, (_wrapped(title), _wrapped(_label(series, "y")))))


def _legend(axes: "Axes") -> int:
    """Samples above the plot, each name once; returns the rows they take."""
    named = {name: sample for sample, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    if named:
        place: Look = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderpad": 0.2}
        legend = axes.legend(
            named.values(), named.keys(), labelspacing=0.25, handlelength=2, **place
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
    return _rows(named)


def _rows(names: Iterable[str]) -> int:
    return sum(name.count("\n") + 1 for name in names)


def _numbers(values: Any, log: bool = False) -> np.ndarray:
    """Values as floats; NaN for None, for infinities and for what a logarithm cannot place."""
    array = np.array(list(values), dtype=float)
    return np.where(np.isfinite(array) & ((array > 0) | (not log)), array, np.nan)


def _axis(axes: "Axes", axis: str, asked: Series) -> None:
    """Scale, limits and ticks of an axis, after its data."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    log, share = asked.get("scale") == "log", bool(asked.get("percent"))
    limits = getattr(axes, f"set_{axis}lim")
    least, most = getattr(axes.dataLim, f"interval{axis}")
    if not log and share and least >= 0 and most <= 1:
        limits(0, 1)
    elif not log and axis == "y" and least == most:
        limits(min(0.0, 1.5 * least), max(0.0, 1.5 * most, 1.0))
    elif not log and axis == "y" and 0 <= least < 0.6 * most:
        limits(0, None)  # an axis that nearly reaches zero begins there: a flat line looks flat
    ticks = getattr(axes, f"{axis}axis")
    between = (1, 2, 5) if most < 30 * least else (1, 3) if most < 300 * least else (1,)
    ticks.set_major_locator(
        LogLocator(subs=between, numticks=6) if log else MaxNLocator(5, steps=[1, 2, 5, 10])
    )
    ticks.set_minor_locator(NullLocator())
    name = FuncFormatter(lambda at, _: f"{100 * at:.3g} %" if share and at else short(at, 1e5))
    ticks.set_major_formatter(name)


# ---- the three kinds


def _lines(axes: "Axes", series: Series) -> None:
    """Lines with whiskers, or with a band where points are many."""
    from matplotlib.ticker import MaxNLocator

    logs = {axis: series.get(axis, {}).get("scale") == "log" for axis in "xy"}
    lines = series["lines"]
    named = any(line.get("label") for line in lines)
    for at, line in enumerate(lines):
        x, y = (_numbers(line[axis], logs[axis]) for axis in "xy")
        look, label = _look(line, at, named), line.get("label")
        look["label"] = _wrapped(label, ENTRY) if label and label != _label(series, "y") else None
        if "low" in line:
            low, high = (_numbers(line[end], logs["y"]) for end in ("low", "high"))
            low = np.where(np.isnan(low), y / 10 if logs["y"] else y, low)
            if x.size > POINTS:
                axes.fill_between(x, low, high, color=look["color"], alpha=0.18, linewidth=0)
            else:
                axes.vlines(x, low, high, color=look["color"], linewidth=1.5)
        axes.plot(x, y, **look)
    axes.grid(axis="y")
    for axis in "xy":
        _axis(axes, axis, series.get(axis, {}))
    sizes = np.array([size for line in lines for size in _numbers(line["x"])])
    if not logs["x"] and sizes.size > 1 and not (sizes % 1).any():  # whole sizes, whole ticks
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))


def _look(line: Series, index: int, named: bool) -> Look:
    """How a line is drawn: in its own style, or with markers where points are few."""
    many = len(line["x"]) > POINTS
    style = line.get("style") or ("-" if many else "o-")
    dash = (0, (6, 4)) if "--" in style else (0, (2, 3)) if ":" in style else "-"
    marked = any(sign in style for sign in "os^d") and len(line["x"]) <= 4 * POINTS
    return {
        "color": COLOURS[line.get("colour") or f"c{index % HUES if named else 0}"],
        "linewidth": 1.0 if many and not named else 1.9,
        "alpha": 0.6 if many and not named else None,
        "linestyle": dash if any(sign in style for sign in "-:") else "none",
        "marker": MARKERS[index % len(MARKERS)] if marked or len(line["x"]) == 1 else "none",
        "markersize": 6.5,
        "markeredgewidth": 0,
    }


def _bar_row(series: Series) -> float:
    lines = max((_wrapped(n, NAME).count("\n") + 1 for n in series["bars"]["names"]), default=1)
    return max(30.0, 12.0 * lines + 8)


def _bars(axes: "Axes", series: Series) -> None:
    """Bars from left to right, names at their left, numbers above their right ends."""
    bars, asked, row = series["bars"], series.get("y", {}), _bar_row(series)
    log, share = asked.get("scale") == "log", bool(asked.get("percent"))
    values = _numbers(bars["values"], log)
    low, high = (_numbers(bars.get(end, bars["values"]), log) for end in ("low", "high"))
    known = np.concatenate([values, low])
    start = np.nanmin(known) / 2 if log and np.isfinite(known).any() else 0.0
    at = np.arange(len(values))
    axes.barh(at, values - start, 11 / row, start, color=COLOURS["c0"], alpha=0.7)
    if "low" in bars:
        axes.hlines(at, low, high, color=COLOURS["ink"], linewidth=1.5)
    for place, value, *ends in zip(at, _numbers(bars["values"]), low, high, strict=True):
        text = _written(value, ends, share)
        spot: Look = {"transform": axes.get_yaxis_transform(), "ha": "right"}
        axes.text(1, place - 9 / row, text, color=COLOURS["soft"], **spot)
    _axis(axes, "x", asked)
    axes.set_ylim(len(values) - 0.4, -0.6)
    names = [_wrapped(name, NAME) for name in bars["names"]]
    axes.set_yticks(at, names, color=COLOURS["ink"])


def _written(value: float, ends: Sequence[float], share: bool) -> str:
    """The number of a bar with its interval, unless the interval is the number itself."""
    if math.isnan(value):
        return "–"
    text, *shown = (
        f"{100 * each:.0f}" if share else short(float(f"{each:.3g}")) for each in (value, *ends)
    )
    text += " %" if share else ""
    return f"{text} [{', '.join(shown)}]" if len(set(shown)) > 1 else text


def _cell(rows: int) -> float:
    return min(26.0, max(4.0, 230 / rows))


def _heatmap(axes: "Axes", series: Series) -> None:
    """Numbers between 0 and 1 in twelve steps of one ramp, with lines and marks over them."""
    from matplotlib.colors import ListedColormap

    (panel,) = series["panels"]
    values = np.stack([_numbers(row) for row in panel["values"]])
    rows, columns = values.shape
    ramp = ListedColormap([COLOURS[f"h{level}"] for level in range(HEATS)])
    mesh = axes.pcolormesh(values, cmap=ramp, vmin=0, vmax=1, edgecolors="face", linewidth=0.3)
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    for column in panel.get("marks", ()):
        axes.plot([column + 0.5] * rows, np.arange(rows) + 0.5, "o", color=COLOURS["c1"], ms=4.8)
    for x, y in panel.get("points", ()):
        for edge, width in (("back", 2.6), ("c1", 1.4)):
            ring: Look = {"mec": COLOURS[edge], "mew": width, "mfc": "none", "ms": 6.8}
            axes.plot([x + 0.5], [y + 0.5], "o", **ring)
    if "level" in panel and min(values.shape) > 1:
        grid = (np.arange(columns) + 0.5, np.arange(rows) + 0.5, np.ma.masked_invalid(values))
        level: Look = {"colors": COLOURS["c1"], "linewidths": 2.0, "corner_mask": False}
        axes.contour(*grid, levels=[panel["level"]], **level)
        axes.plot([], [], color=COLOURS["c1"], linewidth=2.0, label=f"{100 * panel['level']:g} %")
    for line in panel.get("lines", ()):
        places = np.array(line["points"], dtype=float) + 0.5
        axes.plot(*places.T, color=COLOURS["back"], linewidth=4.0)  # a rim, so that it stands out
        axes.plot(*places.T, **_PENS[line["pen"]], label=_wrapped(line["label"], ENTRY))
    x_names = [str(name) for name in panel.get("x_names") or range(columns)]
    y_names = [str(name)[:NAME] for name in panel.get("y_names") or range(rows)]
    every = math.ceil((max(map(len, x_names)) * LETTER + 8) * columns / (0.7 * WIDTH))
    axes.set_xticks(np.arange(0, columns, every) + 0.5, x_names[::every])
    every = math.ceil(13 / _cell(rows))
    axes.set_yticks(np.arange(0, rows, every) + 0.5, y_names[::every])
    look: Look = {
        "location": "bottom",
        "aspect": 30,
        "shrink": 0.5,
        "anchor": (0, 1),
        "ticks": [0, 1],
    }
    key = axes.figure.colorbar(mesh, ax=axes, **look)
    key.set_label(str(series.get("colour", "attention")))
    key.outline.set_visible(False)
