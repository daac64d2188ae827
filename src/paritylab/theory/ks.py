"""What KS promises, and the finite-size laws behind it."""

import jax.numpy as jnp
import numpy as np
from scipy.stats import binom

from paritylab.models.links import AbstractLink
from paritylab.precision import float64


def child_signal(tokens: int, link: AbstractLink) -> float:
    """-∂L/∂w on a child of a node that sees `tokens` independent tokens, at W = 0: exact.

    Tends to 2c/M² with M = tokens. For -cos(πt) about (π/M)(1 - 2/M)·sin(π/M)·cos(π/M)^(M-1).
    """
    if tokens < 3:
        raise ValueError(f"a node sees at least 3 tokens, got {tokens}")
    return level_signal(tokens, 2, 1, link)


def level_signal(n: int, k: int, level: int, link: AbstractLink) -> float:
    """-∂L/∂w on a child of a node on `level` when all levels below are solved: exact.

    The node averages the first d tokens: n - k free bits and k/2^(level-1) subtrees. A subtree's
    sum given its root follows from that of its halves, so the law of the mean is a few
    convolutions; which leaves the tree has does not matter.
    """
    if not 1 <= level <= int(np.log2(k)):
        raise ValueError(f"level must be between 1 and {int(np.log2(k))}, got {level}")
    subtree = _subtree_law(level - 1)
    either = subtree[1] + subtree[-1]
    free = binom.pmf(np.arange(n - k + 1), n - k, 0.5)
    others = free
    for _ in range((k >> (level - 1)) - 2):
        others = np.convolve(others, either)
    tokens = n + sum(k >> step for step in range(1, level))
    total = 0.0
    for first in (1, -1):
        for second in (1, -1):
            law = np.convolve(others, np.convolve(subtree[first], subtree[second]))
            z = np.linspace(-1, 1, law.size)
            with float64():
                residual = np.asarray(link(jnp.asarray(z)) - first * second)
                slope = np.asarray(link.slope(jnp.asarray(z)))
            total += law @ (residual * slope * (first - z))
    return -float(total) / tokens


def _subtree_law(height: int) -> dict[int, np.ndarray]:
    """P(root = r, sum of all tokens = s) for both r; s runs from -size to size in steps of 2."""
    law = {1: np.array([0.0, 0.5]), -1: np.array([0.5, 0.0])}
    for _ in range(height):
        same = np.convolve(law[1], law[1]) + np.convolve(law[-1], law[-1])
        mixed = 2 * np.convolve(law[1], law[-1])
        law = {1: np.append(0.0, same), -1: np.append(mixed, 0.0)}
    return law


def samples_to_find_children(n: int, k: int) -> float:
    """N at which one teacher-forced step starts to succeed: 2M(√(2 ln M) + √(2 ln k))².

    M = n + k - 2 tokens. Ours, from a signal-to-noise ratio of √(N/2M) per weight.
    """
    tokens = n + k - 2
    return 2 * tokens * (np.sqrt(2 * np.log(tokens)) + np.sqrt(2 * np.log(k))) ** 2


def lemma4_bound(k: int, link: AbstractLink) -> float:
    """‖∇_W f°‖ ≤ 2‖φ'‖∞·√(k-1): Lemma 4 with its constant."""
    return 2 * link.steepest * float(np.sqrt(k - 1))


def lemma6_squares(k: int, link: AbstractLink) -> tuple[float, float, float]:
    """Lemma 6's last steps for ‖∇_W f×‖²: its last but one line, the last as printed, and ours.

    With κ = ‖φ'‖∞, v = log2 k: 4κ⁴/(κ²-2)·Σ_{l<v}(2κ²)^l, then printed
    4κ²/((κ²-2)(2κ²-1))·(2κ²)^v, where κ⁴ is meant.
    """
    kappa, depth = link.steepest**2, int(np.log2(k))
    before = 4 * kappa**2 / (kappa - 2) * sum((2 * kappa) ** level for level in range(depth))
    shared = (2 * kappa) ** depth * 4 / ((kappa - 2) * (2 * kappa - 1))
    return before, kappa * shared, kappa**2 * shared


def lemma9_kappa(n: int, samples: int, failure: float) -> float:
    """κ = √((2/N)·ln(32 n⁴/p)): the largest empirical mean of a nontrivial parity of ≤ 4 tokens."""
    return float(np.sqrt(2 / samples * np.log(32 * n**4 / failure)))


def lemma10_bounds(n: int, k: int, strings: int, failure: float) -> tuple[float, float]:
    """Lemma 10's bound on |mean of the first d_l tokens|: its middle line, and its last line.

    Middle line, as printed: Σ_l 2^((v-l+1)/2)·√(ln(2n'/p))/n, which treats the n inputs as k.
    Last line: 2(√2+1)·√(ln(2n'/p)/n).
    """
    depth, spread = int(np.log2(k)), float(np.sqrt(np.log(2 * strings / failure)))
    middle = sum(2 ** ((depth - level + 1) / 2) for level in range(depth + 1)) * spread / n
    return middle, 2 * (np.sqrt(2) + 1) * spread / float(np.sqrt(n))
