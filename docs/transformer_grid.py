"""Rows that a transformer needs by the chain it is shown, over a grid of settings.

One cell is a setting (width, layers, positions, step size), a chain and a size (n, k). A finished
cell adds one line to docs/runs/transformers.json, so that a stopped script goes on where it was.

    python docs/transformer_grid.py --until 13:15   # runs cells in the order of `cells()`
    python docs/transformer_grid.py --table         # writes the tables of the page
"""

import argparse
import datetime
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from paritylab.claims.lab.transformers import LINE, growth, median_of, trained

HERE = Path(__file__).parent
DATA, PAGE = HERE / "runs" / "transformers.json", HERE / "concepts" / "transformers.md"
CHAINS = ("line", "tree", "again", "filler", "gap", "post-order")
RATES = (2e-3, 1e-3, 5e-3)
#: Targets, starts and rows of the grid; no verdict and no choice of a step size used this seed.
SEED = 10


class Cell(NamedTuple):
    """One line of the data without what was measured. eta: step size. chain: one of `CHAINS`, "gap"
    is a line of every second token."""

    width: int
    layers: int
    positions: str
    eta: float
    chain: str
    n: int
    k: int


def cells() -> Iterator[Cell]:
    """All cells, the most telling first: rates, sizes, then widths, depths and positions."""
    base = (32, 1, "learned")
    yield from (Cell(*base, eta, chain, 16, 8) for chain in CHAINS for eta in RATES)
    yield from (Cell(*base, RATES[0], c, n, 4) for n in (16, 8, 32) for c in CHAINS[:5])
    wide = [(16, 1, "learned"), (64, 1, "learned")]
    deep = [(width, 2, places) for width in (16, 32, 64) for places in ("learned", "rotary")]
    single = [(width, 1, "rotary") for width in (32, 16, 64)]
    for settings, rates in (
        (wide[:1] + deep[:2] + wide[1:] + deep[2:], RATES[:1]),
        (single[:1], RATES[:1]),
        ([base, *wide, *deep], RATES[1:]),
        (single, RATES),
    ):
        for each in settings:
            yield from (Cell(*each, eta, chain, 16, 4) for chain in CHAINS[:4] for eta in rates)


def measured(cell: Cell) -> dict[str, Any]:
    """The cell with the rows of every run and whether it was solved."""
    steps = 600 if cell[1:3] == (1, "rotary") else 2500 if cell.layers == 1 else 1200
    runs, begin = (6 if cell.layers == 1 else 4), time.process_time()
    shape = {"width": cell.width, "layers": cell.layers, "positions": cell.positions}
    shown = {"chain": "line", "gap": 2} if cell.chain == "gap" else {"chain": cell.chain}
    learner = replace(LINE, **shape, **shown, eta=cell.eta, steps=steps)
    found = trained(learner, cell.n, cell.k, runs, SEED)
    rows, solved = found.stats["rows"].tolist(), found.solved.tolist()
    seconds = round(time.process_time() - begin, 1)
    return {**cell._asdict(), "rows": rows, "solved": solved, "seconds": seconds}


Known = dict[Cell, dict[str, Any]]


def known() -> Known:
    """What is in the data, by cell."""
    lines = DATA.read_text(encoding="utf-8").splitlines() if DATA.exists() else []
    return {Cell(*(each[f] for f in Cell._fields)): each for each in map(json.loads, lines)}


def ratio(done: Known, cell: Cell, chain: str) -> str:
    """Median rows of a chain over those of the line in the same setting, with what was solved."""
    found, line = (done.get(cell._replace(chain=each)) for each in (chain, "line"))
    if found is None or line is None:
        return "not run"
    value = median_of(found["rows"], line["rows"])
    said = f"{value.value:.1f} [{value.low:.1f}, {value.high:.1f}]"
    parts = ((found["solved"], ""), (line["solved"], " lines"))
    few = [f"{sum(ok)} of {len(ok)}{name}" for ok, name in parts if not all(ok)]
    return f"{said}, solved {', '.join(few)}" if few else said


def ratios(done: Known, k: int, chains: tuple[str, ...]) -> list[list[str]]:
    """The table of one k at n = 16: one row per setting of which something was run."""
    head = ["width", "layers", "positions", "step size", *(f"{c} / line" for c in chains)]
    run = (cell for cell in done if (cell.n, cell.k) == (16, k) and cell.chain != "line")
    settings = {cell[:4] for cell in run}
    order = sorted(settings, key=lambda each: (each[2], each[1], each[0], each[3]))
    found = [[ratio(done, Cell(*each, "", 16, k), chain) for chain in chains] for each in order]
    return [head, *([*map(str, each), *row] for each, row in zip(order, found, strict=True))]


def counted(done: Known) -> list[list[str]]:
    """In how many settings at n = 16, k = 4 a chain is dearer than the line beyond doubt."""
    table = [["positions", "settings", *(f"{c} dearer than line" for c in CHAINS[1:4])]]
    for positions in ("learned", "rotary"):
        settings = {c[:4] for c in done if (c.n, c.k, c.positions) == (16, 4, positions)}
        row = [positions, str(len(settings))]
        for chain in CHAINS[1:4]:
            pairs = [
                [done.get(Cell(*each, name, 16, 4)) for name in (chain, "line")]
                for each in settings
            ]
            both = [median_of(a["rows"], b["rows"]) for a, b in pairs if a and b]
            dearer = sum(each.low > 1 for each in both)
            middle = sorted(each.value for each in both)[len(both) // 2]
            row.append(f"{dearer} of {len(both)}, median {middle:.1f}")
        table.append(row)
    return table


def sizes(done: Known) -> list[list[str]]:
    """Median rows against n at k = 4 in the first setting, with the exponent of n."""
    table = [["chain", "unknown parents", "n = 8", "n = 16", "n = 32", "exponent of n"]]
    for chain in CHAINS[:5]:
        found = [done[Cell(32, 1, "learned", RATES[0], chain, n, 4)] for n in (8, 16, 32)]
        law = growth((8, 16, 32), [each["rows"] for each in found])
        row = [chain, "1" if chain in ("line", "again") else "2"]
        for each in found:
            solved, middle = each["solved"], median_of(each["rows"]).value
            row.append(f"{middle:,.0f}" + ("" if all(solved) else f" ({sum(solved)} of 6)"))
        table.append([*row, f"{law.value:.2f} [{law.low:.2f}, {law.high:.2f}]"])
    return table


def write_tables(done: Known) -> None:
    """Put the tables between their marks in the page."""
    text = PAGE.read_text(encoding="utf-8")
    tables = {"sizes": sizes(done), "k8": ratios(done, 8, CHAINS[1:])}
    tables["k4"], tables["counted"] = ratios(done, 4, CHAINS[1:4]), counted(done)
    for name, (head, *rows) in tables.items():
        lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, after = text.split(begin)[0], text.split(end)[1]
        text = before + begin + "\n".join(lines) + "\n" + end + after
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--until", default="23:59", help="start no cell after this time, HH:MM")
    parser.add_argument("--table", action="store_true", help="write the tables of the page")
    given, done = parser.parse_args(), known()
    if given.table:
        write_tables(done)
        return
    for cell in cells():
        if f"{datetime.datetime.now():%H:%M}" >= given.until:
            break
        if cell not in done:
            with DATA.open("a", encoding="utf-8") as file:
                file.write(json.dumps(measured(cell)) + "\n")


if __name__ == "__main__":
    main()
