"""What noise, other inputs and smoothing leave of the risk in HG1; exact, with closed forms."""

from typing import TypeVar

import numpy as np
from jaxtyping import Float
from scipy.stats import binom

from paritylab._support.precision import Numbers, float64
from paritylab.models import Zigzag

#: A probability, or an array of them.
_Share = TypeVar("_Share", float, np.ndarray)


def least_pair_risk(minority: _Share) -> _Share:
    """4q(1-q): least squared hinge when the label is the rarer one with probability q.

    (1-q)(1-ŷ)₊² + q(1+ŷ)₊² is least at ŷ = 1-2q.

    >>> round(least_pair_risk(0.9), 2)
    0.36
    """
    least: _Share = 4 * minority * (1 - minority)
    return least


def risk_without_bit(probability: Float[np.ndarray, " inputs"], bit: int) -> float:
    """Least squared-hinge risk of any function that cannot see one bit of B.

    probability: of every input, numbered by its binary digits. With q the probability of the bit
    given the others this is E 4q(1-q): 1 for uniform inputs, 0 where the others determine the bit.

    >>> risk_without_bit(np.full(8, 1 / 8), 1)
    1.0
    """
    inputs = np.arange(len(probability))
    without = inputs[inputs >> bit & 1 == 0]
    pair = np.stack([probability[without], probability[without | 1 << bit]])
    mass = pair.sum(axis=0)
    return float(mass @ least_pair_risk(pair[1] / np.maximum(mass, 1e-300)))


def smoothed_zigzag(s: Numbers, k: int, b: float) -> Float[np.ndarray, "..."]:
    """Readout (2) with smoothing b, in double precision.

    >>> smoothed_zigzag(np.arange(3), 2, 0.0).tolist()
    [1.0, -1.0, 1.0]
    """
    with float64():
        return np.asarray(Zigzag(k, b)(np.asarray(s, dtype=float)))


def smoothing_floor(k: int, b: float) -> float:
    """Risk of hard heads exactly on B, which smoothing b alone leaves."""
    s = np.arange(k + 1)
    missing = np.maximum(0, 1 - (-1.0) ** s * smoothed_zigzag(s, k, b))
    return float(binom.pmf(s, k, 0.5) @ missing**2)


def smoothing_constant(k: int) -> float:
    """C with floor ≈ C·b² for small b.

    σ(z) - z₊ ≈ b/(4|z|), so h(s) ≈ (-1)^s + b·c(s) with c(s) = Σ_i (-1)^i (2i-1)/|s + 1/2 - i|, and
    C is the mean over s ~ Bin(k, 1/2) of (-(-1)^s c(s))₊².

    >>> round(smoothing_constant(2), 12)
    8.0
    """
    s, i = np.arange(k + 1), np.arange(1, k + 1)
    bend = (1 / np.abs(s[:, None] + 0.5 - i)) @ ((-1.0) ** i * (2 * i - 1))
    return float(binom.pmf(s, k, 0.5) @ np.maximum(0, -((-1.0) ** s) * bend) ** 2)


def least_smoothed_risk(n: int, k: int, b: float) -> float:
    """A lower bound on the risk of any k heads at smoothing b, positive for b > 0.

    k heads have Σ_j g_j = k, so some bit of B has weight g ≤ 1; the input with only that bit set
    has label -1 and probability 2^-n and loses at least (1 + min_{g ≤ 1} h(g))₊², where h is least
    at g = 1. All zeros lose (1 - h(0))₊², whatever the heads.

    >>> least_smoothed_risk(4, 2, 0.0)
    0.0
    """
    single = 1 + smoothed_zigzag(np.linspace(0, 1, 1001), k, b).min()
    zeros = 1 - smoothed_zigzag(0.0, k, b)
    return float(max(single, zeros, 0.0)) ** 2 / (1 << n)
