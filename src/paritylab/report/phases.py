"""Phase diagrams: the cells of a sweep as heat maps with a 50 % contour, or as curves."""

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paritylab.execution.store import Store
from paritylab.figures import Line, Lines
from paritylab.sweep.cells import Cell, stored_cells, varied
from paritylab.sweep.grid import Grid
from paritylab.sweep.named import EFFORTS, NAMED, Layout, TheoryLine, named_sweep

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
    panels: dict[str, list[Cell]] = {}
    for cell in cells:
        found = [(name, cell.values[name]) for name in layout.panel if name in cell.values]
        title = ", ".join(v if isinstance(v, str) else f"{name} = {v}" for name, v in found)
        panels.setdefault(title, []).append(cell)
    parts = []
    for title, mine in panels.items():
        parts += [_map(mine, layout, title)] if layout.y else []
        parts.append(_curves(mine, layout, title).series())
    return {"kind": "side by side", "parts": parts, "caption": caption}


def usual_layout(cells: Sequence[Cell]) -> Layout:
    """A layout for cells of any grid: n against k, or the first numbers that vary; the other
    entries that vary have a panel each."""
    names = varied(cells)
    numbers = [name for name in names if all(_is_number(c.values.get(name)) for c in cells)]
    numbers.sort(key=lambda name: ("n", "k").index(name) if name in ("n", "k") else 2)
    if not numbers:
        raise ValueError("no number varies between these cells; paritylab sweep status lists")
    x, y = numbers[0], numbers[1] if len(numbers) > 1 else ""
    rest = tuple(name for name in names if name not in (x, y))
    if y or not rest:
        return Layout(x, y, rest)
    return Layout(x, panel=rest[:-1], curve=rest[-1])


def _map(cells: Sequence[Cell], layout: Layout, title: str) -> dict[str, Any]:
    """A heat map of rates, NaN where a cell is missing, with theory's lines over it."""
    columns, rows = _sorted_values(cells, layout.x), _sorted_values(cells, layout.y)[::-1]
    rates = {(cell.values[layout.y], cell.values[layout.x]): cell.rate.value for cell in cells}
    lines = []
    for number, theory in enumerate(layout.lines):
        points = _theory_points(theory, cells, layout, columns, rows)
        pen = ("theory", "theory2")[number % 2]
        lines += [{"label": theory.label, "points": points, "pen": pen}] if len(points) > 1 else []
    panel = {
        "title": title,
        "values": [[rates.get((y, x), float("nan")) for x in columns] for y in rows],
        "x_names": [_name(value) for value in columns],
        "y_names": [_name(value) for value in rows],
        "level": 0.5,
        "lines": lines,
    }
    axes = {"x": {"label": _words(layout.x)}, "y": {"label": _words(layout.y)}}
    return {"kind": "heatmaps", **axes, "colour": "success", "panels": [panel]}


def _theory_points(
    theory: TheoryLine, cells: Sequence[Cell], layout: Layout, columns: list[Any], rows: list[Any]
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
    sizes = [cell.values[over] for cell in cells]
    log = "x" if 0 < 10 * min(sizes) < max(sizes) else ""
    return Lines(lines, x=_words(over), y=f"{RATE}, {title}" if title else RATE, log=log)


def caption_of(shows: str, cells: Sequence[Cell], grids: Sequence[Grid]) -> str:
    """What the picture shows, how many runs are behind it, and what is missing from it.

    grids: what was asked for; none if the cells are all that is stored.
    """
    runs = sorted({cell.rate.runs for cell in cells})
    counted = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    asked = {spec.cell for grid in grids for spec in grid.specs()}
    missing = len(asked) - len(cells) if grids else 0
    parts = [shows, f"{len(cells)} cells of {counted} runs each."]
    parts += [f"{missing} cells are not stored yet."] if missing else []
    parts += [f"{line}." for line in (skipped_line(grids),) if line]
    if any(not cell.current for cell in cells):
        parts.append("Some were made by other code, versions or another device.")
    return " ".join(filter(None, parts))


def skipped_line(grids: Iterable[Grid]) -> str:
    """One sentence on cells that cannot exist; "" if there are none."""
    skipped = {cell: reason for grid in grids for cell, reason in grid.skipped().items()}
    if not skipped:
        return ""
    return f"left out, since they cannot be: {len(skipped)}, such as {next(iter(skipped.values()))}"


def stored_phases(path: Path) -> list[PhaseDiagram]:
    """A diagram for every named sweep that is stored whole, at its largest such effort, as made by
    this code on this machine."""
    if not path.is_file():
        return []
    with Store(path, reading=True) as store:
        blocks = list(store.blocks())
    made: dict[str, PhaseDiagram] = {}
    for name, effort in itertools.product(NAMED, EFFORTS):  # the larger efforts come last
        sweep = named_sweep(name)
        grids = sweep.grids(effort)
        specs = [spec for grid in grids for spec in grid.specs()]
        cells = stored_cells(blocks, specs)
        runs = sum(cell.rate.runs for cell in cells if cell.current)
        if runs == sum(spec.block for spec in specs):
            series = phase_figure(cells, sweep.layout, caption_of(sweep.shows, cells, grids))
            command = f"paritylab sweep run {name} --effort {effort}"
            made[name] = PhaseDiagram(sweep.title, command, series)
    return list(made.values())


def _sorted_values(cells: Iterable[Cell], name: str) -> list[Any]:
    values = dict.fromkeys(cell.values[name] for cell in cells if name in cell.values)
    return sorted(values) if all(map(_is_number, values)) else list(values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}" if value < 10_000 else f"{value:,}"


def _words(name: str) -> str:
    return _WORDS.get(name, name.replace("_", " "))
