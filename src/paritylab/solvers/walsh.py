"""Every subset at once: the Walsh–Hadamard transform of the label sums."""

import math
from functools import lru_cache

import numpy as np

from paritylab.solvers.evidence import log_choose
from paritylab.solvers.growth import named
from paritylab.solvers.judge import Candidates, Task
from paritylab.solvers.outcome import Step, Stop

#: Most distinct columns; 2^26 sums take 256 MB and, where labels are biased, twice that.
MOST_COLUMNS = 26
#: Columns transformed by one matrix product, and candidates kept.
_STEP, _KEEP = 6, 64


def walsh(task: Task) -> Candidates:
    """The subsets of any size whose parity stands out most, for up to 26 distinct columns."""
    table = task.table
    n = table.distinct
    if n > MOST_COLUMNS:
        raise ValueError(
            f"the Walsh transform takes up to {MOST_COLUMNS} columns that differ, got {n}; "
            "use method='auto'"
        )
    codes = table.distinct_bits.astype(np.int64) @ (1 << np.arange(n, dtype=np.int64))
    scores = _scores(codes, table.labels, n)
    best = _stand_out(scores, n, task.k)
    subsets = [named(task, tuple(j for j in range(n) if mask >> j & 1)) for mask in best.tolist()]
    return Candidates(subsets, (Step("walsh", Stop.EXHAUSTED, every_size=True),))


def _scores(codes: np.ndarray, labels: np.ndarray, n: int) -> np.ndarray:
    """About the log of 1/p before correction, of every mask: half the squared correlation·N."""
    rows, mean = len(labels), float(labels.mean())
    sums = hadamard(np.bincount(codes, labels, 1 << n).astype(np.float32))
    total = hadamard(np.bincount(codes, minlength=1 << n).astype(np.float32))
    covariance = sums - np.float32(mean) * total
    total *= total
    total *= np.float32(-1 / rows)
    total += np.float32(rows)
    np.maximum(total, np.float32(0.5), out=total)
    covariance *= covariance
    covariance /= total
    covariance *= np.float32(0.5 / (1 - mean**2))
    covariance[0] = 0
    return covariance


def hadamard(values: np.ndarray) -> np.ndarray:
    """Σ_x values[x]·(-1)^|S ∧ x| for every mask S, six bits at a time by a matrix product.

    >>> hadamard(np.array([1, 0, 0, 1], np.float32)).tolist()
    [2.0, 0.0, 0.0, 2.0]
    """
    bits = (len(values) - 1).bit_length()
    for start in range(0, bits, _STEP):
        step = min(_STEP, bits - start)
        signs = _sylvester(step)
        if start == 0:
            # One product, not one per group: the matrix is its own transpose.
            values = (values.reshape(-1, 1 << step) @ signs).ravel()
        else:
            values = np.matmul(signs, values.reshape(-1, 1 << step, 1 << start)).ravel()
    return values


@lru_cache(maxsize=8)
def _sylvester(bits: int) -> np.ndarray:
    at = np.arange(1 << bits)
    odd: np.ndarray = np.bitwise_count(at[:, None] & at[None]) & 1
    return np.where(odd, np.float32(-1), np.float32(1))


def _stand_out(scores: np.ndarray, n: int, k: int | None) -> np.ndarray:
    """Masks with the largest score after what their size costs."""
    price = np.array([0.0, *(log_choose(n, j) + math.log(j * (j + 1)) for j in range(1, n + 1))])
    least = 2.0 if scores.size > 4096 else 0.0
    masks, values = [], []
    for start in range(0, scores.size, 1 << 22):
        part = scores[start : start + (1 << 22)]
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
