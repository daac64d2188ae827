"""Every subset at once: the Walsh–Hadamard transform of the label sums."""

import math

import numpy as np
import scipy.linalg

from xorfind.answer import Step, Stop
from xorfind.evidence.levels import log_choose
from xorfind.solvers.judge import Candidates, Task

#: Most distinct columns: two tables of 2^26 sums in float32, 512 MiB, are all that is held.
MOST_COLUMNS = 26
#: Columns transformed by one matrix product, and candidates kept.
_STEP, _KEEP = 6, 64
#: Sums, and rows, worked on at a time.
_TOGETHER = 1 << 18


def walsh_seconds(columns: int, rows: int) -> float:
    """Seconds of the search, about: two transforms, and the rows counted."""
    return 4e-8 * 2.0**columns + 3e-7 * rows


def walsh(task: Task) -> Candidates:
    """The subsets of any size whose parity stands out most, for up to 26 distinct columns."""
    table = task.table
    n = table.distinct
    if n > MOST_COLUMNS:
        raise ValueError(
            f"the Walsh transform takes up to {MOST_COLUMNS} columns that differ, got {n}; "
            "use method='auto'"
        )
    task.tell(0.0, f"all sets of {n} columns")
    scores = _scores(table.distinct_bits, table.labels)
    best = _stand_out(scores, n, task.k)
    subsets = [task.table.named([j for j in range(n) if mask >> j & 1]) for mask in best.tolist()]
    return Candidates(subsets, (Step("walsh", Stop.EXHAUSTED, every_size=True),))


def _scores(bits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """About the log of 1/p before correction, of every mask: half the squared correlation·N."""
    rows, mean = len(labels), float(labels.mean())
    sums, total = _sums(bits, labels)
    for each in (sums, total):
        hadamard(each)
    for start in range(0, len(sums), _TOGETHER):
        part, share = sums[start : start + _TOGETHER], total[start : start + _TOGETHER]
        part -= np.float32(mean) * share
        part *= part
        share *= share
        share *= np.float32(-1 / rows)
        share += np.float32(rows)
        part /= np.maximum(share, np.float32(0.5))
        part *= np.float32(0.5 / (1 - mean**2))
    sums[0] = 0
    return sums


def _sums(bits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every combination of columns the sum of its labels, and its number of rows."""
    size = 1 << bits.shape[1]
    sums, total = np.zeros(size, np.float32), np.zeros(size, np.float32)
    weights = 1 << np.arange(bits.shape[1], dtype=np.int64)
    for start in range(0, len(bits), _TOGETHER):
        codes = bits[start : start + _TOGETHER].astype(np.int64) @ weights
        np.add.at(sums, codes, labels[start : start + _TOGETHER].astype(np.float32))
        np.add.at(total, codes, np.float32(1))
    return sums, total


def hadamard(values: np.ndarray) -> np.ndarray:
    """Σ_x values[x]·(-1)^|S ∧ x| for every mask S, in place: six bits at a time by products.

    >>> hadamard(np.array([1, 0, 0, 1], np.float32)).tolist()
    [2.0, 0.0, 0.0, 2.0]
    """
    bits = (len(values) - 1).bit_length()
    for start in range(0, bits, _STEP):
        step = min(_STEP, bits - start)
        signs = scipy.linalg.hadamard(1 << step, dtype=np.float32)
        if start == 0:
            rows = values.reshape(-1, 1 << step)
            many = _TOGETHER >> step
            for at in range(0, len(rows), many):
                rows[at : at + many] = rows[at : at + many] @ signs
            continue
        groups, wide = values.reshape(-1, 1 << step, 1 << start), _TOGETHER >> step
        many = max(1, wide >> start)
        for at in range(0, len(groups), many):
            for low in range(0, 1 << start, wide):
                part = groups[at : at + many, :, low : low + wide]
                part[...] = signs @ part
    return values


def _stand_out(scores: np.ndarray, n: int, k: int | None) -> np.ndarray:
    """Masks with the largest score after what their size costs."""
    price = np.array([0.0, *(log_choose(n, j) + math.log(j * (j + 1)) for j in range(1, n + 1))])
    least = 2.0 if scores.size > 4096 else 0.0
    masks, values = [], []
    for start in range(0, scores.size, _TOGETHER):
        part = scores[start : start + _TOGETHER]
        at = np.flatnonzero(part >= least)
        sizes = np.bitwise_count((at + start).astype(np.uint64)).astype(int)
        right = sizes == k if k is not None else sizes > 0
        at, sizes = at[right], sizes[right]
        worth = part[at] - (0 if k is not None else price[sizes])
        top = np.argsort(-worth, kind="stable")[:_KEEP]
        masks.append(at[top] + start)
        values.append(worth[top])
    order = np.argsort(-np.concatenate(values), kind="stable")[:_KEEP]
    return np.concatenate(masks)[order]
