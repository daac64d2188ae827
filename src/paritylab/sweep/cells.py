"""Cells of a sweep from stored rows alone: what was varied, how often it succeeded."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from paritylab.learning import LEARNERS
from paritylab.statistics import Rate
from paritylab.sweep.provenance import fingerprint_of
from paritylab.sweep.spec import PlainSpec, Spec
from paritylab.sweep.store import Store, StoredBlock

Values = dict[str, Any]
#: A cell's name, the seed and the size of its blocks.
_Name = tuple[str, int, int]


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


def stored_cells(blocks: Iterable[StoredBlock], specs: Iterable[Spec] | None = None) -> list[Cell]:
    """The cells of stored blocks: those of these specs in their order, all of them if None.

    Runs of other code, versions or devices are never added to this one's; where only such are
    stored, those with the most runs stand in and are marked as not current.
    """
    wanted = None if specs is None else {spec.hash: None for spec in specs}
    counts: dict[tuple[_Name, str], list[int]] = {}
    order: dict[_Name, Values] = {}
    marks: dict[str, str] = {}
    found = [block for block in blocks if wanted is None or block["hash"] in wanted]
    if wanted is not None:
        places = {hash: place for place, hash in enumerate(wanted)}
        found.sort(key=lambda block: places[block["hash"]])
    for block in found:
        spec = block["spec"]
        marks.setdefault(spec["learner"], fingerprint_of(LEARNERS.get(spec["learner"])))
        cell = (block["cell"], spec["seed"], spec["block"])
        order.setdefault(cell, _values(spec))
        count = counts.setdefault((cell, block["fingerprint"]), [0, 0])
        count[0] += sum(bool(row.get("success")) for row in block["rows"])
        count[1] += len(block["rows"])
    return [
        _best(cell, values, counts, marks[str(values["learner"])]) for cell, values in order.items()
    ]


def _best(
    cell: _Name, values: Values, counts: dict[tuple[_Name, str], list[int]], mark: str
) -> Cell:
    """This code's rate of a cell; where there is none, another's with the most runs."""
    mine = counts.get((cell, mark))
    others = [count for (name, _), count in counts.items() if name == cell]
    successes, runs = mine or max(others, key=lambda count: count[1])
    return Cell(values, Rate(successes, runs), mine is not None)


def _values(spec: PlainSpec) -> Values:
    return {"learner": spec["learner"], **spec["problem"], **spec["settings"]}


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
