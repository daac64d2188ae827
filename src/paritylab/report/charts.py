"""Charts: a series becomes plans of panels, which `frame.draw` puts on a figure."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import ScaledTranslation

from paritylab.report.frame import (
    COLOURS,
    LETTER,
    PLOT,
    RULE,
    Look,
    Plan,
    Series,
    font,
    heading,
    label,
    numbers,
    rule,
    set_axis,
    wrapped,
)
from paritylab.report.style import HEATS, HUES
from paritylab.report.words import short

#: So many points of a line have a marker each, and whiskers rather than a band.
POINTS = 30
#: Letters of a name left of the plot.
NAME = 30
BINS = 24
MARKERS = ("o", "s", "^", "D", "X", "P")
#: Lines over a heat map.
PENS: dict[str, Look] = {
    "contour": {"color": COLOURS["c1"], "linewidth": 2.0},
    "theory": {"color": COLOURS["ink"], "linewidth": 1.8, "linestyle": (0, (6, 4))},
    "theory2": {"color": COLOURS["ink"], "linewidth": 1.8, "linestyle": (0, (2, 3))},
}


def plans(series: Series) -> list[Plan]:
    """A plan for each panel of a series of any kind."""
    if series["kind"] == "side by side":
        return [each for part in series["parts"] for each in plans(part)]
    if series["kind"] == "heatmaps":
        return [_heatmap(series, panel) for panel in series["panels"]]
    return [{"lines": _lines, "bars": _bars, "histogram": _histogram}[series["kind"]](series)]


def _entry(name: Any) -> str:
    """Words of a legend, on several lines if they are long."""
    return "\n".join(wrapped(name, 50))


def _rules_legend(series: Series) -> list[tuple[str, Look]]:
    named = dict.fromkeys(mark["label"] for mark in series.get("marks", ()) if mark.get("label"))
    return [(_entry(name), RULE) for name in named]


def _marked(series: Series, axis: str) -> list[float]:
    return [float(mark["at"]) for mark in series.get("marks", ()) if mark["axis"] == axis]


def _lines(series: Series) -> Plan:
    parts = ("x", "y", "low", "high")
    lines = [{**e, **{k: numbers(e[k]) for k in parts if k in e}} for e in series["lines"]]
    for line in lines:
        if len({line[part].size for part in parts if part in line}) != 1:
            raise ValueError("a line has as many y as x")
    named = any(line.get("label") for line in lines)
    looks = [_look(line, index, named) for index, line in enumerate(lines)]
    spread = [at for at, line in enumerate(lines) if "low" in line and line["x"].size <= POINTS]

    def paint(axes: Axes) -> None:
        x = [v for line in lines for v in line["x"]]
        y = [v for line in lines for part in parts[1:] for v in line.get(part, ())]
        few = all(line["x"].size <= POINTS for line in lines)
        set_axis(axes, "x", x + _marked(series, "x"), series.get("x", {}), x if few else ())
        set_axis(axes, "y", y + _marked(series, "y"), series.get("y", {}))
        rule(axes, series)
        for at, (line, look) in enumerate(zip(lines, looks, strict=True)):
            # Whiskers at one size are moved aside so that they do not hide each other.
            shift = 5 * (spread.index(at) - (len(spread) - 1) / 2) if at in spread else 0
            _one_line(axes, line, look, shift)

    y_label = series.get("y", {}).get("label")
    pairs = [(line.get("label"), look) for line, look in zip(lines, looks, strict=True)]
    legend = [(_entry(name), look) for name, look in pairs if name and name != y_label]
    legend += _rules_legend(series)
    return Plan(heading(series), legend, PLOT, label(series, "x"), paint)


def _look(line: Series, index: int, named: bool) -> Look:
    """How a line is drawn: in its own style, or with markers where points are few."""
    many = line["x"].size > POINTS
    style = line.get("style") or ("-" if many else "o-")
    dash = (0, (6, 4)) if "--" in style else (0, (2, 3)) if ":" in style else "-"
    marked = any(sign in style for sign in "os^d") and line["x"].size <= 4 * POINTS
    return {
        "color": COLOURS[f"c{index % HUES if named else 0}"],
        "linewidth": 1.0 if many and not named else 1.9,
        "alpha": 0.6 if many and not named else None,
        "linestyle": dash if any(sign in style for sign in "-:") else "none",
        "marker": MARKERS[index % len(MARKERS)] if marked or line["x"].size == 1 else "none",
        "markersize": 6.5,
        "markeredgewidth": 0,
    }


def _one_line(axes: Axes, line: Series, look: Look, shift: float) -> None:
    """A line with whiskers, or with a band where points are many."""
    least, most = axes.get_ylim()
    inside = np.isfinite(line["x"]) & np.isfinite(line["y"])
    inside &= (line["y"] > 0) | (axes.get_yscale() == "linear")
    inside &= (line["x"] > 0) | (axes.get_xscale() == "linear")
    x, y = line["x"][inside], line["y"][inside]
    place = axes.transData + ScaledTranslation(shift / 72, 0, axes.figure.dpi_scale_trans)
    if "low" in line:
        ends = [np.nan_to_num(line[end][inside], nan=least) for end in ("low", "high")]
        low, high = np.clip(ends, least, most)
        if x.size > POINTS:
            axes.fill_between(x, low, high, color=look["color"], alpha=0.18, linewidth=0)
        else:
            axes.vlines(x, low, high, color=look["color"], linewidth=1.5, transform=place)
    axes.plot(x, y, transform=place, **look)


def _bars(series: Series) -> Plan:
    """Bars from left to right, names at their left, numbers above their right ends."""
    bars, asked = series["bars"], series.get("y", {})
    values, share = numbers(bars["values"]), bool(asked.get("percent"))
    ends = np.array([numbers(bars[end]) for end in ("low", "high") if end in bars])
    names = ["\n".join(wrapped(name, NAME)) for name in bars["names"]]
    row = max([30.0, *(12.0 * (name.count("\n") + 1) + 8 for name in names)])

    def paint(axes: Axes) -> None:
        log = asked.get("scale") == "log"
        everything = [*values, *ends.ravel(), *_marked(series, "y"), *([] if log else [0.0])]
        set_axis(axes, "x", everything, asked)
        if not log and np.nanmin(everything) >= 0:
            axes.set_xlim(left=0)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_yticks(range(len(names)), names, **font("ink", 11))
        rule(axes, series, upright="y")
        least, most = axes.get_xlim()
        for at, value in enumerate(values):
            own = list(ends[:, at]) if ends.size else []
            text = _written(value, own, share)
            right = axes.get_yaxis_transform()
            axes.text(1, at - 9 / row, text, **font("soft", 11), ha="right", transform=right)
            if np.isfinite(value) and (value > 0 or not log):
                start = least if log else 0.0
                axes.barh(at, value - start, 11 / row, start, color=COLOURS["c0"], alpha=0.7)
            if len(own):
                span = np.clip(np.nan_to_num(own, nan=least), least, most)
                axes.plot(span, [at, at], color=COLOURS["ink"], linewidth=1.5)

    return Plan([], _rules_legend(series), row * (len(names) + 0.2), label(series, "y"), paint)


def _written(value: float, ends: Sequence[float], share: bool) -> str:
    """The number of a bar with its interval, unless the interval is the number itself."""
    if not np.isfinite(value):
        return "–"
    text = f"{100 * value:.0f} %" if share else short(float(f"{value:.3g}"))
    shown = [f"{100 * end:.0f}" if share else short(float(f"{end:.3g}")) for end in ends]
    return f"{text} [{', '.join(shown)}]" if len(set(shown)) > 1 else text


def _histogram(series: Series) -> Plan:
    asked, values = series.get("x", {}), numbers(series["values"])
    log = asked.get("scale") == "log"
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not values.size:
        raise ValueError("a histogram needs a value that can be shown")
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    edges = (np.geomspace if log else np.linspace)(low, high, BINS + 1)
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    counts, _ = np.histogram(values, edges)

    def paint(axes: Axes) -> None:
        set_axis(axes, "x", [*edges, *_marked(series, "x")], asked)
        set_axis(axes, "y", [0, *counts], {})
        rule(axes, series)
        look: Look = {"color": COLOURS["c0"], "alpha": 0.7, "edgecolor": COLOURS["back"]}
        axes.bar(edges[:-1], counts, np.diff(edges), align="edge", linewidth=1, **look)

    return Plan(heading(series), _rules_legend(series), PLOT, label(series, "x"), paint)


def _heatmap(series: Series, panel: Series) -> Plan:
    """Numbers between 0 and 1 in twelve steps of one ramp, with lines and marks over them."""
    values = np.stack([numbers(row) for row in panel["values"]])
    rows, columns = values.shape
    cell = min(26.0, max(4.0, 230 / rows))
    lines = [(PENS[line.get("pen", "contour")], line) for line in panel.get("lines", ())]
    x_names = [str(name) for name in panel.get("x_names") or range(columns)]
    y_names = [str(name)[:NAME] for name in panel.get("y_names") or range(rows)]

    def paint(axes: Axes) -> None:
        axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
        steps = np.clip(np.nan_to_num(values) * HEATS, 0, HEATS - 1).astype(int)
        for level in range(HEATS):
            if boxes := list(_boxes((steps == level) & np.isfinite(values))):
                shape = Path.make_compound_path(*boxes)
                axes.add_patch(PathPatch(shape, facecolor=COLOURS[f"h{level}"], linewidth=0))
        for column in panel.get("marks", ()):
            axes.plot([column] * rows, range(rows), "o", color=COLOURS["c1"], markersize=4.8)
        ring: Look = {"linestyle": "none", "marker": "o", "markerfacecolor": "none"}
        for x, y in panel.get("points", ()):
            for edge, width in (("back", 2.6), ("c1", 1.4)):
                look: Look = {"markeredgecolor": COLOURS[edge], "markeredgewidth": width}
                axes.plot([float(x)], [float(y)], markersize=6.8, **ring, **look)
        for _, line in lines:  # a rim, so that the line stands out
            axes.plot(*zip(*line["points"], strict=True), color=COLOURS["back"], linewidth=4.0)
        for pen, line in lines:
            axes.plot(*zip(*line["points"], strict=True), **pen)
        every = max(1, int(np.ceil(13 / cell)))
        axes.set_yticks(range(0, rows, every), y_names[::every], **font("soft", 11))
        every = int(np.ceil((max(map(len, x_names)) * LETTER + 6) * columns / 300))
        axes.set_xticks(range(0, columns, every), x_names[::every], **font("soft", 11))

    legend = list({_entry(line["label"]): pen for pen, line in lines}.items())
    key = str(series.get("colour", "attention"))
    return Plan(
        heading(series, panel.get("title")), legend, cell * rows, label(series, "x"), paint, key
    )


def _boxes(chosen: np.ndarray) -> Iterator[Path]:
    """Rectangles of neighbouring cells, row by row."""
    for row, here in enumerate(chosen):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], here, [False]])))
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            corners = [(start, row), (end, row), (end, row + 1), (start, row + 1), (start, row)]
            yield Path(np.array(corners) - 0.5, closed=True)
