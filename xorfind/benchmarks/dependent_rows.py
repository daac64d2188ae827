"""Five kinds of tables whose rows depend on each other, with and without a parity.

    OMP_NUM_THREADS=1 python benchmarks/dependent_rows.py --tables 200
    OMP_NUM_THREADS=1 python benchmarks/dependent_rows.py --tables 60 --batches

600 rows of 20 columns. Null: the label is made like one more column, so that it shares the rows'
structure and nothing else. Planted: the label is the XOR of columns 1 and 4, wrong in 10 % of rows;
for mixtures before the rarer label is oversampled. `explains` counts tables that get exit code 0
(planted: with the right set), `related` those that get a weaker word. Every table is made from its
number: tables below 1,000,000 were used to build, those from `--first` on to judge.

--batches asks what "related" is worth in null tables of shuffled batches: how much more often the
label is 1 where the named parity says so, in the table, in fresh rows of the same batches, and in
fresh batches; and what is said where `groups` names the batch.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from xorfind import solve
from xorfind.answer import Conclusion
from xorfind.evidence.levels import Fit
from xorfind.statistics import Rate

ROWS, COLUMNS, NOISE, ALPHA, HIDDEN = 600, 20, 0.1, 0.01, (1, 4)
Draw = np.random.Generator
Table = tuple[np.ndarray, np.ndarray]


def labelled(draw: Draw, columns: np.ndarray, planted: bool) -> Table:
    """Columns (N, 21) as a table: the last one is the label, or it is a noisy parity of two."""
    bits = columns[:, :-1].astype(np.uint8)
    if not planted:
        return bits, columns[:, -1].astype(np.uint8)
    wrong = draw.random(len(bits)) < NOISE
    return bits, (bits[:, HIDDEN].sum(axis=1) % 2 ^ wrong).astype(np.uint8)


def seasonal(draw: Draw, planted: bool) -> Table:
    """Waves of unrelated periods, 15 to 120 rows, in the order of time, with a little noise."""
    period, phase = draw.uniform(15, 120, COLUMNS + 1), draw.uniform(0, 1, COLUMNS + 1)
    wave = np.sin(2 * np.pi * (np.arange(ROWS)[:, None] / period + phase))
    return labelled(draw, wave + 0.3 * draw.normal(size=wave.shape) > 0, planted)


def field(draw: Draw, planted: bool, shuffled: bool) -> Table:
    """Smooth random fields on a grid of 24 × 25 places, row by row or in random order."""
    high, wide = 24, 25
    kernel = np.fft.rfft2(draw.normal(size=(COLUMNS + 1, high, wide)))
    y, x = np.fft.fftfreq(high)[:, None], np.fft.rfftfreq(wide)[None]
    smooth = np.fft.irfft2(kernel * np.exp(-2 * (np.pi * 2.5) ** 2 * (x**2 + y**2)), (high, wide))
    values = smooth.reshape(COLUMNS + 1, -1).T
    order = draw.permutation(len(values)) if shuffled else np.arange(len(values))
    return labelled(draw, (values > np.median(values, axis=0))[order], planted)


def mixtures(draw: Draw, planted: bool) -> Table:
    """The rarer label oversampled: new rows between a row and one of its five nearest of a kind."""
    rare = 100
    values = draw.normal(size=(ROWS - 200, COLUMNS))
    truth = np.arange(len(values)) < rare
    if planted:
        odd = (values[:, HIDDEN] > 0).sum(axis=1) % 2
        truth = (odd ^ (draw.random(len(values)) < NOISE)).astype(bool)
        keep = np.r_[np.flatnonzero(~truth), np.flatnonzero(truth)[:rare]]
        values, truth = values[keep], truth[keep]
    own = values[truth]
    far = ((own[:, None] - own[None]) ** 2).sum(axis=2)
    near = np.argsort(far, axis=1)[:, 1:6]
    first = draw.integers(0, len(own), ROWS - len(values))
    second = near[first, draw.integers(0, 5, len(first))]
    mixed = own[first] + draw.random((len(first), 1)) * (own[second] - own[first])
    bits = np.concatenate([values, mixed]) > 0
    labels = np.r_[truth, np.ones(len(mixed), bool)]
    order = draw.permutation(len(bits))
    return bits[order].astype(np.uint8), labels[order].astype(np.uint8)


def batch_rows(draw: Draw, shift: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Rows (N, 21) of batches: every column shifted by its batch; the last is one label a batch."""
    values = 0.7 * shift[of] + draw.normal(size=(len(of), COLUMNS + 1))
    values[:, -1] = shift[of, -1]
    return values > 0


