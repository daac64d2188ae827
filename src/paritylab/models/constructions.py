"""Exact constructions, parity without learning: Proposition 3 of HG1, and any attended sum."""

import numpy as np
from jaxtyping import Float

from paritylab.checks import shortened, whole
from paritylab.models.attention import HeadAttention
from paritylab.models.feedforward import FeedForward
from paritylab.models.readouts import Zigzag
from paritylab.problem import Parity, all_bits


def parity_network(problem: Parity) -> FeedForward:
    """h_B(x) = 1 + Σ_{j=1..k} (-1)^j (8j-4) ReLU(Σ_{p∈B} x_p + 1/2 - j); only B has edges.

    >>> network = parity_network(Parity(6, (0, 3, 4)))
    >>> network.distinct_numbers()
    8
    """
    readout = Zigzag(problem.k)
    edges = np.tile(problem.indicator, (problem.k, 1))
    return FeedForward(edges, -readout.thresholds, readout.output_weights, np.ones(()), edges)


def parity_transformer(
    problem: Parity, *, tau: float = 1.0, b: float = 0.0, hard: bool = False
) -> HeadAttention:
    """k heads of unit norm, head i pointing at B_i, and the zigzag head: equation (2) of HG1."""
    return HeadAttention.on(
        problem, readout=Zigzag(problem.k, b), tau=tau, kind="hard" if hard else "softmax"
    )


def interpolating_network(problem: Parity, weights: Float[np.ndarray, " n"]) -> FeedForward:
    """The FFNN-1 of one input s = Σ_j g_j x_j that passes through the label of every bit string.

    weights: g, with 2^n different sums, such as powers of 2. The net has one hinge per sum but the
    last, so its weights grow with the closeness of the sums.

    >>> network = interpolating_network(Parity(3, (0, 2)), np.array([1.0, 2.0, 4.0]) / 7)
    >>> round(float(network(np.array([5 / 7]))), 4)  # the string 101
    1.0
    """
    whole("n", problem.n, 1, 20)
    weights = np.asarray(weights, np.float64)
    if weights.shape != (problem.n,) or not np.isfinite(weights).all():
        raise ValueError(f"weights must be n={problem.n} finite numbers, got {shortened(weights)}")
    bits = np.concatenate([np.asarray(chunk) for chunk in all_bits(problem.n)])
    sums, labels = bits @ weights, problem.sign * (1.0 - 2 * ((bits @ problem.indicator) % 2))
    order = np.argsort(sums)
    at, values = sums[order], labels[order]
    if np.diff(at).min() <= 0:
        raise ValueError("the weights must tell all 2^n strings apart, but two sums are equal")
    alpha = np.diff(np.diff(values) / np.diff(at), prepend=0.0)
    ones = np.ones((len(alpha), 1))
    return FeedForward(ones, -at[:-1], alpha, values[0], ones)


def tied_network(heads: HeadAttention) -> FeedForward:
    """The FFNN-1 that the masked model is, once its attention is known.

    Attention does not depend on the bits, so ŷ = 1 + Σ_i α_i σ(Σ_j g_j x_j + 1/2 - i): k neurons
    and kn edges, whose weights g are tied to the few numbers of the heads. Needs a zigzag readout.
    """
    readout = heads.readout
    if not isinstance(readout, Zigzag):
        raise ValueError(f"an FFNN-1 needs the zigzag readout, got {type(readout).__name__}")
    hidden = np.tile(np.asarray(heads.weights()), (readout.k, 1))
    edges = np.ones_like(hidden)
    return FeedForward(
        hidden, -readout.thresholds, readout.output_weights, np.ones(()), edges, readout.b
    )
