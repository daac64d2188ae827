"""HG1's inequalities as functions of their symbols, as printed and repaired."""

from math import ceil, comb, log2

import numpy as np
from scipy.stats import binom

from paritylab.models.readouts import Zigzag


def attended_inputs(n: int, heads: int) -> float:
    """Theorem 11: first factor as printed, 1 - 2m/2^⌈(n-1)/(5m)⌉, with m heads."""
    return 1 - 2 * heads / 2 ** ceil((n - 1) / (5 * heads))


def attended_inputs_counted(n: int, heads: int) -> float:
    """The share of inputs the proof of Theorem 11 counts, with the binomial sum left as it is.

    An input is good if every head sees at least n/(5m) of its maximising token among its first
    ⌈(n-1)/m⌉-1 positions; a union bound over heads gives 1 - m·P(Bin(L, 1/2) < n/(5m)).
    """
    first = ceil((n - 1) / heads) - 1
    return 1 - heads * float(binom.cdf(ceil(n / (5 * heads)) - 1, first, 0.5))


def fixed_attention_printed(n: int, heads: int, norms: float) -> float:
    """Theorem 11 as printed: (1 - 2m/2^⌈(n-1)/5m⌉)(1 - ‖α‖‖β‖·5m²/n)²; norms is ‖α‖‖β‖."""
    return attended_inputs(n, heads) * (1 - norms * 5 * heads**2 / n) ** 2


def fixed_attention_repaired(n: int, heads: int, norms: float, diameter: float) -> float:
    """Theorem 11 repaired: the second factor is (1 - 5mρ‖α‖‖β‖/n)₊², ρ the embeddings' diameter.

    Flipping a bit p moves the mean of the head outputs by at most ρ(γ_p + γ̃_p) ≤ 10mρ/n, since
    the other positions keep their relative weights; half of the change in ŷ is what two opposite
    labels can gain.
    """
    first = max(attended_inputs_counted(n, heads), 0.0)
    return first * max(0.0, 1 - 5 * heads * diameter * norms / n) ** 2


def paper_head_norms(k: int) -> float:
    """‖α‖‖β‖ of the paper's own head: output weights ∓(8i-4), k hidden weights k."""
    return float(np.linalg.norm(Zigzag(k).output_weights) * k * np.sqrt(k))


def smallest_n_that_says_something(heads: int, norms: float) -> tuple[int, float]:
    """Smallest n with a positive first factor, and the n above which the second is below 1."""
    first = next(n for n in range(2, 10**6) if attended_inputs(n, heads) > 0)
    return first, norms * 5 * heads**2


def fixed_hard_attention(n: int, heads: int) -> float:
    """Corollary 20: 1 - 2m/2^⌈(n-1)/m⌉."""
    return 1 - 2 * heads / 2 ** ceil((n - 1) / heads)


def spread_of_one_head(tau: float, n: int, c2: float) -> float:
    """Lemma 18: the claimed lower bound 2c₂²τ²/n² on Σ_i‖τ ∂s/∂a_i‖² for every x with s > 0."""
    return 2 * c2**2 * tau**2 / n**2


def complement_pair(k: int, n: int, c2: float, loss_sum: float) -> float:
    """Lemma 19: the claimed lower bound (64k²c₂²/n²)(ℓ + ℓ̄) on the pair's squared gradients."""
    return 64 * k**2 * c2**2 / n**2 * loss_sum


def feedforward_upper_bound(n: int, k: int) -> float:
    """Remark 9: n·k⁷·log k, parameters of the best feed-forward result it cites (no constant)."""
    return n * k**7 * max(log2(k), 1.0)


def bits_to_name_a_set(n: int, k: int) -> float:
    """log2 of the number of k-sets: what any learner's numbers must carry."""
    return log2(comb(n, k))
