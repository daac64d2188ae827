"""Charts: a series becomes a canvas per panel."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paritylab.report.drawing.canvas import Canvas
from paritylab.report.drawing.frame import (
    ROW,
    WIDTH,
    Entry,
    Frame,
    Series,
    draw_across,
    is_share,
    make_frame,
    wrapped,
)
from paritylab.report.drawing.heat import draw_heatmaps
from paritylab.report.drawing.scales import Axis, Wish, make_axis, numbers, short
from paritylab.report.drawing.style import HUES, MARKERS

#: So many points have a marker each, and whiskers rather than a band.
POINTS = 30
BINS = 24


def draw(series: Series) -> list[Canvas]:
    """A canvas for each panel of a series of any kind."""
    if series["kind"] == "side by side":
        return [canvas for part in series["parts"] for canvas in draw(part)]
    return CHARTS[series["kind"]](series)


def _wish(series: Series, axis: str, **more: Any) -> Wish:
    asked = series.get(axis, {})
    share = is_share(asked) and asked.get("scale") != "log"
    return Wish(log=asked.get("scale") == "log", share=share, upright=axis == "y", **more)


def _placed_marks(series: Series, axis: str) -> list[float]:
    return [float(mark["at"]) for mark in series.get("marks", ()) if mark["axis"] == axis]


def _draw_lines(series: Series) -> list[Canvas]:
    lines = [_line(line) for line in series["lines"]]
    x = [v for line in lines for v in line["x"]] + _placed_marks(series, "x")
    y = [v for line in lines for part in ("y", "low", "high") for v in line.get(part, ())]
    ends = [line for line in lines if line["x"].size <= POINTS]
    sizes = (
        sorted({float(v) for line in ends for v in line["x"]}) if len(ends) == len(lines) else ()
    )
    labelled = sum(bool(line.get("label")) for line in lines)
    legend = [
        Entry(line["label"], _sample(line, index, labelled))
        for index, line in enumerate(lines)
        if line.get("label") and line["label"] != series.get("y", {}).get("label")
    ]
    shifts = _shifts(lines)
    margin = 0.09 if max(shifts, default=0) > 3 else 0.0
    frame = make_frame(
        series,
        (x, _wish(series, "x", sizes=sizes, margin=margin)),
        (y + _placed_marks(series, "y"), _wish(series, "y")),
        legend + _mark_entries(series),
    )
    draw_marks(frame, series)
    for index, line in enumerate(lines):
        _draw_line(frame, line, index, (shifts[index], labelled))
    return [frame.canvas]


def _line(line: Series) -> Series:
    names = [name for name in ("x", "y", "low", "high") if name in line]
    parts: Series = {name: numbers(line[name]) for name in names}
    lengths = {len(part) for part in parts.values()}
    if len(lengths) != 1:
        raise ValueError(f"a line has as many y as x, got lengths {sorted(lengths)}")
    return {**line, **parts}


def _shifts(lines: Sequence[Series]) -> list[float]:
    """Pixels by which points move sideways so that whiskers at one size do not hide each other."""
    with_ends = [i for i, line in enumerate(lines) if "low" in line and line["x"].size <= POINTS]
    middle = (len(with_ends) - 1) / 2
    return [
        5.0 * (with_ends.index(i) - middle) if i in with_ends else 0.0 for i in range(len(lines))
    ]


def _look(line: Series, index: int, labelled: int) -> tuple[str, bool, str]:
    """Pen of the line ("" if points only), whether points are marked, classes of its colour."""
    style = line.get("style") or ("o-" if line["x"].size <= POINTS else "-")
    pen = "dashed" if "--" in style else "dotted" if ":" in style else "curve"
    if not labelled and len(line["x"]) > POINTS:
        pen = "thin"
    colour = f"c{index % HUES if labelled else 0}"
    joined = any(sign in style for sign in "-:")
    marked = any(sign in style for sign in "os^d") and line["x"].size <= 4 * POINTS
    return (pen if joined else ""), marked, colour


def _sample(line: Series, index: int, labelled: int) -> Callable[[Canvas, float, float], None]:
    pen, marked, colour = _look(line, index, labelled)

    def sample(canvas: Canvas, x: float, y: float) -> None:
        if pen:
            canvas.line([(x, y), (x + 22, y)], f"{pen} {colour}")
        if marked:
            draw_marker(canvas, x + 11, y, index, colour)

    return sample


def _draw_line(frame: Frame, line: Series, index: int, how: tuple[float, int]) -> None:
    shift, labelled = how
    pen, marked, colour = _look(line, index, labelled)
    canvas, places = frame.canvas, range(line["x"].size)
    kept = [i for i in places if frame.holds(line["x"][i], line["y"][i])]
    points = [(frame.x(line["x"][i]) + shift, frame.y(line["y"][i])) for i in kept]
    if "low" in line and line["x"].size > POINTS:
        ends = [
            i for i in kept if frame.up.holds(line["low"][i]) and frame.up.holds(line["high"][i])
        ]
        lower = [(frame.x(line["x"][i]), frame.y(line["low"][i])) for i in ends]
        upper = [(frame.x(line["x"][i]), frame.y(line["high"][i])) for i in reversed(ends)]
        if ends:
            canvas.area(lower + upper, f"band {colour}")
    if pen and len(points) > 1:
        canvas.line(points, f"{pen} {colour}")
    if "low" in line and line["x"].size <= POINTS:
        for i, (x, _) in zip(kept, points, strict=True):
            low, high = (_clipped(frame.up, line[end][i]) for end in ("low", "high"))
            _whisker(canvas, [(x, frame.y(low)), (x, frame.y(high))], f"whisker {colour}")
    if marked or len(points) == 1:
        for x, y in points:
            draw_marker(canvas, x, y, index, colour)


def _clipped(axis: Axis, value: float) -> float:
    return min(max(value, axis.low), axis.high) if axis.holds(value) else axis.low


def _whisker(canvas: Canvas, ends: Sequence[tuple[float, float]], pen: str) -> None:
    canvas.line(ends, pen)
    upright = ends[0][0] == ends[1][0]
    for x, y in ends:
        canvas.line([(x - 3, y), (x + 3, y)] if upright else [(x, y - 3), (x, y + 3)], pen)


def draw_marker(canvas: Canvas, x: float, y: float, index: int, colour: str) -> None:
    """The point of the line with this number."""
    shape, pen = MARKERS[index % len(MARKERS)], f"mark {colour}"
    if shape == "circle":
        canvas.disc(x, y, 3.6, pen)
    elif shape == "square":
        canvas.box(x - 3.2, y - 3.2, 6.4, 6.4, pen)
    elif shape == "triangle":
        canvas.area([(x, y - 4.2), (x + 4, y + 3.2), (x - 4, y + 3.2)], pen)
    elif shape == "diamond":
        canvas.area([(x, y - 4.6), (x + 4.2, y), (x, y + 4.6), (x - 4.2, y)], pen)
    elif shape == "cross":
        for turn in (1, -1):
            canvas.line([(x - 3.4, y - 3.4 * turn), (x + 3.4, y + 3.4 * turn)], f"whisker {colour}")
    else:
        canvas.disc(x, y, 3.4, f"open {colour}")


def draw_marks(frame: Frame, series: Series) -> None:
    """Rules across the plot at values that matter."""
    for mark in series.get("marks", ()):
        at = float(mark["at"])
        if mark["axis"] == "y" and frame.up.holds(at):
            frame.canvas.line([(frame.left, frame.y(at)), (frame.right, frame.y(at))], "rule")
        elif mark["axis"] == "x" and frame.across.holds(at):
            frame.canvas.line([(frame.x(at), frame.top), (frame.x(at), frame.bottom)], "rule")


def _mark_entries(series: Series) -> list[Entry]:
    """Legend of the rules: their value follows their name where there is one of it."""
    found: dict[str, list[float]] = {}
    for mark in series.get("marks", ()):
        if mark.get("label"):
            found.setdefault(mark["label"], []).append(float(mark["at"]))

    def sample(canvas: Canvas, x: float, y: float) -> None:
        canvas.line([(x, y), (x + 22, y)], "rule")

    return [Entry(words, sample) for words in found]


def _draw_bars(series: Series) -> list[Canvas]:
    """A row for each bar: its name above, the number at its end."""
    bars = series["bars"]
    values = numbers(bars["values"])
    ends = {end: numbers(bars[end]) for end in ("low", "high") if end in bars}
    asked = series.get("y", {})
    canvas = Canvas(WIDTH, 0)
    share = is_share(asked)
    log = asked.get("scale") == "log"
    known = [*values, *(v for end in ends.values() for v in end), *_placed_marks(series, "y")]
    across = make_axis(known if log else [0.0, *known], WIDTH - 32, Wish(log, share and not log))
    if not log and min([0.0, *known]) >= 0:
        across = across._replace(low=0.0)
    entries = _mark_entries(series)
    top = 4.0
    for entry in entries:
        entry.sample(canvas, 0, top + 8)
        canvas.text(28, top + 12, entry.words, "name")
        top += ROW
    frame = Frame(canvas, 6, top, across, Axis(0, 1, False, 0, ()))
    for index, name in enumerate(bars["names"]):
        each = {end: part[index] for end, part in ends.items()}
        top = _draw_bar(frame, str(name), values[index], (top, each, share, log))
        for at in _placed_marks(series, "y"):
            if across.holds(at):
                canvas.line([(frame.x(at), top - 19), (frame.x(at), top - 3)], "rule")
    frame = frame._replace(up=Axis(0, 1, False, top + 6 - frame.top, ()))
    draw_across(frame, asked.get("label", ""))
    return [canvas]


def _draw_bar(
    frame: Frame, name: str, value: float, how: tuple[float, Series, bool, bool]
) -> float:
    """One row of a bar chart from `top` on; returns where the next begins."""
    top, ends, share, log = how
    canvas = frame.canvas
    whole = share and np.isfinite(value)
    written = f"{100 * value:.0f} %" if whole else short(float(f"{value:.3g}"))
    if ends:
        low, high = (100 * ends[e] if share else ends[e] for e in ("low", "high"))
        written += f" [{low:.0f}, {high:.0f}]" if share else f" [{low:.3g}, {high:.3g}]"
    lines = wrapped(name, WIDTH - 20 - 6.6 * len(written)) or [""]
    for words in lines:
        top += ROW
        canvas.text(6, top - 4, words, "name")
    canvas.text(WIDTH - 6, top - 4, written, "tick", "end")
    middle = top + 7
    if frame.across.holds(value):
        end = frame.x(value)
        start = frame.x(frame.across.low if log else 0.0)
        if log:
            canvas.line([(start, middle), (end, middle)], "grid")
            draw_marker(canvas, end, middle, 0, "c0")
        else:
            canvas.box(min(start, end), top + 1, max(abs(end - start), 1), 12, "bar c0")
    if ends:
        low, high = (frame.x(_clipped(frame.across, ends[end])) for end in ("low", "high"))
        _whisker(canvas, [(low, middle), (high, middle)], "span")
    return top + 18


def _draw_histogram(series: Series) -> list[Canvas]:
    values = numbers(series["values"])
    wish = _wish(series, "x")
    values = values[np.isfinite(values) & ((values > 0) | (not wish.log))]
    if not values.size:
        raise ValueError("a histogram needs a value that can be shown")
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = (low / 2, high * 2) if wish.log else (low - 0.5, high + 0.5)
    edges = (np.geomspace if wish.log else np.linspace)(low, high, BINS + 1)
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    counts, _ = np.histogram(values, edges)
    frame = make_frame(
        series,
        ([*edges, *_placed_marks(series, "x")], wish),
        ([0, *counts.tolist()], Wish(upright=True)),
        _mark_entries(series),
    )
    for count, start, end in zip(counts, edges, edges[1:], strict=False):
        if count:
            left, right, top = frame.x(start), frame.x(end), frame.y(float(count))
            wide = max(right - left - 1, 1)
            frame.canvas.box(left + 0.5, top, wide, frame.bottom - top, "bar c0")
    draw_marks(frame, series)
    return [frame.canvas]


CHARTS: dict[str, Callable[[Series], list[Canvas]]] = {
    "lines": _draw_lines,
    "bars": _draw_bars,
    "histogram": _draw_histogram,
    "heatmaps": draw_heatmaps,
}
