"""Does `discover` say more than the rows do? Tables without a parity, and with one.

    OMP_NUM_THREADS=1 python benchmarks/null_tables.py nulls --tables 1000 [--kinds copies sticky]
    python benchmarks/null_tables.py planted --tables 100

`nulls`: labels that have nothing to do with the columns, in rows that depend on each other in one
way each; how many get a parity, and how many anything at all. `planted`: the same kinds with a
parity of two columns. Counts are printed with their 95 % interval; every table is made from its
number, so that a study can be done in parts with --first; thresholds were set on tables below
1,000,000.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from xorfind import solve
from xorfind.answer import Conclusion
from xorfind.statistics import Rate

ALPHA, COLUMNS, ROWS, NOISE = 0.05, 12, 100, 0.1
#: Chance that a column of a slow table stays as it is, and rows in it for each independent one.
STAY, SLOW = 0.95, 19
FAMILY, MUTATION = 4, 0.05
HIDDEN = (1, 4)

Table = tuple[np.ndarray, np.ndarray]
Labels = Callable[[np.ndarray], np.ndarray]


class Draw(NamedTuple):
    """Where a table comes from, and how its labels are made: by a parity, or from nothing."""

    generator: np.random.Generator
    planted: bool

    def rows(self, rows: int) -> np.ndarray:
        return self.generator.integers(0, 2, (rows, COLUMNS)).astype(np.uint8)

    def labels(self, bits: np.ndarray, share: float = 0.5) -> np.ndarray:
        """One label per row: the parity of the hidden columns with noise, or nothing."""
        if not self.planted:
            return (self.generator.random(len(bits)) < share).astype(np.uint8)
        odd = bits[:, HIDDEN].sum(axis=1) % 2
        return (odd ^ (self.generator.random(len(bits)) < NOISE)).astype(np.uint8)

    def slow(self, rows: int, columns: int) -> np.ndarray:
        turns = self.generator.random((rows, columns)) > STAY
        turns[0] = self.generator.random(columns) < 0.5
        return (np.cumsum(turns, axis=0) % 2).astype(np.uint8)


def independent(draw: Draw) -> Table:
    bits = draw.rows(ROWS)
    return bits, draw.labels(bits)


def copies(draw: Draw, times: int) -> Table:
    bits, labels = independent(draw)
    at = draw.generator.permutation(np.repeat(np.arange(ROWS), times))
    return bits[at], labels[at]


def some_copies(draw: Draw) -> Table:
    bits, labels = independent(draw)
    times = draw.generator.integers(1, 6, ROWS)
    at = draw.generator.permutation(np.repeat(np.arange(ROWS), times))
    return bits[at], labels[at]


def oversampled(draw: Draw) -> Table:
    """The rarer label drawn again until both are equally frequent."""
    bits = draw.rows(ROWS)
    labels = draw.labels(bits, 0.2)
    rare = np.flatnonzero(labels == (labels.mean() < 0.5))
    again = draw.generator.choice(rare, max(2 * len(rare), ROWS - 2 * len(rare)))
    at = np.concatenate([np.arange(ROWS), again])
    return bits[at], labels[at]


def slow(draw: Draw) -> Table:
    bits = draw.slow(ROWS * SLOW, COLUMNS)
    return bits, draw.labels(bits) if draw.planted else draw.slow(len(bits), 1)[:, 0]


def slow_with_time(draw: Draw) -> Table:
    """The same with a column that counts the rows, cut at its median."""
    bits, labels = slow(draw)
    time = (np.arange(len(bits)) > len(bits) // 2).astype(np.uint8)
    return np.concatenate([bits, time[:, None]], axis=1), labels


def with_id(draw: Draw) -> Table:
    """Independent rows, sorted by their label, with a column that counts them."""
    bits, labels = independent(draw)
    order = np.argsort(labels, kind="stable") if not draw.planted else np.arange(ROWS)
    count = (np.arange(ROWS) > ROWS // 2).astype(np.uint8)
    return np.concatenate([bits[order], count[:, None]], axis=1), labels[order]


def families(draw: Draw, shuffled: bool) -> Table:
    """Rows that descend from one each, with a few columns changed; a family has one label, or one
    draw of the noise."""
    parents = draw.rows(ROWS)
    of = np.repeat(np.arange(ROWS), FAMILY)
    bits = parents[of] ^ (draw.generator.random((len(of), COLUMNS)) < MUTATION)
    if draw.planted:
        flipped = (draw.generator.random(ROWS) < NOISE)[of]
        labels = (bits[:, HIDDEN].sum(axis=1) % 2 ^ flipped).astype(np.uint8)
    else:
        labels = draw.labels(parents)[of]
    order = draw.generator.permutation(len(of)) if shuffled else np.arange(len(of))
    return bits[order].astype(np.uint8), labels[order]


KINDS: dict[str, Callable[[Draw], Table]] = {
    "independent": independent,
    "copies 2": lambda draw: copies(draw, 2),
    "copies 3": lambda draw: copies(draw, 3),
    "copies 5": lambda draw: copies(draw, 5),
    "copies 1 to 5": some_copies,
    "oversampled": oversampled,
    "slow": slow,
    "slow, time column": slow_with_time,
    "sorted, id column": with_id,
    "families in order": lambda draw: families(draw, False),
    "families shuffled": lambda draw: families(draw, True),
}


def study(kind: str, planted: bool, first: int, tables: int) -> tuple[Rate, Rate, list[int]]:
    """Tables that are explained (planted: by the right parity), that get any parity; rows used."""
    explained, any_parity, used = [], [], []
    for number in range(first, first + tables):
        generator = np.random.default_rng([number, list(KINDS).index(kind), planted])
        bits, labels = KINDS[kind](Draw(generator, planted))
        answer = solve(bits, 1 - 2 * labels.astype(int), alpha=ALPHA, rows="check")
        right = answer.subset == HIDDEN if planted else True
        explained.append(right and answer.conclusion is Conclusion.EXPLAINS)
        any_parity.append(answer.subset is not None)
        used.append(answer.used.used)
    return Rate.of(explained), Rate.of(any_parity), used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("nulls", "planted"))
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--first", type=int, default=5_200_000)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    asked = parser.parse_args()
    planted = asked.what == "planted"
    print(f"{COLUMNS} columns, {ROWS} independent rows a table, alpha = {ALPHA:g}")
    for kind in asked.kinds:
        explained, any_parity, used = study(kind, planted, asked.first, asked.tables)
        print(
            f"{kind}: found {explained}; any parity {any_parity}; rows used {np.median(used):.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
