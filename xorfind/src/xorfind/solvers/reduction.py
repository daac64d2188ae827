"""Noisy parities of any size among 27 to 48 columns: one step of Blum, Kalai and Wasserman.

Two rows that agree in some columns sum to a row that is 0 there, and their labels sum to a label of
the other columns' parity. If a label is wrong with chance ν, the sum is with chance 2ν(1-ν): its
contrast is (1-2ν)², and N rows have about N²/2^(c+1) such pairs for c columns. So the Walsh
transform of all pairs names the members among the columns that are left; with those known, the
transform of all rows names the others. Both have at most 2^24 sums, where one transform had 2^n.
"""

import math

import numpy as np

from xorfind.answer import Step, Stop
from xorfind.solvers.judge import Candidates, Task, supported
from xorfind.solvers.walsh import hadamard, walsh_seconds

#: Columns that are left for the first transform, if the others are few enough for the second.
LEFT = 24
#: Most columns: each of the two transforms has half of them.
MOST_REDUCED = 2 * LEFT
#: Pairs of rows that are summed, and masks of the first transform that are followed up.
MOST_PAIRS, FOLLOWED = 1 << 22, 4
#: Pairs that show a parity at noise 0.4.
ENOUGH_PAIRS = 1 << 16


def cancelled(columns: int, rows: int) -> int:
    """How many columns pairs of rows agree in: what the first transform cannot take; more, up to
    half, while so many pairs are left that they show any noise worth a try."""
    spare = int(math.log2(max(rows, 2) ** 2 / 2 / ENOUGH_PAIRS))
    return max(columns - LEFT, min(columns // 2, spare), 1)


def reduced_noise(columns: int, rows: int) -> float:
    """The noise up to which this finds a parity, about; 0 if the rows have too few pairs.

    Of 2^m sums of noise the largest is about √(2m·ln 2) standard errors; three more are asked for.

    >>> round(reduced_noise(40, 200_000), 2)
    0.41
    """
    gone = cancelled(columns, rows)
    pairs = min(float(rows) ** 2 / 2 ** (gone + 1), MOST_PAIRS)
    needed = (math.sqrt(2 * (columns - gone) * math.log(2)) + 3) ** 2
    return (1 - (needed / pairs) ** 0.25) / 2 if pairs > needed else 0.0


def reduction_seconds(columns: int, rows: int) -> float:
    """Seconds of the search, about."""
    gone = cancelled(columns, rows)
    return walsh_seconds(columns - gone, MOST_PAIRS // 4) / 2 + walsh_seconds(gone, rows) * FOLLOWED


def reduction(task: Task) -> Candidates:
    """The best parities of any size, for up to 48 distinct columns and many rows."""
    table, n = task.table, task.table.distinct
    if not 2 <= n <= MOST_REDUCED:
        raise ValueError(
            f"one step of reduction takes 2 to {MOST_REDUCED} columns that differ, got {n}; use "
            "method='auto'"
        )
    gone = cancelled(n, table.rows)
    task.tell(0.0, f"pairs of rows that agree in {gone} columns")
    codes = table.distinct_bits.astype(np.uint64) @ (np.uint64(1) << np.arange(n, dtype=np.uint64))
    first, second = _pairs(codes & np.uint64((1 << gone) - 1))
    left = codes >> np.uint64(gone)
    masks = _largest(
        left[first] ^ left[second], table.labels[first] * table.labels[second], n - gone, FOLLOWED
    )
    subsets = []
    for mask in masks.tolist():
        parity = np.bitwise_count(left & np.uint64(mask)) & 1
        labels = np.where(parity, -table.labels, table.labels)
        (rest,) = _largest(codes & np.uint64((1 << gone) - 1), labels, gone, 1).tolist()
        whole = mask << gone | rest
        subsets.append(table.named([j for j in range(n) if whole >> j & 1]))
        if supported(task, subsets) is not None:
            break
    found = [each for each in subsets if each and task.k in (None, len(each))]
    words = f"all sets of {n} columns, by {len(first):,} pairs of rows that agree in {gone} of them"
    return Candidates(found, (Step("reduction", Stop.EXHAUSTED, words=words),))


def _pairs(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of rows with equal keys, neighbours in sorted order first; at most MOST_PAIRS."""
    order = np.argsort(keys, kind="stable")
    ordered, apart, count = keys[order], 1, 0
    parts: list[np.ndarray] = []
    while count < MOST_PAIRS and apart < len(keys):
        at = np.flatnonzero(ordered[apart:] == ordered[:-apart])[: MOST_PAIRS - count]
        if not len(at):
            break
        parts.append(np.stack([order[at], order[at + apart]]))
        count, apart = count + len(at), apart + 1
    both = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0), np.int64)
    return both[0], both[1]


def _largest(codes: np.ndarray, labels: np.ndarray, columns: int, count: int) -> np.ndarray:
    """The masks of columns whose parity has the largest |sum| with the labels ±1."""
    sums = np.bincount(codes.astype(np.int64), labels, 1 << columns).astype(np.float32)
    sizes = np.abs(hadamard(sums))
    some = np.argpartition(sizes, -min(count, len(sizes)))[-count:]
    best: np.ndarray = some[np.argsort(-sizes[some], kind="stable")]
    return best
