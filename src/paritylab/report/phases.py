"""Phase diagrams: the cells of a sweep as heat maps with a 50 % contour, or as curves."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims.engine.figures import Figure, Heatmap, Line, Lines, Over, SideBySide
from paritylab.sweep.cells import Cell, varied
from paritylab.sweep.named import Layout, TheoryLine

RATE = "share of runs that succeed"
#: Curves of one plot, at most.
CURVES = 6
_WORDS = {
    "n": "number of bits n",
    "k": "size of the hidden set k",
    "tau": "temperature tau",
    "heads": "number of heads",
    "samples": "rows N",
    "noise": "share of flipped labels",
    "width": "dimension of the position code",
}
#: Learners for people, as titles of panels.
_LEARNERS = {
    "xor": "one step of two heads",
    "anneal": "annealed heads",
    "one-step": "one step on random positions",
    "correlation": "search over all sets",
    "attention-on-rows": "heads on rows",
}


class PhaseDiagram(NamedTuple):
    """A sweep on the page: what it asks, the command that runs it, its figure."""

    title: str
    command: str
    series: dict[str, Any]


def phase_figure(cells: Sequence[Cell], layout: Layout, caption: str = "") -> dict[str, Any]:
    """The series of a sweep's picture: for each panel a heat map and curves with intervals, or
    curves alone where the layout has no y."""
    if not cells:
        raise ValueError("nothing of this sweep is stored yet; run it first")
    for name in filter(None, (layout.x, layout.y)):
        if any(name not in cell.values for cell in cells):
            known = ", ".join(dict.fromkeys(each for cell in cells for each in cell.values))
            raise ValueError(f"not every cell has an entry {name!r}; there are: {known}")
    parts: list[Figure] = []
    for title, mine in _panels(cells, layout.panel).items():
        parts += [_map(mine, layout, title)] if layout.y else []
        parts.append(_curves(mine, layout, title))
    return SideBySide(parts, caption=caption).series()


def usual_layout(cells: Sequence[Cell], x: str = "", y: str = "") -> Layout:
    """A layout for cells of any grid: n against k, or the first numbers that vary.

    x, y: what the user asked for; the other entries that vary have a panel each.
    """
    names = varied(cells)
    numbers = [name for name in names if all(_is_number(c.values.get(name)) for c in cells)]
    free = [name for name in ("n", "k", *numbers) if name in numbers and name not in (x, y)]
    free = list(dict.fromkeys(free))
    if not x:
        if not free:
            raise ValueError("no number varies between these cells; paritylab sweep status lists")
        x = free.pop(0)
        y = y or (free.pop(0) if free else "")
    rest = tuple(name for name in names if name not in (x, y))
    if y or not rest:
        return Layout(x, y, rest, log=_log(cells, y))
    return Layout(x, panel=rest[:-1], curve=rest[-1])


def contour(values: np.ndarray, level: float) -> list[list[tuple[float, float]]]:
    """Pieces of the line on which values, read between cells by straight lines, have the level.

    Each piece is a list of (column, row) places. Squares with a missing corner have none.

    >>> [sorted(piece) for piece in contour(np.array([[0.0, 1.0], [0.0, 1.0]]), 0.5)]
    [[(0.5, 0.0), (0.5, 1.0)]]
    """
    if min(values.shape) < 2:
        return []
    from contourpy import contour_generator

    generator: Any = contour_generator(z=np.ma.masked_invalid(values), corner_mask=False)
    return [[(float(x), float(y)) for x, y in line] for line in generator.lines(level)]


def _map(cells: Sequence[Cell], layout: Layout, title: str) -> Heatmap:
    columns, rows = _sorted_values(cells, layout.x), _sorted_values(cells, layout.y)[::-1]
    values = np.full((len(rows), len(columns)), np.nan)
    for cell in cells:
        place = rows.index(cell.values[layout.y]), columns.index(cell.values[layout.x])
        values[place] = cell.rate.value
    lines = [Over("50 %", piece) for piece in contour(values, 0.5)]
    for number, theory in enumerate(layout.lines):
        points, pen = _theory_points(theory, cells, layout, columns, rows), ("theory", "theory2")
        lines += [Over(theory.label, points, pen[number % 2])] if len(points) > 1 else []
    return Heatmap(
        values,
        x=_words(layout.x),
        y=_words(layout.y),
        colour="success",
        title=title,
        x_names=[_name(value) for value in columns],
        y_names=[_name(value) for value in rows],
        lines=lines,
    )


def _theory_points(
    theory: TheoryLine, cells: Sequence[Cell], layout: Layout, columns: list, rows: list
) -> list[tuple[float, float]]:
    """Places of the line inside the map; between rows by the logarithm where all are positive."""
    scale = np.log if min(rows) > 0 else np.asarray
    heights, places = scale(np.array(rows[::-1], float)), np.arange(len(rows))[::-1]
    points = []
    for at, column in enumerate(columns):
        values = next(c.values for c in cells if c.values[layout.x] == column)
        height = float(scale(np.array(theory.at(values), float)))
        if heights[0] <= height <= heights[-1]:
            points.append((float(at), float(np.interp(height, heights, places))))
    return points


def _curves(cells: Sequence[Cell], layout: Layout, title: str) -> Lines:
    """Rates with intervals; a map has a curve over y for each x, or for some if they are many."""
    over, each = (layout.y, layout.x) if layout.y else (layout.x, layout.curve)
    values: list[Any] = _sorted_values(cells, each) if each else [None]
    if len(values) > CURVES:
        values = [values[i] for i in np.linspace(0, len(values) - 1, CURVES).round().astype(int)]
    lines = []
    for value in values:
        mine = [cell for cell in cells if not each or cell.values.get(each) == value]
        mine = sorted(mine, key=lambda cell: cell.values[over])
        label = "" if not each else str(value) if isinstance(value, str) else f"{each} = {value:g}"
        x = [cell.values[over] for cell in mine]
        lines.append(Line.of_rates(label, x, [cell.rate for cell in mine]))
    log = "x" if "y" in layout.log or "x" in layout.log else ""
    return Lines(lines, x=_words(over), y=f"{RATE}, {title}" if title else RATE, log=log)


def _panels(cells: Sequence[Cell], names: Iterable[str]) -> dict[str, list[Cell]]:
    """Cells by the values of these entries, written out."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        parts = [(name, cell.values[name]) for name in names if name in cell.values]
        words = [
            _LEARNERS.get(v, v) if isinstance(v, str) else f"{name} = {v}" for name, v in parts
        ]
        found.setdefault(", ".join(words), []).append(cell)
    return found


def _sorted_values(cells: Iterable[Cell], name: str) -> list[Any]:
    values = dict.fromkeys(cell.values[name] for cell in cells if name in cell.values)
    numbers = all(_is_number(value) for value in values)
    return sorted(values) if numbers else list(values)


def _log(cells: Sequence[Cell], name: str) -> str:
    """Whether the values of an entry span more than a factor of 30."""
    values = [float(cell.values[name]) for cell in cells] if name else [1.0]
    return "y" if min(values) > 0 and max(values) > 30 * min(values) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}" if value < 10_000 else f"{value:,}"


def _words(name: str) -> str:
    return _WORDS.get(name, name.replace("_", " "))
