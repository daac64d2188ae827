"""Reading the hidden set off trained heads, and how many labelled rows would settle it."""

from itertools import combinations
from typing import Any

import numpy as np

from paritylab.models import HeadAttention
from paritylab.precision import float64
from paritylab.problem.bits import as_bits


def read_attention(model: HeadAttention) -> tuple[tuple[int, ...], float]:
    """The k positions with most attention, and how cleanly the heads sit on them.

    Cleanness is Π_{j∈S} sin(πg_j/2) · Π_{j∉S} cos(πg_j/2), which is 1 if every position of S has
    weight 1 and all others 0. It is a score, not a probability.
    """
    weights = _weights(model)
    subset = np.sort(np.argsort(-weights, kind="stable")[: model.k])
    inside = np.zeros(len(weights), dtype=bool)
    inside[subset] = True
    half = np.pi / 2 * weights
    factors = np.where(inside, np.sin(half), np.cos(half))
    return tuple(subset.tolist()), max(float(np.prod(factors)), 0.0)


def favourites(model: HeadAttention, size: int) -> tuple[int, ...]:
    """The `size` positions with most attention, most first."""
    return tuple(np.argsort(-_weights(model), kind="stable")[:size].tolist())


def rows_to_single_out(subset: tuple[int, ...], positions: Any, bits: Any) -> int:
    """Labelled rows after which `subset` is the only set of its size that explains the labels.

    positions: where its rivals may lie; subset is among them. bits: rows (N, n), labelled without
    noise, taken in order. N + 1 if a rival survives them all.

    >>> rows_to_single_out((1,), (0, 1, 2), [[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 0]])
    3
    """
    bits = np.asarray(as_bits(bits))
    rivals = [each for each in combinations(sorted(positions), len(subset)) if each != subset]
    if not rivals:
        return 0
    odd = bits[:, np.array(rivals)].sum(axis=2, dtype=int) % 2
    own = bits[:, list(subset)].sum(axis=1, dtype=int) % 2
    differs = odd != own[:, None]
    first = np.where(differs.any(axis=0), differs.argmax(axis=0), len(bits))
    return int(first.max()) + 1


def _weights(model: HeadAttention) -> np.ndarray:
    with float64():
        return np.asarray(model.weights())
