"""Chains with gaps: only every r-th level of the tree is shown, so a step is a parity of q = 2^r
tokens. The gradient on every link, and how many rows find them. Ours."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr
from scipy.stats import binom, norm


class GapLink(NamedTuple):
    """φ(t) = amplitude·cos(ωt), with its derivative.

    >>> link = matched_link(4)
    >>> [round(float(link(np.array(t))), 9) + 0.0 for t in (1.0, 0.5, 0.0)]  # 0, 1, 2 signs -1
    [1.0, -1.0, 1.0]
    """

    amplitude: float
    omega: float

    def __call__(self, t: np.ndarray) -> np.ndarray:
        return np.asarray(self.amplitude * np.cos(self.omega * t))

    def slope(self, t: np.ndarray) -> np.ndarray:
        return np.asarray(-self.amplitude * self.omega * np.sin(self.omega * t))


def matched_link(q: int) -> GapLink:
    """(-1)^(q/2)·cos(πqt/2): the parity of q signs as a function of their mean, flat there."""
    if q < 2 or q % 2:
        raise ValueError(f"q must be even and at least 2, got {q}")
    return GapLink((-1.0) ** (q // 2), np.pi * q / 2)


def link_signal(tokens: int, q: int, link: GapLink) -> float:
    """-∂L/∂w on a child minus that on another token, at W = 0: exact, M = tokens.

    For φ = a·cos(ωt): a(-1)^(q/2)·(ω/M)·sin^(q-1)(ω/M)·cos^(M-q-1)(ω/M). Each fair sign gives a
    factor E[e^(iωx/M)] = cos(ω/M) or E[x e^(iωx/M)] = i·sin(ω/M). About (ω/M)^q for the matched
    link; negative where the step would push children down.

    >>> [link_signal(64, q, GapLink(-1.0, np.pi)) > 0 for q in (2, 4, 6, 8)]  # KS's link
    [True, False, True, False]
    """
    if q < 2 or q % 2 or tokens <= q:
        raise ValueError(f"a node with {q} children must see more tokens than these, got {tokens}")
    angle = link.omega / tokens
    sign = link.amplitude * (-1) ** (q // 2)
    size = np.sin(angle) ** (q - 1) * np.cos(angle) ** (tokens - q - 1)
    return float(sign * angle * size)


def link_noise(tokens: int, q: int, link: GapLink) -> float:
    """Standard deviation over rows of one entry of the gradient: √E[(φ - x_m)²φ'²]/M.

    To leading order |φ''(0)|·√(2/M)/M.
    """
    others = np.arange(tokens - q + 1)
    rest, law = 2.0 * others - (tokens - q), binom.pmf(others, tokens - q, 0.5)
    square = 0.0
    for minus, weight in enumerate(binom.pmf(np.arange(q + 1), q, 0.5)):
        z = (q - 2 * minus + rest) / tokens
        square += weight * float(law @ ((link(z) - (-1) ** minus) * link.slope(z)) ** 2)
    return float(np.sqrt(square)) / tokens


def rows_to_find_links(tokens: int, q: int, nodes: int = 1, link: GapLink | None = None) -> float:
    """N at which all q children of every node outscore the other M - q tokens, half of the time.

    The noise of children is common for q = 2, where x_c1 x_c2 = x_m, and independent above.

    >>> [round(rows_to_find_links(16, q)) for q in (2, 4, 8)]
    [60, 7740, 64622]
    """
    rule = matched_link(q) if link is None else link
    signal, noise = link_signal(tokens, q, rule), link_noise(tokens, q, rule)
    if signal <= 0:
        return float("inf")
    at = np.linspace(-9, 9, 721)
    least = norm.pdf(at)
    if q > 2:
        least = q * least * ndtr(-at) ** (q - 1)  # the smallest of q
    weight = least * (at[1] - at[0])

    def missed(log_rows: float) -> float:
        ratio = signal / noise * np.exp(log_rows / 2)
        above = np.exp((tokens - q) * log_ndtr(ratio + at))
        return 1 - float(above @ weight) ** nodes - 0.5

    return float(np.exp(brentq(missed, 0.0, 200.0)))


def rows_to_balance_links(tokens: int, q: int, score: float) -> float:
    """N at which, for half of the nodes, q ≥ 4 children are even enough for every sign to be right.

    Scores s + δ_i shift the mean of the children by Σ(δ_i - δ̄)x_i/q, and φ changes sign 1/q from
    the mean of q signs: Σ|δ_i - δ̄| < 1. δ_i has the standard deviation s·noise/(signal·√N), and
    the sum is near √(2/π)·√(q(q-1)) of these.
    """
    if q < 4:
        raise ValueError(f"two children balance by themselves; q must be at least 4, got {q}")
    rule = matched_link(q)
    allowed = 1 / (np.sqrt(2 / np.pi) * np.sqrt(q * (q - 1)))
    ratio = link_noise(tokens, q, rule) / link_signal(tokens, q, rule)
    return float((score * ratio / allowed) ** 2)


def rows_exponent(q: int) -> float:
    """The local power of M = 2^14 in `rows_to_find_links` without its logarithm: tends to 2q - 3.

    >>> [round(rows_exponent(q), 2) for q in (2, 4, 8)]
    [1.0, 5.0, 13.01]
    """
    rule = matched_link(q)

    def log_ratio(m: int) -> float:
        return 2 * float(np.log(link_noise(m, q, rule) / link_signal(m, q, rule)))

    return (log_ratio(2**15) - log_ratio(2**14)) / float(np.log(2))
