"""What any function of given features can reach, and all inputs of a small problem."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from paritylab.learning.networks import FrozenAttention
from paritylab.problem import all_bits

__all__ = [
    "FrozenAttention",
    "best_possible_risk",
    "every_input",
    "group_risks",
    "group_rows",
    "parity_of",
]


def best_possible_risk(features: ArrayLike, labels: ArrayLike) -> float:
    """Smallest squared-hinge risk of any function of the features, over equally likely inputs.

    features: one row per input; rows that agree to 1e-9 are one group. In a group with shares
    p₊ and p₋ the best prediction leaves 4p₊p₋/(p₊+p₋).

    >>> best_possible_risk([[0.0], [0.0], [1.0], [1.0]], [1, -1, 1, 1])
    0.5
    """
    rows, signs = np.asarray(features, dtype=float), np.asarray(labels)
    if rows.ndim != 2 or signs.shape != rows.shape[:1]:
        raise ValueError(
            f"expected one row of features per label, got {rows.shape} and {signs.shape}"
        )
    return float(group_risks(group_rows(rows), signs[:, None])[0])


def group_rows(features: Float[np.ndarray, "inputs d"]) -> Int[np.ndarray, " inputs"]:
    """The number of each row's group."""
    rounded = np.ascontiguousarray(np.round(features, 9) + 0.0)
    return np.unique(rounded, axis=0, return_inverse=True)[1].ravel()


def group_risks(
    groups: Int[np.ndarray, " inputs"], labels: Float[np.ndarray, "inputs targets"]
) -> Float[np.ndarray, " targets"]:
    """Best risk for many labellings of the same grouped inputs."""
    count = np.bincount(groups).astype(float)
    total = np.stack([np.bincount(groups, weights=column) for column in labels.T], axis=1)
    positive = (count[:, None] + total) / 2
    shares = 4 * positive * (count[:, None] - positive) / count[:, None]
    return np.asarray(shares.sum(axis=0) / len(groups))


def every_input(n: int) -> Float[np.ndarray, "inputs n"]:
    """All 2^n bit strings as floats."""
    return np.concatenate([np.asarray(chunk) for chunk in all_bits(n)]).astype(np.float64)


def parity_of(bits: Float[np.ndarray, "inputs n"], subset: Iterable[int]) -> np.ndarray:
    """(-1)^(Σ_{j∈B} x_j) of every row, B the subset."""
    return np.asarray(1 - 2 * (bits[:, list(subset)].sum(axis=1) % 2))
