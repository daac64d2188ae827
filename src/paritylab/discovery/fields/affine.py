"""Is a field affine in its inputs? All rows at once, however many, by their row space.

Rows [inputs, 1, target] are reduced a chunk at a time; what is left spans exactly what all of them
span. A remaining row whose inputs vanish is a sum of rows with an even count of every input whose
targets should cancel: where it has a 1, that target bit is not affine.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from paritylab.solvers.gf2 import affine_of, contradiction, echelon
from paritylab.solvers.labelled_rows import packed, unpacked

#: Rows that are reduced at a time.
CHUNK = 1 << 13
#: Rows among which a proof of a contradiction is looked for.
PROOF_ROWS = 1 << 12


@dataclass(frozen=True)
class AffineFit:
    """All affine maps that the rows allow.

    rows, distinct: how many rows, and how many differ in inputs or target. rank: of inputs and the
    constant. holds: flags of the target bits that are affine in all rows, (w,). solutions: one map
    each, (w, n + 1), the constant last. free: basis of what may be added to any of them, (d, n+1).
    """

    rows: int
    distinct: int
    rank: int
    holds: np.ndarray
    solutions: np.ndarray
    free: np.ndarray

    @property
    def inputs(self) -> int:
        """Input bits, the constant apart."""
        return int(self.solutions.shape[1]) - 1

    @property
    def spare(self) -> int:
        """Distinct rows beyond the rank: each would have refuted a random field with chance ½ per
        bit."""
        return self.distinct - self.rank

    @property
    def missing(self) -> int:
        """Further rows that settle everything: dimensions that are free."""
        return len(self.free)


def affine_fit(inputs: np.ndarray, target: np.ndarray) -> AffineFit:
    """The affine maps that take inputs (N, n) to target (N, w) in every row.

    >>> x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8)
    >>> affine_fit(x, (x[:, :1] ^ x[:, 1:] ^ 1)).solutions.tolist()
    [[1, 1, 1]]
    """
    rows, n = inputs.shape
    w = target.shape[1]
    both = n + 1 + w
    kept = np.zeros((0, -(-both // 64)), np.uint64)
    for piece in _pieces(inputs, target):
        form = echelon(np.concatenate([kept, packed(piece)]), both)
        kept = form.rows[: form.rank]
    bits = unpacked(kept, both)
    inside = bits[:, : n + 1].any(axis=1)
    holds = np.logical_not(bits[~inside, n + 1 :].any(axis=0))
    found = affine_of(np.ascontiguousarray(bits[inside]), n + 1)
    return AffineFit(
        rows,
        _distinct(inputs, target),
        int(inside.sum()),
        holds,
        found.solutions,
        found.basis,
    )


def _pieces(inputs: np.ndarray, target: np.ndarray) -> Iterator[np.ndarray]:
    n, w = inputs.shape[1], target.shape[1]
    for start in range(0, len(inputs), CHUNK):
        part = slice(start, start + CHUNK)
        made = np.ones((len(inputs[part]), n + 1 + w), np.uint8)
        made[:, :n], made[:, n + 1 :] = inputs[part], target[part]
        yield made


def keys_of(bits: np.ndarray) -> np.ndarray:
    """One comparable value per row of bits."""
    made = np.ascontiguousarray(np.packbits(bits, axis=1))
    if not made.shape[1]:
        return np.zeros(len(bits), "V1")
    return made.view(f"V{made.shape[1]}").ravel()


def _distinct(inputs: np.ndarray, target: np.ndarray) -> int:
    together = np.concatenate([np.packbits(inputs, axis=1), np.packbits(target, axis=1)], axis=1)
    return len(np.unique(np.ascontiguousarray(together).view(f"V{together.shape[1]}").ravel()))


def misfits(solutions: np.ndarray, inputs: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Target bits that a map does not give, (N, w) of 0/1. solutions: (w, n + 1)."""
    wrong = np.empty_like(target)
    masks = packed(solutions[:, :-1])
    for start in range(0, len(inputs), CHUNK):
        words = packed(inputs[start : start + CHUNK])
        for bit, mask in enumerate(masks):
            odd = np.bitwise_count(words & mask).sum(axis=1, dtype=np.uint64) & np.uint64(1)
            wrong[start : start + len(words), bit] = odd.astype(np.uint8)
    wrong ^= target ^ solutions[:, -1]
    return wrong


def proof_against(inputs: np.ndarray, side: np.ndarray) -> np.ndarray | None:
    """Rows that prove that one target bit is not affine, few if possible.

    Their number is even, every input sums to 0 over them and the target to 1.
    """
    with_one = np.ones((len(inputs), inputs.shape[1] + 1), np.uint8)
    with_one[:, :-1] = inputs
    best: np.ndarray | None = None
    count = min(len(inputs), PROOF_ROWS)
    draw = np.random.default_rng(0)
    for attempt in range(8):
        rows = np.arange(count) if attempt == 0 else draw.permutation(len(inputs))[:count]
        found = contradiction(with_one[rows], side[rows])
        if found is not None and (best is None or len(found) < len(best)):
            best = np.sort(rows[found])
    return best


def same_inputs(inputs: np.ndarray, target: np.ndarray) -> tuple[int, int] | None:
    """Two rows with the same inputs and different targets; None if there are none."""
    _, first, which = np.unique(keys_of(inputs), return_index=True, return_inverse=True)
    wrong = np.flatnonzero((target != target[first[which.ravel()]]).any(axis=1))
    if not len(wrong):
        return None
    return int(first[which.ravel()[wrong[0]]]), int(wrong[0])
