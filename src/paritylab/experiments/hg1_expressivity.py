"""What nets express: least risks under any inputs and noise, and the network of Figure 1."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.special import softmax

from paritylab.learning.hardness.frozen import (
    every_input,
    parity_of,
    random_features,
    worst_shares,
)
from paritylab.models import (
    Circle,
    HeadAttention,
    Zigzag,
)
from paritylab.problem import Parity
from paritylab.risk import population_risk
from paritylab.theory import hg1, hg1_limits


def predict_with_net(hidden: np.ndarray) -> np.ndarray:
    """What the net of Proposition 3 says, from the bits it sees."""
    k = hidden.shape[1]
    table = np.array([hg1.zigzag_at_integer(k, s) for s in range(k + 1)], dtype=float)
    return np.asarray(table[hidden.sum(axis=1)])


def noisy_risk(
    weights: np.ndarray, labels: np.ndarray, prediction: np.ndarray, noise: float = 0.0
) -> float:
    """Squared-hinge risk when a share of the labels is flipped."""
    kept, turned = (np.maximum(0, 1 - y * prediction) ** 2 for y in (labels, -labels))
    return float(weights @ ((1 - noise) * kept + noise * turned))


def search_least_risk(
    weights: np.ndarray, labels: np.ndarray, noise: float = 0.0, *, blind: bool = True
) -> float:
    """Least risk over all functions, or over those blind to bit 0, by ternary search.

    Inputs that differ in bit 0 only are neighbours in the numbering and share a prediction.
    """
    size = 2 if blind else 1
    weights, labels = weights.reshape(-1, size), labels.reshape(-1, size)

    def loss(guess: np.ndarray) -> np.ndarray:
        kept, turned = (np.maximum(0, 1 - y * guess[:, None]) ** 2 for y in (labels, -labels))
        return np.asarray((weights * ((1 - noise) * kept + noise * turned)).sum(axis=1))

    low, high = -np.ones(len(weights)), np.ones(len(weights))
    for _ in range(90):
        third = (high - low) / 3
        left = loss(low + third) < loss(high - third)
        low, high = np.where(left, low, low + third), np.where(left, high - third, high)
    return float(loss((low + high) / 2).sum())


def predict_by_figure1(
    bits: np.ndarray, subset: Sequence[int], tau: float, order: Sequence[int], first: int = 0
) -> np.ndarray:
    """ŷ of every row of bits, step by step as in the figure.

    order: of [x, 1-x, sin, cos] in the embedding. first: where w_0, A and the network look for the
    token; the position is in the two entries two further on, counted round.
    """
    k, n = len(subset), bits.shape[1]
    table = np.broadcast_to(np.asarray(Circle(n).table), (*bits.shape, 2))
    embedded = np.concatenate([bits[..., None], 1 - bits[..., None], table], axis=-1)[..., order]
    cls, matrices = np.zeros(4), np.zeros((k, 4, 4))
    cls[first] = 1
    columns = [(first + 2) % 4, (first + 3) % 4]
    matrices[:, first, columns] = Circle(n).vectors(subset)
    attention = softmax(np.einsum("r,irl,xjl->xij", cls, matrices, embedded) / tau, axis=-1)
    mean = np.einsum("xij,xjl->xl", attention, embedded) / k
    return np.asarray(hg1_limits.smoothed_zigzag(k * mean[:, first], k, 0.0))


def count_features_for_half(n: int, k: int, seed: int) -> int:
    """Random features that leave no k-set's parity a squared loss above ½."""
    shares = worst_shares(random_features(n, 2**n, seed=seed), list(combinations(range(n), k)))
    return int(np.searchsorted(shares, 0.5)) + 1


def measure_loss_on_products(n: int) -> float:
    """Largest squared loss over all pairs B, linear on the C(n, 2) products of two bits."""
    bits, pairs = every_input(n), list(combinations(range(n), 2))
    features = np.stack([parity_of(bits, pair) for pair in pairs], axis=1)
    return float(1 - worst_shares(features, pairs)[-1])


def risk_under_zigzag(heads: HeadAttention, problem: Parity) -> float:
    """Risk of trained heads under the paper's readout, with which they are an FFNN-1."""
    zigzag = HeadAttention(heads.directions, heads.code, problem.k, Zigzag(problem.k), heads.tau)
    return population_risk(zigzag, problem).value
