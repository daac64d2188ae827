"""What frozen attention passes on, and the best head of any kind on top of it."""

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.models import Circle, FullFormAttention, Zigzag
from paritylab.precision import float64
from paritylab.problem import all_bits


def best_possible_risk(features, labels) -> float:
    """Smallest squared-hinge risk of any function of the features, over equally likely inputs.

    features: one row per input; rows that agree to 1e-9 are one group. In a group with shares
    p₊ and p₋ the best prediction leaves 4p₊p₋/(p₊+p₋).

    >>> best_possible_risk([[0.0], [0.0], [1.0], [1.0]], [1, -1, 1, 1])
    0.5
    """
    features, labels = np.asarray(features, dtype=float), np.asarray(labels)
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise ValueError(
            f"expected one row of features per label, got {features.shape} and {labels.shape}"
        )
    groups = group_rows(features)
    return float(group_risks(groups, labels[:, None])[0])


def group_rows(features: np.ndarray) -> np.ndarray:
    """The number of each row's group."""
    rounded = np.ascontiguousarray(np.round(features, 9) + 0.0)
    return np.unique(rounded, axis=0, return_inverse=True)[1].ravel()


def group_risks(groups: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Best risk for many labellings (inputs, targets) of the same grouped inputs."""
    count = np.bincount(groups).astype(float)
    total = np.stack([np.bincount(groups, weights=column) for column in labels.T], axis=1)
    positive = (count[:, None] + total) / 2
    shares = 4 * positive * (count[:, None] - positive) / count[:, None]
    return np.asarray(shares.sum(axis=0) / len(groups))


def every_input(n: int) -> np.ndarray:
    """All 2^n bit strings as floats."""
    return np.concatenate([np.asarray(chunk) for chunk in all_bits(n)]).astype(np.float64)


def frozen_features(n: int, heads: int, seed: int, *, token: bool) -> np.ndarray:
    """Mean head output [x, 1-x, sin, cos] of random frozen attention on all inputs.

    token: the scores depend on the bits as well as on the positions.
    """
    matrices = np.zeros((heads, 4, 4))
    generator = np.random.default_rng(seed)
    matrices[:, 0, 2:] = generator.normal(size=(heads, 2))
    if token:
        matrices[:, 0, :2] = generator.normal(size=(heads, 2))
    model = FullFormAttention(matrices, Circle(n), 2, Zigzag(2), tau=0.3, masked=False)

    def features(bits):
        return jnp.mean(model.attention(bits) @ model.embeddings(bits), axis=0)

    with float64():
        return np.asarray(jax.jit(jax.vmap(features))(every_input(n)))


def hard_features(bits, positions, tokens, *, average: bool) -> np.ndarray:
    """What hard heads pass on: the token and place they picked, or the mean over tied maxima.

    bits: (inputs, n). positions, tokens: scores of every head, (m, n) and (m, 2).
    """
    n, parts = bits.shape[1], []
    angles = 2 * np.pi * np.arange(n) / n
    for place, token in zip(positions, tokens, strict=True):
        scores = place[None, :] + token[bits.astype(int)]
        tied = scores >= scores.max(axis=1, keepdims=True) - 1e-12
        share = tied / tied.sum(axis=1, keepdims=True) if average else np.eye(n)[tied.argmax(1)]
        parts += [(share * bits).sum(axis=1), share @ np.sin(angles), share @ np.cos(angles)]
    return np.stack(parts, axis=1)
