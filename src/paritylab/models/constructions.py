"""Exact constructions of Proposition 3 of HG1: parity without learning."""

import numpy as np

from paritylab.models.feedforward import FeedForward
from paritylab.models.heads import HeadAttention
from paritylab.models.readouts import Zigzag
from paritylab.problem import Parity


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
