"""Cells of a sweep from stored rows alone: what was varied, how often it succeeded."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from paritylab.execution.provenance import fingerprint_of
from paritylab.execution.store import Block, Store
from paritylab.learning import LEARNERS
from paritylab.statistics import Rate
from paritylab.sweep.blocks import files_of_parts
from paritylab.sweep.grid import Spec

Values = dict[str, Any]


class Cell(NamedTuple):
    """One cell: the learner's name, the problem's entries and the settings, and its rate.

    current: made by this code, these versions and this device.
    """

    values: Values
    rate: Rate
    current: bool

    @property
    def name(self) -> str:
        """The cell for people, as `Spec.cell` writes it."""
        rest = (f"{name}={value}" for name, value in self.values.items() if name != "learner")
        return " ".join([str(self.values["learner"]), *rest])


def rates(store: Store) -> list[Cell]:
    """The success rate of every stored cell, as `stored_cells` counts it."""
    return stored_cells(store.blocks())


def stored_cells(blocks: Iterable[Block], specs: Iterable[Spec] | None = None) -> list[Cell]:
    """The cells of stored blocks: those of these specs in their order, all of them if None.

    Runs of other code, versions or devices are never added to this one's; where only such are
    stored, those with the most runs stand in and are marked as not current.
    """
    places = None if specs is None else {spec.hash: at for at, spec in enumerate(specs)}
    found = [block for block in blocks if places is None or block["hash"] in places]
    if places is not None:
        found.sort(key=lambda block: places[block["hash"]])
    values: dict[tuple[str, int, int], Values] = {}
    code: dict[tuple[str, int, int], tuple[str, tuple[Path, ...]]] = {}
    flags: dict[tuple[str, int, int], dict[str, list[bool]]] = {}
    for block in found:
        spec = block["spec"]
        cell = (block["cell"], spec["seed"], spec["block"])
        values.setdefault(cell, {"learner": spec["learner"], **spec["problem"], **spec["settings"]})
        if cell not in code:
            files = files_of_parts(spec["learner"], spec["settings"])
            code[cell] = (spec["learner"], tuple(files))
        marked = flags.setdefault(cell, {}).setdefault(block["fingerprint"], [])
        marked += [bool(row.get("success")) for row in block["rows"]]
    marks: dict[tuple[str, tuple[Path, ...]], str] = {}
    made = []
    for cell, entries in values.items():
        learner, parts = code[cell]
        if code[cell] not in marks:
            marks[code[cell]] = fingerprint_of(LEARNERS.get(learner), parts)
        mine = flags[cell].get(marks[code[cell]])
        counted = mine or max(flags[cell].values(), key=len)
        made.append(Cell(entries, Rate.of(counted), mine is not None))
    return made


def varied(cells: Iterable[Cell]) -> list[str]:
    """Names of what differs between cells, in their order.

    >>> a = Cell({"learner": "heads", "n": 8, "k": 2}, Rate(1, 2), True)
    >>> varied([a, a._replace(values={"learner": "heads", "n": 9, "k": 2})])
    ['n']
    """
    cells = list(cells)
    names = dict.fromkeys(name for cell in cells for name in cell.values)
    return [n for n in names if len({repr(cell.values.get(n)) for cell in cells}) > 1]


def tidy(cells: Iterable[Cell]) -> list[dict[str, object]]:
    """One plain row per cell: what was varied or fixed, successes, runs, rate and its interval.

    An entry that has the name of a measured column gets "_setting" after it.
    """
    cells = list(cells)
    names = list(dict.fromkeys(name for cell in cells for name in cell.values))
    rows = []
    for cell in cells:
        measured = {
            "successes": cell.rate.successes,
            "runs": cell.rate.runs,
            "rate": cell.rate.value,
            "low": cell.rate.low,
            "high": cell.rate.high,
            "made_by": "this code and machine" if cell.current else "other code or machine",
        }
        entries = {
            f"{name}_setting" if name in measured else name: _flat(cell.values.get(name))
            for name in names
        }
        rows.append({**entries, **measured})
    return rows


def _flat(value: object) -> object:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value
