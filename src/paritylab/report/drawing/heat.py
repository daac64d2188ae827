"""Heat maps: rows of numbers between 0 and 1 in twelve steps of one ramp, with lines over them."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from paritylab.report.drawing.canvas import Canvas
from paritylab.report.drawing.frame import (
    ROW,
    WIDTH,
    Entry,
    Frame,
    Series,
    draw_across,
    draw_legend,
    wrapped,
)
from paritylab.report.drawing.scales import LETTER, Axis, numbers, short
from paritylab.report.drawing.style import HEATS


def draw_heatmaps(series: Series) -> list[Canvas]:
    """A canvas for each panel."""
    return [_panel(series, panel) for panel in series["panels"]]


def _panel(series: Series, panel: Series) -> Canvas:
    values = np.stack([numbers(row) for row in panel["values"]])
    rows, columns = values.shape
    canvas, top = Canvas(WIDTH, 0), 0.0
    for words in wrapped(panel.get("title", ""), WIDTH):
        top += ROW
        canvas.text(0, top - 4, words, "name")
    for words in wrapped(series.get("y", {}).get("label", ""), WIDTH):
        top += ROW
        canvas.text(0, top - 4, words, "label")
    top = draw_legend(canvas, _entries(panel), top)
    names = [str(name) for name in panel.get("y_names", ())] or [str(row) for row in range(rows)]
    left = 12 + min(max(map(len, names)), 24) * 11 * LETTER
    cell = min(26.0, max(4.0, 230 / rows))
    frame = Frame(
        canvas,
        left,
        top + 4,
        Axis(-0.5, columns - 0.5, False, WIDTH - left - 12, ()),
        Axis(rows - 0.5, -0.5, False, cell * rows, ()),
    )
    for level in range(HEATS):
        for row, start, end in _runs(values, level):
            x, y = frame.x(start - 0.5), frame.y(row - 0.5)
            canvas.box(x, y, frame.x(end - 0.5) - x + 0.3, cell + 0.3, f"cell h{level}")
    _mark_places(frame, panel, rows)
    _draw_lines(frame, panel)
    for row, name in _some(names, cell, 13.0):
        canvas.text(left - 6, frame.y(row) + 4, name[:24], "tick", "end")
    frame = frame._replace(across=frame.across._replace(ticks=_ticks(frame.across, panel, columns)))
    draw_across(frame, series.get("x", {}).get("label", ""))
    _key(canvas, series.get("colour", "attention"))
    return canvas


def _runs(values: np.ndarray, level: int) -> Iterator[tuple[int, int, int]]:
    """Neighbouring cells of one level: row, first column, column after the last."""
    shown = np.isfinite(values)
    steps = np.clip(np.where(shown, values, 0) * HEATS, 0, HEATS - 1).astype(int)
    for row, here in enumerate((steps == level) & shown):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], here, [False]])))
        yield from ((row, int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _mark_places(frame: Frame, panel: Series, rows: int) -> None:
    canvas = frame.canvas
    for column in panel.get("marks", ()):
        place, bottom = frame.x(float(column)), frame.bottom
        canvas.area(
            [(place - 4, bottom + 8), (place + 4, bottom + 8), (place, bottom + 1)], "mark c1"
        )
        for row in range(rows):
            canvas.disc(place, frame.y(row), 2.4, "mark c1")
    for column, row in panel.get("points", ()):
        x, y = frame.x(float(column)), frame.y(float(row))
        canvas.disc(x, y, 3.4, "ring")
        canvas.disc(x, y, 3.4, "core")


def _entries(panel: Series) -> list[Entry]:
    """Legend of the lines; pieces of one line have one label."""

    def sample(pen: str) -> Callable[[Canvas, float, float], None]:
        return lambda canvas, x, y: canvas.line([(x, y), (x + 22, y)], pen)

    pens = {line["label"]: line.get("pen", "contour") for line in panel.get("lines", ())}
    return [Entry(label, sample(pen)) for label, pen in pens.items()]


def _draw_lines(frame: Frame, panel: Series) -> None:
    """Lines over the map, each with a rim in the colour of the page so that it stands out."""
    lines = [
        ([(frame.x(float(x)), frame.y(float(y))) for x, y in line["points"]], line)
        for line in panel.get("lines", ())
    ]
    for points, _ in lines:
        frame.canvas.line(points, "halo")
    for points, line in lines:
        frame.canvas.line(points, line.get("pen", "contour"))


def _some(names: Sequence[str], step: float, need: float) -> list[tuple[int, str]]:
    """Every name, or every second, third, … so that they do not touch."""
    keep = next(k for k in range(1, len(names) + 1) if k * step >= need or k == len(names))
    return list(enumerate(names))[::keep]


def _ticks(axis: Axis, panel: Series, columns: int) -> tuple[tuple[float, str], ...]:
    given = [str(name) for name in panel.get("x_names", ())]
    names = given or [short(column) for column in range(columns)]
    need = max(map(len, names)) * 11 * LETTER + 6
    return tuple((float(at), name) for at, name in _some(names, axis.length / columns, need))


def _key(canvas: Canvas, name: str) -> None:
    """The ramp with its ends, below the map."""
    y, wide = canvas.height + 4, 12.0
    canvas.text(0, y + 9, f"{name}: 0", "tick")
    start = 8 + (len(name) + 3) * 11 * LETTER
    for level in range(HEATS):
        canvas.box(start + level * wide, y, wide + 0.3, 10, f"cell h{level}")
    canvas.text(start + HEATS * wide + 6, y + 9, "1", "tick")
    canvas.height = y + 16
