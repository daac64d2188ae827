"""Sweeps that come with the lab: a TOML file each in the folder named/, read here.

A file has a title, one sentence for its figure (`shows`), a `[layout]`, and the grids of each
effort under `[[quick]]`, `[[default]]` and `[[full]]`. `[[layout.lines]]` draws what theory says: a
formula in n and k, or the name of a function in `LINES`.
"""

import math
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from paritylab.options import check_known
from paritylab.sweep.cells import Values
from paritylab.sweep.grid import Grid
from paritylab.theory.hg2 import rows_to_rank
from paritylab.theory.ks import samples_for_every_pair

EFFORTS = ("quick", "default", "full")
FOLDER = Path(__file__).with_name("named")


def rows_by_information(values: Values) -> float:
    """Rows without which nobody can name the set: log2 C(n, k) bits at 1 - H(noise) bits a row.

    >>> round(rows_by_information({"n": 20, "k": 3, "noise": 0.0}), 1)
    10.2
    """
    p = values["noise"]
    entropy = 0.0 if p in (0, 1) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)
    sets = math.comb(values["n"], values.get("k", 2))
    return math.log2(sets) / (1 - entropy)


#: What theory says of a phase diagram: the value of y at the values of a column.
LINES: dict[str, Callable[[Values], float]] = {
    "1/n": lambda values: 1 / values["n"],
    "n/4": lambda values: values["n"] / 4,
    "8n": lambda values: 8 * values["n"],
    "k": lambda values: values["k"],
    "rows_to_rank": lambda values: rows_to_rank(values["n"]),
    "rows_for_every_pair": lambda values: samples_for_every_pair(values["n"], values["k"]),
    "rows_by_information": rows_by_information,
}


class TheoryLine(NamedTuple):
    """A line over a phase diagram, with the function that gives its height."""

    label: str
    at: Callable[[Values], float]


class Layout(NamedTuple):
    """How cells become a picture: a heat map of x against y, or curves over x where y is "".

    panel: entries whose values have a picture each. curve: the entry with a curve for each value,
    where there is no y.
    """

    x: str
    y: str = ""
    panel: tuple[str, ...] = ()
    curve: str = ""
    lines: tuple[TheoryLine, ...] = ()


class NamedSweep(NamedTuple):
    """title: what is asked. shows: one sentence for the figure. tables: the grids by effort."""

    title: str
    shows: str
    layout: Layout
    tables: dict[str, list[dict[str, object]]]

    def grids(self, effort: str) -> list[Grid]:
        """The grids of an effort."""
        return [Grid(**table) for table in self.tables[effort]]  # type: ignore[arg-type]


@cache
def named_sweep(name: str) -> NamedSweep:
    """A sweep that comes with the lab.

    >>> named_sweep("xor").grids("quick")[0].runs
    100
    """
    check_known("sweep (or give a .toml file)", [name], NAMED)
    table = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    drawn = table["layout"]
    lines = tuple(TheoryLine(each["label"], LINES[each["at"]]) for each in drawn.pop("lines", ()))
    drawn["panel"] = tuple(drawn.get("panel", ()))
    tables = {effort: table[effort] for effort in EFFORTS}
    return NamedSweep(table["title"], table["shows"], Layout(**drawn, lines=lines), tables)


#: Names of the sweeps, in the order of the alphabet.
NAMED = sorted(path.stem for path in FOLDER.glob("*.toml"))
