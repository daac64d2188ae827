"""Side by side with other tools: is a hidden XOR of 2 or 3 among 30 columns found, and how fast?

    pip install skrebate xgboost galois
    OMP_NUM_THREADS=1 python benchmarks/rivals.py [--tables 20] [--rows 100 500]

Every tool sees the same tables. `solve` is not told the size k and may say that there is nothing.
ReliefF and MultiSURF (skrebate) and xgboost rank columns; their first k are taken as their answer,
so they are told k. galois solves for a parity that fits every row, which noise rules out. All have
their default settings, but xgboost has 300 trees of depth k + 1, since shallower ones cannot hold
an XOR of k columns. Seconds are of the processor, the mean of all tables; one more table before
them, not counted, lets galois and numba compile.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from planted import planted

from xorfind import solve
from xorfind.statistics import Rate

COLUMNS, CASES = 30, [(2, 0.0), (2, 0.1), (3, 0.0), (3, 0.1)]
#: Bits (N, n), labels 0/1 (N,) and k to the set that a tool names; None: it names nothing.
Tool = Callable[[np.ndarray, np.ndarray, int], tuple[int, ...] | None]


def by_solve(bits: np.ndarray, labels: np.ndarray, k: int) -> tuple[int, ...] | None:
    answer = solve(bits, labels)
    return None if answer.abstained else answer.subset


def first(importances: Any, k: int) -> tuple[int, ...]:
    """The k columns with the largest importance."""
    return tuple(sorted(np.argsort(-np.asarray(importances), kind="stable")[:k].tolist()))


def by_relief(bits: np.ndarray, labels: np.ndarray, k: int) -> tuple[int, ...]:
    from skrebate import ReliefF

    # Its default of 100 neighbours is more than half of a class of 100 rows.
    neighbours = min(100, int(np.bincount(labels).min()) // 2)
    model = ReliefF(n_neighbors=neighbours).fit(bits.astype(float), labels)
    return first(model.feature_importances_, k)


def by_multisurf(bits: np.ndarray, labels: np.ndarray, k: int) -> tuple[int, ...]:
    from skrebate import MultiSURF

    return first(MultiSURF().fit(bits.astype(float), labels).feature_importances_, k)


def by_xgboost(bits: np.ndarray, labels: np.ndarray, k: int) -> tuple[int, ...]:
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=300, max_depth=k + 1, n_jobs=1).fit(bits, labels)
    return first(model.feature_importances_, k)


def by_galois(bits: np.ndarray, labels: np.ndarray, k: int) -> tuple[int, ...] | None:
    """The parity that fits every row, if the reduced form of [bits, 1 | labels] has just one."""
    import galois

    whole = np.column_stack([bits, np.ones(len(bits), np.uint8), labels]).astype(np.uint8)
    columns = bits.shape[1] + 1
    form = np.asarray(galois.GF2(whole).row_reduce(ncols=columns))
    rank = int(form[:, :columns].any(axis=1).sum())
    if rank < columns or form[rank:, columns].any():
        return None
    return tuple(np.flatnonzero(form[: columns - 1, columns]).tolist())


TOOLS: dict[str, Tool] = {
    "xorfind": by_solve,
    "ReliefF": by_relief,
    "MultiSURF": by_multisurf,
    "xgboost": by_xgboost,
    "galois": by_galois,
}


def cell(tool: Tool, k: int, noise: float, rows: int, tables: int) -> str:
    """Tables whose set was named exactly, wrong ones where it may abstain, and seconds."""
    right, wrong, spent = [], 0, 0.0
    for seed in range(-1, tables):
        made = planted(COLUMNS, k, noise, rows, seed + 1)
        labels = (made.labels < 0).astype(np.int64)
        start = time.process_time()
        named = tool(made.bits, labels, k)
        if seed < 0:
            continue
        spent += time.process_time() - start
        right.append(named == made.subset)
        wrong += named is not None and named != made.subset
    return f"{Rate.of(right).count}, {wrong} wrong, {spent / tables:.2g} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    print(f"| k, noise, rows | {' | '.join(asked.tools)} |")
    print("|---" * (1 + len(asked.tools)) + "|")
    for k, noise in CASES:
        for rows in asked.rows:
            cells = [cell(TOOLS[name], k, noise, rows, asked.tables) for name in asked.tools]
            print(f"| {k}, {noise:g}, {rows} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