def batches(draw: Draw, planted: bool) -> Table:
    """30 batches of 20 rows, shuffled."""
    of = draw.permutation(np.repeat(np.arange(30), 20))
    shift = draw.normal(size=(30, COLUMNS + 1))
    return labelled(draw, batch_rows(draw, shift, of), planted)


KINDS: dict[str, Callable[[Draw, bool], Table]] = {
    "seasonal series": seasonal,
    "smooth field, in order": lambda draw, planted: field(draw, planted, False),
    "smooth field, shuffled": lambda draw, planted: field(draw, planted, True),
    "synthetic oversampling": mixtures,
    "shuffled batches": batches,
    "independent": lambda draw, planted: labelled(
        draw, draw.integers(0, 2, (ROWS, COLUMNS + 1)), planted
    ),
}


def study(kind: str, planted: bool, first: int, tables: int) -> tuple[Rate, Rate]:
    """Tables that are explained, planted: by the right parity; tables that are only related."""
    explained, related = [], []
    for number in range(first, first + tables):
        draw = np.random.default_rng([number, list(KINDS).index(kind), planted])
        bits, labels = KINDS[kind](draw, planted)
        answer = solve(bits, labels, alpha=ALPHA, rows="check")
        right = not planted or answer.subset == HIDDEN
        explained.append(right and answer.conclusion is Conclusion.EXPLAINS)
        related.append(answer.conclusion is Conclusion.RELATED)
    return Rate.of(explained), Rate.of(related)


def what_related_is_worth(first: int, tables: int) -> None:
    """Gaps of the label's share between the two sides of a parity that is called related."""
    gaps, grouped = [], []
    for number in range(first, first + tables):
        draw = np.random.default_rng(number)
        of, shift = np.repeat(np.arange(30), 20), draw.normal(size=(30, COLUMNS + 1))
        order = draw.permutation(len(of))
        table = batch_rows(draw, shift, of[order]).astype(np.uint8)
        answer = solve(table[:, :-1], table[:, -1], alpha=ALPHA, rows="check")
        named = solve(table[:, :-1], table[:, -1], alpha=ALPHA, rows="check", groups=of[order])
        grouped.append(named.conclusion is not Conclusion.NONE)
        if answer.conclusion is Conclusion.RELATED:
            again = batch_rows(draw, shift, np.repeat(np.arange(30), 200))
            others = draw.normal(size=(3000, COLUMNS + 1))
            fresh = batch_rows(draw, others, np.repeat(np.arange(3000), 2))
            gaps.append([_gap(rows, answer.best) for rows in (table, again, fresh)])
    means = ", ".join(f"{each:.1%}" for each in np.mean(gaps, axis=0))
    print(f"related in {len(gaps)} of {tables}; batches named: {Rate.of(grouped)} say anything")
    print(f"label's share, one side less the other: table, same batches, fresh ones: {means}")
    kept = np.sum(np.array(gaps)[:, 1:] > 0.05, axis=0).tolist()
    print(f"more than 5 % in fresh rows of the same batches {kept[0]}, of fresh batches {kept[1]}")


def _gap(rows: np.ndarray, found: Fit) -> float:
    odd = rows[:, found.subset].sum(axis=1) % 2 ^ (found.sign < 0)
    return float(rows[odd == 1, -1].mean() - rows[odd == 0, -1].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--first", type=int, default=9_400_000)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--batches", action="store_true", help="what related is worth")
    asked = parser.parse_args()
    if asked.batches:
        what_related_is_worth(asked.first, asked.tables)
        return
    print(f"{ROWS} rows, {COLUMNS} columns, alpha = {ALPHA:g}, tables from {asked.first:,}")
    for kind in asked.kinds:
        for planted in (False, True):
            start = time.perf_counter()
            explained, related = study(kind, planted, asked.first, asked.tables)
            took = (time.perf_counter() - start) / asked.tables
            what = "found" if planted else "false"
            print(f"{kind}: {what} {explained}; related {related.count}; {took:.2f} s", flush=True)


if __name__ == "__main__":
    main()
