"""Rows that a transformer needs by the chain it is shown, over a grid of settings.

One cell is a setting (width, layers, positions, step size), a chain and a size (n, k). A finished
cell adds one line to docs/runs/transformers.json, so that a stopped script goes on where it was.

    python docs/transformer_grid.py --until 13:15     # runs cells in the order of `cells()`
"""

import argparse
import datetime
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from paritylab import Fresh, Transformer, learn, random_parities

DATA = Path(__file__).parent / "runs" / "transformers.json"
CHAINS = ("line", "tree", "again", "filler", "gap", "post-order")
RATES = (2e-3, 1e-3, 5e-3)
#: Targets, starts and rows of the grid; no verdict and no choice of a step size used this seed.
SEED, BATCH = 10, 64


class Cell(NamedTuple):
    """One line of the data without what was measured. gap: a line with every second token."""

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
    for chain in CHAINS:
        for eta in RATES:
            yield Cell(*base, eta, chain, 16, 8)
    for n in (16, 8, 32):
        for chain in CHAINS[:5]:
            yield Cell(*base, RATES[0], chain, n, 4)
    near = [(16, 1, "learned"), (64, 1, "learned"), (32, 2, "learned"), (16, 2, "learned")]
    far = [(32, 2, "rotary"), (16, 2, "rotary"), (64, 2, "learned"), (64, 2, "rotary")]
    one = [(w, 1, "rotary") for w in (32, 16, 64)]
    for settings, rates in (
        (near, RATES[:1]),
        (far[:1] + one[:1], RATES[:1]),
        ([base, *near[:3]], RATES[1:]),
        (far[1:], RATES[:1]),
        (near[3:] + far, RATES[1:]),
        (one, RATES),
    ):
        for setting in settings:
            for chain in CHAINS[:4]:
                for eta in rates:
                    yield Cell(*setting, eta, chain, 16, 4)


def measured(cell: Cell, runs: int, steps: int) -> dict[str, object]:
    """The cell with the rows of every run and whether it was solved."""
    chain, gap = ("line", 2) if cell.chain == "gap" else (cell.chain, 1)
    how = {"width": cell.width, "layers": cell.layers, "positions": cell.positions}
    learner = Transformer(chain, gap=gap, eta=cell.eta, steps=steps, check=10, **how)
    begin = time.process_time()
    found = learn(learner, Fresh(random_parities(cell.n, cell.k, runs, key=SEED), BATCH), key=SEED)
    return {
        **cell._asdict(),
        "rows": found.stats["rows"].tolist(),
        "solved": found.solved.tolist(),
        "most": steps * BATCH,
        "seconds": round(time.process_time() - begin, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--until", default="23:59", help="start no cell after this time, HH:MM")
    until = parser.parse_args().until
    lines = DATA.read_text(encoding="utf-8").splitlines() if DATA.exists() else []
    known = {Cell(**{name: json.loads(line)[name] for name in Cell._fields}) for line in lines}
    for cell in cells():
        if f"{datetime.datetime.now():%H:%M}" >= until:
            break
        if cell not in known:
            steps = 600 if cell[1:3] == (1, "rotary") else 2500 if cell.layers == 1 else 1200
            runs = 6 if cell.layers == 1 else 4
            with DATA.open("a", encoding="utf-8") as file:
                file.write(json.dumps(measured(cell, runs, steps)) + "\n")


if __name__ == "__main__":
    main()
