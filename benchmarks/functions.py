"""Which functions can attention find? A table of functions × learners, with rates and intervals.

python benchmarks/functions.py [--n 16] [--runs 20] [--json FILE] [--page FILE] [--svg FILE]

With --page docs/functions.md the table between the two marks of that page is replaced; --json FILE
keeps every cell as soon as it is finished, and --from FILE draws from such a file without running.
"""

import argparse
import json
import re
from pathlib import Path

import numpy as np

from paritylab import Rate
from paritylab.claims.lab.functions import (
    FUNCTIONS,
    LEARNERS,
    Budget,
    facts_of,
    heat,
    targets_of,
)
from paritylab.theory.juntas import pulls

MARKS = ("<!-- functions: begin -->", "<!-- functions: end -->")


def measure(n: int, runs: int, seed: int, budget: Budget):
    """Every function with every learner, one dict for each function as soon as it is finished."""
    for name in FUNCTIONS:
        targets = targets_of(name, n, runs, seed)
        facts = facts_of(targets[0])._asdict()
        pulled = min(pulls(targets[0]).values()) > 0
        cells = {}
        for learner, run in LEARNERS.items():
            cells[learner] = run(targets, seed, budget)._asdict()
        yield {"name": name, "n": n, "runs": runs, **facts, "pulled": pulled, "cells": cells}


def told(cell: dict, runs: int) -> str:
    return "–" if cell["why"] else str(Rate(cell["named"], runs))


def table(rows: list) -> str:
    """The rows as markdown."""
    learners = list(rows[0]["cells"])
    facts = ["degree", "leap", "largest", "B", "seen", "pulls all"]
    head = ["function", *facts, *learners]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        numbers = [f"{row[name]:.2g}" for name in ("degree", "leap", "largest", "top", "seen")]
        pulled = "yes" if row["pulled"] else "no"
        cells = [told(row["cells"][learner], row["runs"]) for learner in learners]
        lines.append("| " + " | ".join([row["name"], *numbers, pulled, *cells]) + " |")
    return "\n".join(lines)


def picture(rows: list):
    """The table as a heat map."""
    learners = list(rows[0]["cells"])
    values = np.array(
        [
            [
                np.nan if row["cells"][each]["why"] else row["cells"][each]["named"] / row["runs"]
                for each in learners
            ]
            for row in rows
        ]
    )
    names = [f"{row['name']} · {row['leap']}" for row in rows]
    return heat(values, learners, names, "named: the k positions it looks at or listens to most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=16)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--net", type=int, default=600, help="steps of the nets")
    parser.add_argument("--heads", type=int, default=1000, help="steps of trained heads")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--from", type=Path, dest="kept")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    budget = Budget(net=options.net, width=64, heads=options.heads)
    rows = json.loads(options.kept.read_text()) if options.kept else []
    for row in [] if rows else measure(options.n, options.runs, options.seed, budget):
        rows.append(row)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
        print(row["name"], {k: told(c, row["runs"]) for k, c in row["cells"].items()}, flush=True)
    made = table(rows)
    print(made)
    if options.page:
        between = re.compile(f"{MARKS[0]}.*?{MARKS[1]}", re.DOTALL)
        text = between.sub(f"{MARKS[0]}\n{made}\n{MARKS[1]}", options.page.read_text())
        options.page.write_text(text)
    if options.svg:
        from paritylab.report.figures import save_figure

        save_figure(picture(rows).series(), options.svg)


if __name__ == "__main__":
    main()
