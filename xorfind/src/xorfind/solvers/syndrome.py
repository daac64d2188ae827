"""Which labels are wrong: parity checks on rows name one or two of them at once.

A set of rows whose bits (and the constant 1) sum to zero must have labels that sum to zero,
whatever the parity. Each such check that fails holds an odd number of wrong labels. With 64
independent checks every row has a word that says which checks it is in; the failed checks, the
syndrome, are the sum of the words of the wrong rows. One wrong row has the syndrome for its word;
two are a pair that sums to it, found by sorting.
"""

import math

import numpy as np

from xorfind.gf2 import affine_of
from xorfind.rows import packed

#: Independent checks, and wrong labels that are named.
CHECKS, WRONG = 64, 2
#: Sets of wrong rows that are tried.
MOST_SETS = 8


def check_words(bits: np.ndarray, deadline: float = math.inf) -> np.ndarray:
    """For each row of bits (N, columns) the checks it is in, a 64-bit word; (N,)."""
    found = affine_of(np.ascontiguousarray(bits.T), len(bits), most=CHECKS, deadline=deadline)
    checks = np.zeros((CHECKS, len(bits)), np.uint8)
    checks[: len(found.basis)] = found.basis
    words: np.ndarray = packed(checks.T)[:, 0]
    return words


def wrong_rows(words: np.ndarray, label: np.ndarray) -> list[tuple[int, ...]]:
    """Sets of at most two rows whose labels, turned round, pass every check.

    words: of `check_words`, (N,). label: bits, (N,).

    >>> bits = np.array([[0, 1], [1, 1], [1, 0], [0, 1], [1, 1]], np.uint8)
    >>> words = check_words(np.concatenate([bits, np.ones((5, 1), np.uint8)], axis=1))
    >>> wrong_rows(words, np.array([0, 0, 0, 0, 0]))[0]
    ()
    """
    syndrome = np.bitwise_xor.reduce(words[label.astype(bool)], initial=np.uint64(0))
    if not syndrome:
        return [()]
    single = np.flatnonzero(words == syndrome)[:MOST_SETS]
    if len(single):
        return [(int(row),) for row in single]
    order = np.argsort(words, kind="stable")
    partner = words ^ syndrome
    near = np.minimum(np.searchsorted(words[order], partner), len(words) - 1)
    second = order[near]
    first = np.flatnonzero((words[second] == partner) & (np.arange(len(words)) < second))
    return [(int(row), int(second[row])) for row in first[:MOST_SETS]]


def corrected(bits: np.ndarray, label: np.ndarray, deadline: float = math.inf) -> list[np.ndarray]:
    """Solutions x of bits·x = label with at most two labels turned round; mostly one or none."""
    wrong = wrong_rows(check_words(bits, deadline), label)
    if not wrong:
        return []
    sides = np.repeat(label[:, None], len(wrong), axis=1)
    for side, rows in enumerate(wrong):
        sides[list(rows), side] ^= 1
    system = np.concatenate([bits, sides], axis=1)
    found = affine_of(system, bits.shape[1], most=0, deadline=deadline)
    return list(found.solutions[found.consistent])
