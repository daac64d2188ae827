"""What noise, other inputs and smoothing leave of the risk in HG1; exact, with closed forms."""

from typing import TypeVar

import numpy as np
from jaxtyping import Float
from scipy.stats import binom

from paritylab.precision import Numbers

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


def flipped(share: _Share, noise: float) -> _Share:
    """Probability of a label that is -1 with probability `share` and then flipped by noise."""
    chance: _Share = share * (1 - noise) + (1 - share) * noise
    return chance


def risk_without_bit(
    probability: Float[np.ndarray, " inputs"], bit: int, noise: float = 0.0
) -> float:
    """Least squared-hinge risk of any function that cannot see one bit of B.

    probability: of every input, numbered by its binary digits. With q the probability of the bit
    given the others this is E 4q'(1-q'), q' = q(1-ν) + (1-q)ν: 1 for uniform inputs, 0 where the
    others determine the bit and nothing is flipped.

    >>> risk_without_bit(np.full(8, 1 / 8), 1)
    1.0
    """
    inputs = np.arange(len(probability))
    without = inputs[inputs >> bit & 1 == 0]
    pair = np.stack([probability[without], probability[without | 1 << bit]])
    mass = pair.sum(axis=0)
    share = pair[1] / np.maximum(mass, 1e-300)
    return float(mass @ least_pair_risk(flipped(share, noise)))


def smoothed_zigzag(s: Numbers, k: int, b: float) -> Float[np.ndarray, "..."]:
    """Readout (2) with smoothing b, in double precision.

    >>> smoothed_zigzag(np.arange(3), 2, 0.0).tolist()
    [1.0, -1.0, 1.0]
    """
    i = np.arange(1, k + 1)
    z = np.asarray(s, dtype=float)[..., None] + 0.5 - i
    return np.asarray(1 + (z + np.sqrt(z**2 + b)) / 2 @ ((-1.0) ** i * (8 * i - 4)))


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


def excess_order(k: int, b: float) -> int:
    """r of L - L* ~ ε^r for heads on B that give a neighbour the attention ε; see `first_order`.

    2 without smoothing, where the loss is a square beyond a corner, and for k = 2, where only one
    of two bits set loses and the mean over which one it is has no first order. Otherwise 1.
    """
    return 2 if b == 0 or k == 2 else 1


def first_order(k: int, b: float) -> float:
    """Λ of L - L* ≈ Λ·ε: Σ_s C(k, s)2^-k·2h_s·g_s·(2s - k), h the missing hinge at s, g its slope.

    h_s = (1 - (-1)^s ŷ(s))₊ and g_s = (-1)^s ŷ'(s); given s of k bits set, a head's neighbours
    lower the attended sum by (2s - k)ε on average. Positive for small b > 0 and k ≠ 2; for k = 3
    it changes sign near b = 0.94, beyond which heads on B raise the risk as they grow.

    >>> [round(first_order(k, 1e-6) * 1e6, 3) for k in (2, 3, 4)], first_order(3, 1.0) < 0
    ([0.0, 26.0, 53.333], True)
    """
    s, i = np.arange(k + 1), np.arange(1, k + 1)
    z = s[:, None] + 0.5 - i
    rising = (1 + z / np.sqrt(z**2 + b)) / 2 @ ((-1.0) ** i * (8 * i - 4))
    missing = np.maximum(0, 1 - (-1.0) ** s * smoothed_zigzag(s, k, b))
    return float(binom.pmf(s, k, 0.5) @ (2 * missing * (-1.0) ** s * rising * (2 * s - k)))
