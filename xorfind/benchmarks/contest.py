"""Who finds a hidden pair or triple? Our solvers and four other tools on one table.

    python benchmarks/contest.py results.json [--tables 5] [--seconds 3]
    python benchmarks/contest.py results.json --draw docs/figures/contest.svg

Every method is told k. A method stops a cell after so many seconds, and leaves one out whose first
table would take longer than `LONGEST` by its last time. What is not installed (galois, skrebate:
the extra `bench`) is left out with a line. Run with one thread of BLAS for comparable seconds.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from planted import Planted, planted

from xorfind import rows_needed, solve
from xorfind.statistics import Rate, rate_interval

SIZES = (20, 50, 100, 200, 500, 1000)
#: Seconds that a method's first table may take by its last time, and that one random search gets.
LONGEST, DRAWS = 15.0, 0.6


class Cell(NamedTuple):
    """Tables of one kind: k members of n columns, noise, and rows by a rule with a name."""

    k: int
    noise: float
    rule: str
    n: int
    rows: int


def cells() -> Iterator[Cell]:
    for k in (2, 3):
        for noise, rules in (
            (0.0, ("1.5 × least", "n + 64")),
            (0.2, ("1.5 × least", "10 × least")),
        ):
            for rule in rules:
                for n in SIZES:
                    least = rows_needed(n, k, noise)
                    rows = {"1.5 × least": int(1.5 * least), "10 × least": 10 * least}
                    yield Cell(k, noise, rule, n, rows.get(rule, n + 64))
    for n in SIZES:
        yield Cell(2, 0.2, "100 n", n, 100 * n)


def by_ours(method: str, budget: float | None = None) -> Callable[[Planted], Any]:
    def find(case: Planted) -> Any:
        k = len(case.subset)
        return solve(case.bits, case.labels, k=k, method=method, budget=budget).subset

    return find


def top(case: Planted, importance: Any) -> tuple[int, ...]:
    order = np.argsort(-np.asarray(importance), kind="stable")[: len(case.subset)]
    return tuple(sorted(order.tolist()))


def by_galois(case: Planted) -> tuple[int, ...]:
    import galois

    field = galois.GF(2)
    side = (case.labels < 0).astype(np.uint8)[:, None]
    ones = np.ones((len(side), 1), np.uint8)
    reduced = np.asarray(field(np.concatenate([case.bits, ones, side], axis=1)).row_reduce())
    pivots = reduced[:, :-1].argmax(axis=1)
    members = pivots[(reduced[:, -1] == 1) & reduced[:, :-1].any(axis=1)]
    return tuple(sorted(each for each in members.tolist() if each < case.bits.shape[1]))


def by_relief(case: Planted) -> tuple[int, ...]:
    from skrebate import ReliefF

    model = ReliefF(n_neighbors=min(20, len(case.labels) // 4))
    model.fit(case.bits.astype(float), (case.labels < 0).astype(int))
    return top(case, model.feature_importances_)


def by_trees(case: Planted) -> tuple[int, ...]:
    from sklearn.ensemble import ExtraTreesClassifier

    model = ExtraTreesClassifier(300, random_state=0).fit(case.bits, case.labels)
    return top(case, model.feature_importances_)


def by_network(case: Planted) -> tuple[int, ...]:
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier((128,), solver="sgd", learning_rate_init=0.1, max_iter=300)
    model.set_params(random_state=0, n_iter_no_change=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(1 - 2.0 * case.bits, case.labels)
    return top(case, np.abs(model.coefs_[0]) @ np.abs(model.coefs_[1][:, 0]))


#: Name, search, and its work on N rows of n columns, up to a factor.
METHODS: list[tuple[str, Callable[[Planted], Any], Callable[[Cell], float]]] = [
    ("Auto", by_ours("auto"), lambda cell: cell.rows * cell.n**cell.k),
    ("Correlation", by_ours("correlation"), lambda cell: cell.rows * cell.n**cell.k),
    ("Elimination", by_ours("elimination", DRAWS), lambda cell: cell.rows * cell.n),
    ("galois", by_galois, lambda cell: cell.rows * cell.n**2),
    ("ReliefF", by_relief, lambda cell: cell.rows**2 * cell.n),
    ("ExtraTrees", by_trees, lambda cell: cell.rows * cell.n**0.5),
    ("MLP by SGD", by_network, lambda cell: cell.rows * cell.n),
]


def contest(path: Path, tables: int, seconds: float) -> None:
    last: dict[str, tuple[Cell, float]] = {}
    rows, missing = list[dict[str, Any]](), set[str]()
    for cell in cells():
        for name, find, work in METHODS:
            if name in missing:
                continue
            before = last.get(name)
            if before is not None and before[0][:3] == cell[:3]:
                guess = before[1] * work(cell) / work(before[0])
                if guess > LONGEST:
                    rows.append({**cell._asdict(), "method": name, "tables": 0, "guess": guess})
                    continue
            try:
                row = trial(cell, name, find, tables, seconds)
            except ImportError as absent:
                print(f"{name} left out: {absent.name} is not installed")
                missing.add(name)
                continue
            last[name] = (cell, row["seconds"])
            rows.append(row)
            rate = Rate(row["found"], row["tables"])
            print(*cell, name, rate, f"{row['seconds']:.3f} s", sep=" | ", flush=True)
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text(f"[\n{lines}\n]\n")


def trial(
    cell: Cell, name: str, find: Callable[[Planted], Any], tables: int, seconds: float
) -> dict[str, Any]:
    """One method on the tables of a cell. What is compiled is compiled before the clock starts."""
    if name == "galois":
        find(planted(cell.n, cell.k, cell.noise, cell.rows, tables))
    found, wrong, taken = 0, 0, list[float]()
    while len(taken) < tables and sum(taken) < seconds:
        case = planted(cell.n, cell.k, cell.noise, cell.rows, len(taken))
        start = time.process_time()
        answer = find(case)
        taken.append(time.process_time() - start)
        found += answer == case.subset
        wrong += answer not in (None, case.subset)
    low, high = rate_interval(found, len(taken))
    return {
        **cell._asdict(),
        "method": name,
        "tables": len(taken),
        "found": found,
        "wrong": wrong,
        "interval": [low, high],
        "seconds": float(np.median(taken)),
    }


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """One panel per kind of table: colour is the share recovered, the number its seconds."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "contest", "font.size": 8})
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys((row["k"], row["noise"], row["rule"]) for row in rows))
    names = list(dict.fromkeys(row["method"] for row in rows))
    figure, axes = plt.subplots(3, 3, figsize=(11, 8.2), layout="constrained")
    for panel, kind in zip(axes.flat, kinds, strict=True):
        shares = np.full((len(names), len(SIZES)), np.nan)
        for row in rows:
            if (row["k"], row["noise"], row["rule"]) != kind:
                continue
            at = names.index(row["method"]), SIZES.index(row["n"])
            if row["tables"]:
                shares[at] = row["found"] / row["tables"]
            text = f"{row['seconds']:.2g}" if row["tables"] else "–"
            dark = row["tables"] and shares[at] > 0.6
            panel.text(
                at[1], at[0], text, ha="center", va="center", color="white" if dark else "black"
            )
        panel.set_facecolor("lightgrey")
        panel.imshow(shares, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        panel.set_xticks(range(len(SIZES)), SIZES)
        panel.set_yticks(range(len(names)), names)
        panel.set_title(f"k = {kind[0]}, noise {kind[1]:g}, rows {kind[2]}", fontsize=9)
    for panel in axes[-1]:
        panel.set_xlabel("columns n")
    figure.suptitle(
        "share of tables recovered: white none, dark all, grey not run; processor seconds per table"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--draw", type=Path)
    given = parser.parse_args()
    if given.draw is None:
        contest(given.results, given.tables, given.seconds)
    else:
        draw(json.loads(given.results.read_text()), given.draw)


if __name__ == "__main__":
    main()
