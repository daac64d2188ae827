"""Noisy parities of any size among 27 to 48 columns: one step of Blum, Kalai and Wasserman.

Two rows that agree in some columns sum to a row that is 0 there, and their labels sum to a label of
the other columns' parity. If a label is wrong with chance ν, the sum is with chance 2ν(1-ν): its
contrast is (1-2ν)², and N rows have about N²/2^(c+1) such pairs for c columns. So the Walsh
transform of all pairs names the members among the other columns; with those known, the
transform of all rows names the others. Both have at most 2^24 sums, where one transform had 2^n.
"""

import math

import numpy as np

from paritylab.baselines.answer import Step, Stop
from paritylab.baselines.task import Candidates, Task
from paritylab.baselines.walsh import hadamard, walsh_seconds

#: Columns that remain for the first transform, if the others are few enough for the second.
TRANSFORMED = 24
#: Most columns: each of the two transforms has half of them.
MAX_REDUCTION_COLUMNS = 2 * TRANSFORMED
#: Pairs of rows that are summed, and masks of the first transform that are followed up.
MAX_PAIRS, FOLLOW_UPS = 1 << 22, 4
#: Pairs that show a parity at noise 0.4.
SUFFICIENT_PAIRS = 1 << 16


def cancelled_columns(columns: int, rows: int) -> int:
    """How many columns pairs of rows agree in: what the first transform cannot take; more, up to
    half, while enough pairs remain to tolerate any noise worth a try."""
    spare = int(math.log2(max(rows, 2) ** 2 / 2 / SUFFICIENT_PAIRS))
    return max(columns - TRANSFORMED, min(columns // 2, spare), 1)


def reduction_noise(columns: int, rows: int) -> float:
    """The noise up to which this finds a parity, about; 0 if the rows have too few pairs.

    Of 2^m sums of noise the largest is about √(2m·ln 2) standard errors; three more are required.

    >>> round(reduction_noise(40, 200_000), 2)
    0.41
    """
    cancelled = cancelled_columns(columns, rows)
    pairs = min(float(rows) ** 2 / 2 ** (cancelled + 1), MAX_PAIRS)
    required = (math.sqrt(2 * (columns - cancelled) * math.log(2)) + 3) ** 2
    return (1 - (required / pairs) ** 0.25) / 2 if pairs > required else 0.0


def reduction_seconds(columns: int, rows: int) -> float:
    """Seconds of the search, about."""
    cancelled = cancelled_columns(columns, rows)
    first = walsh_seconds(columns - cancelled, MAX_PAIRS // 4) / 2
    return first + walsh_seconds(cancelled, rows) * FOLLOW_UPS


def reduction(task: Task) -> Candidates:
    """The best parities of any size, for up to 48 distinct columns and many rows."""
    table, n = task.table, task.table.distinct
    if not 2 <= n <= MAX_REDUCTION_COLUMNS:
        raise ValueError(
            f"one step of reduction takes 2 to {MAX_REDUCTION_COLUMNS} columns that differ, got "
            f"{n}; use method='auto'"
        )
    cancelled = cancelled_columns(n, table.rows)
    task.report(0.0, f"pairs of rows that agree in {cancelled} columns")
    codes = table.distinct_bits.astype(np.uint64) @ (np.uint64(1) << np.arange(n, dtype=np.uint64))
    low_mask = np.uint64((1 << cancelled) - 1)
    first, second = _equal_pairs(codes & low_mask)
    high = codes >> np.uint64(cancelled)
    products = table.labels[first] * table.labels[second]
    masks = _largest_sums(high[first] ^ high[second], products, n - cancelled, FOLLOW_UPS)
    subsets = []
    for mask in masks.tolist():
        parity = np.bitwise_count(high & np.uint64(mask)) & 1
        labels = np.where(parity, -table.labels, table.labels)
        (low,) = _largest_sums(codes & low_mask, labels, cancelled, 1).tolist()
        subset = mask << cancelled | low
        subsets.append(table.columns_of([j for j in range(n) if subset >> j & 1]))
        if task.best_supported(subsets) is not None:
            break
    subsets = [subset for subset in subsets if subset and task.k in (None, len(subset))]
    return Candidates(subsets, (Step("reduction", Stop.EXHAUSTED, trials=len(first)),))


def _equal_pairs(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of rows with equal keys, neighbours in sorted order first; at most MAX_PAIRS."""
    order = np.argsort(keys, kind="stable")
    ordered, offset, count = keys[order], 1, 0
    parts: list[np.ndarray] = []
    while count < MAX_PAIRS and offset < len(keys):
        at = np.flatnonzero(ordered[offset:] == ordered[:-offset])[: MAX_PAIRS - count]
        if not len(at):
            break
        parts.append(np.stack([order[at], order[at + offset]]))
        count, offset = count + len(at), offset + 1
    pairs = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0), np.int64)
    return pairs[0], pairs[1]


def _largest_sums(codes: np.ndarray, labels: np.ndarray, columns: int, count: int) -> np.ndarray:
    """The masks of columns whose parity has the largest |sum| with the labels ±1."""
    sums = np.bincount(codes.astype(np.int64), labels, 1 << columns).astype(np.float32)
    sizes = np.abs(hadamard(sums))
    largest = np.argpartition(sizes, -min(count, len(sizes)))[-count:]
    masks: np.ndarray = largest[np.argsort(-sizes[largest], kind="stable")]
    return masks
