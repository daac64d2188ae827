"""Rows as equations over GF(2): is a field affine in its inputs, and beyond luck?

Rows [inputs, 1, target] are reduced. A row whose inputs vanish is then a sum of rows with an even
count of every input whose targets should cancel: where it has a 1, that target bit is not affine.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import entr

from xorfind.gf2 import affine_of, contradiction

#: Rows among which a proof of a contradiction is looked for.
PROOF_ROWS = 1 << 12
#: Bits of evidence that one output bit needs by itself, and all bits of a field together.
OWN_EVIDENCE, JOINT_EVIDENCE = 7.0, 20.0


@dataclass(frozen=True)
class Equations:
    """Rows with the same inputs: a message each, and its check value.

    bits: of the messages, first sent or most significant first, (N, n). target: of the check
    values, most significant first, (N, w). lines: where the rows are. inputs, outputs: names of
    the columns. length: of the frames, in words. lengths: how many columns at the end say which
    length a row has.
    """

    bits: np.ndarray
    target: np.ndarray
    lines: np.ndarray
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    length: str = ""
    lengths: int = 0

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.bits)

    @property
    def width(self) -> int:
        """Bits of the check value."""
        return int(self.target.shape[1])

    @property
    def size(self) -> int:
        """Bits of the message."""
        return int(self.bits.shape[1])

    def without_repeats(self) -> "Equations":
        """Every distinct row once: a frame that was captured twice says nothing new."""
        keys = _keys(np.concatenate([self.bits, self.target], axis=1))
        rows = np.sort(np.unique(keys, return_index=True)[1])
        return replace(self, bits=self.bits[rows], target=self.target[rows], lines=self.lines[rows])


class Conventions(NamedTuple):
    """How messages and check values are sent.

    refin, refout: the least significant bit of bytes, of the check value, comes first. little: the
    check value is stored least significant byte first. after: bytes of a constant that is checked
    after the message but not sent.
    """

    refin: bool = False
    refout: bool = False
    little: bool = False
    after: int = 0


def numbers(bits: np.ndarray) -> np.ndarray:
    """Rows of up to 64 bits, most significant first, as numbers."""
    made = np.zeros(len(bits), np.uint64)
    for column in bits.T:
        made = (made << np.uint64(1)) | column.astype(np.uint64)
    return made


def swapped(target: np.ndarray) -> np.ndarray:
    """Check values with their bytes in the other order; only for whole bytes."""
    w = target.shape[1]
    return np.ascontiguousarray(target.reshape(-1, w // 8, 8)[:, ::-1].reshape(-1, w))


def commonest(values: np.ndarray) -> tuple[int, int]:
    """The most frequent value and how often it occurs."""
    found, counts = np.unique(values, return_counts=True)
    at = int(counts.argmax())
    return int(found[at]), int(counts[at])


def evidence_bits(width: float, fitting: int, rows: int, free: float) -> float:
    """-log2 of the chance that unrelated check values fit this well, roughly.

    Every fitting row says `width` bits; which rows do not fit costs N·H(share), and what was fitted
    costs `free` bits.

    >>> round(evidence_bits(8, 10, 10, 16))
    64
    """
    share = fitting / rows
    spread = float(entr(share) + entr(1 - share)) * rows / math.log(2)
    return width * fitting - spread - free


def _keys(bits: np.ndarray) -> np.ndarray:
    """One comparable value per row of bits."""
    made = np.ascontiguousarray(np.packbits(bits, axis=1))
    return made.view(f"V{made.shape[1]}").ravel()


@dataclass(frozen=True)
class AffineFit:
    """All affine maps that the rows allow.

    rows: how many. rank: of inputs and the constant. holds: flags of the target bits that are
    affine in all rows, (w,). solutions: one map each, (w, n + 1), the constant last. free: basis of
    what may be added to any of them, (d, n + 1).
    """

    rows: int
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
        """Rows beyond the rank: each would refute a random field with chance ½ per bit."""
        return self.rows - self.rank

    def supported(self, target: np.ndarray) -> np.ndarray:
        """Flags of the outputs whose fit luck does not explain.

        At most 2^rank of the 2^N columns of labels fit, and labels with a share p of ones have a
        chance of at most max(p, 1-p)^N each. The share is taken at its end nearer to a half.
        """
        share = target.mean(axis=0)
        least = np.maximum(share, 1 - share) - 1.5 / np.sqrt(self.rows)
        per_row = -np.log2(np.clip(least, 0.5, 1.0))
        evidence = np.where(self.holds, self.rows * per_row - self.rank, -np.inf)
        together = self.holds.all() and evidence.clip(0).sum() >= JOINT_EVIDENCE
        flags: np.ndarray = self.holds & ((evidence >= OWN_EVIDENCE) | together)
        return flags


def affine_fit(inputs: np.ndarray, target: np.ndarray) -> AffineFit:
    """The affine maps that take inputs (N, n) to target (N, w) in every row; rows are distinct.

    >>> x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8)
    >>> affine_fit(x, (x[:, :1] ^ x[:, 1:] ^ 1)).solutions.tolist()
    [[1, 1, 1]]
    """
    columns = inputs.shape[1] + 1
    found = affine_of(np.concatenate([with_one(inputs), target], axis=1), columns)
    rank = columns - found.dimensions
    return AffineFit(len(inputs), rank, found.consistent, found.solutions, found.basis)


def with_one(bits: np.ndarray) -> np.ndarray:
    """Rows with a 1 at their end, for the constant."""
    return np.concatenate([bits, np.ones((len(bits), 1), np.uint8)], axis=1)


def proof_against(rows: Equations, bit: int) -> tuple[int, ...]:
    """Lines of rows that prove that one target bit is not affine, few if possible.

    Their number is even, every input sums to 0 over them and the target to 1. Empty if the rows
    that are looked at prove nothing.
    """
    best: np.ndarray | None = None
    count, draw = min(rows.rows, PROOF_ROWS), np.random.default_rng(0)
    for attempt in range(8):
        some = np.arange(count) if attempt == 0 else draw.permutation(rows.rows)[:count]
        found = contradiction(with_one(rows.bits[some]), rows.target[some, bit])
        if found is not None and (best is None or len(found) < len(best)):
            best = some[found]
    return () if best is None else tuple(sorted(rows.lines[best].tolist()))


def same_inputs(rows: Equations) -> tuple[int, int] | None:
    """Lines of two rows with the same inputs and different targets; None if there are none."""
    _, first, which = np.unique(_keys(rows.bits), return_index=True, return_inverse=True)
    like = first[which.ravel()]
    wrong = np.flatnonzero((rows.target != rows.target[like]).any(axis=1))
    if not len(wrong):
        return None
    return int(rows.lines[like[wrong[0]]]), int(rows.lines[wrong[0]])


def joined(parts: Sequence[Equations]) -> Equations:
    """Rows of several lengths as one system: absent bits are 0, and there is a column for every
    length but the first, because each length may have its own constant."""
    if len(parts) == 1:
        return parts[0]
    longest = max((part.inputs for part in parts), key=len)
    names = list(dict.fromkeys([*longest, *(name for part in parts for name in part.inputs)]))
    place = {name: at for at, name in enumerate(names)}
    pieces = []
    for at, part in enumerate(parts):
        bits = np.zeros((part.rows, len(names) + len(parts) - 1), np.uint8)
        bits[:, [place[name] for name in part.inputs]] = part.bits
        bits[:, len(names) :] = np.arange(1, len(parts)) == at
        pieces.append(bits)
    return Equations(
        np.concatenate(pieces),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.lines for part in parts]),
        (*names, *(f"length = {part.length}" for part in parts[1:])),
        parts[0].outputs,
        lengths=len(parts) - 1,
    )
