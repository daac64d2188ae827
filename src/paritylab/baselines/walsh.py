"""Every subset at once: the Walsh–Hadamard transform of the label sums."""

import math

import numpy as np
import scipy.linalg

from paritylab.baselines.answer import Step, Stop
from paritylab.baselines.significance import log_choose
from paritylab.baselines.task import Candidates, Task

#: Most distinct columns: two tables of 2^26 sums in float32 take 512 MiB.
MAX_WALSH_COLUMNS = 26
#: Columns transformed by one matrix product, and candidates returned.
BITS_PER_PRODUCT, CANDIDATES = 6, 64
#: Sums, and rows, in one block.
BLOCK = 1 << 18


def walsh_seconds(columns: int, rows: int) -> float:
    """Seconds of the search, about: two transforms, and the rows counted."""
    return 4e-8 * 2.0**columns + 3e-7 * rows


def walsh(task: Task) -> Candidates:
    """The subsets of any size with the most significant parities, for up to 26 distinct columns."""
    table = task.table
    n = table.distinct
    if n > MAX_WALSH_COLUMNS:
        raise ValueError(
            f"the Walsh transform takes up to {MAX_WALSH_COLUMNS} columns that differ, got {n}; "
            "use method='auto'"
        )
    task.report(0.0, f"all sets of {n} columns")
    scores = _scores(table.distinct_bits, table.labels)
    best = _strongest_masks(scores, n, task.k)
    subsets = [table.columns_of([j for j in range(n) if mask >> j & 1]) for mask in best.tolist()]
    return Candidates(subsets, (Step("walsh", Stop.EXHAUSTED, every_size=True),))


def _scores(bits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """About the log of 1/p before correction, of every mask: half the squared correlation·N."""
    rows, mean = len(labels), float(labels.mean())
    sums, total = _label_sums(bits, labels)
    hadamard(sums)
    hadamard(total)
    for start in range(0, len(sums), BLOCK):
        part, share = sums[start : start + BLOCK], total[start : start + BLOCK]
        part -= np.float32(mean) * share
        part *= part
        share *= share
        share *= np.float32(-1 / rows)
        share += np.float32(rows)
        part /= np.maximum(share, np.float32(0.5))
        part *= np.float32(0.5 / (1 - mean**2))
    sums[0] = 0
    return sums


def _label_sums(bits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every combination of columns the sum of its labels, and its number of rows."""
    size = 1 << bits.shape[1]
    sums, total = np.zeros(size, np.float32), np.zeros(size, np.float32)
    weights = 1 << np.arange(bits.shape[1], dtype=np.int64)
    for start in range(0, len(bits), BLOCK):
        codes = bits[start : start + BLOCK].astype(np.int64) @ weights
        np.add.at(sums, codes, labels[start : start + BLOCK].astype(np.float32))
        np.add.at(total, codes, np.float32(1))
    return sums, total


def hadamard(values: np.ndarray) -> np.ndarray:
    """Σ_x values[x]·(-1)^|S ∧ x| for every mask S, in place: six bits at a time by products.

    >>> hadamard(np.array([1, 0, 0, 1], np.float32)).tolist()
    [2.0, 0.0, 0.0, 2.0]
    """
    bits = (len(values) - 1).bit_length()
    for start in range(0, bits, BITS_PER_PRODUCT):
        step = min(BITS_PER_PRODUCT, bits - start)
        signs = scipy.linalg.hadamard(1 << step, dtype=np.float32)
        if start == 0:
            rows = values.reshape(-1, 1 << step)
            height = BLOCK >> step
            for at in range(0, len(rows), height):
                rows[at : at + height] = rows[at : at + height] @ signs
            continue
        groups, width = values.reshape(-1, 1 << step, 1 << start), BLOCK >> step
        height = max(1, width >> start)
        for at in range(0, len(groups), height):
            for low in range(0, 1 << start, width):
                part = groups[at : at + height, :, low : low + width]
                part[...] = signs @ part
    return values


def _strongest_masks(scores: np.ndarray, n: int, k: int | None) -> np.ndarray:
    """Masks with the largest score after the correction for their size."""
    factors = [0.0, *(log_choose(n, j) + math.log(j * (j + 1)) for j in range(1, n + 1))]
    correction = np.array(factors)
    threshold = 2.0 if scores.size > 4096 else 0.0
    masks, values = [], []
    for start in range(0, scores.size, BLOCK):
        part = scores[start : start + BLOCK]
        at = np.flatnonzero(part >= threshold)
        sizes = np.bitwise_count((at + start).astype(np.uint64)).astype(int)
        eligible = sizes == k if k is not None else sizes > 0
        at, sizes = at[eligible], sizes[eligible]
        corrected = part[at] - (0 if k is not None else correction[sizes])
        top = np.argsort(-corrected, kind="stable")[:CANDIDATES]
        masks.append(at[top] + start)
        values.append(corrected[top])
    order = np.argsort(-np.concatenate(values), kind="stable")[:CANDIDATES]
    return np.concatenate(masks)[order]
