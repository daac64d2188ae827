"""KS, Section 3.1: what an approximate oracle can hide, with the constants written out."""

import math

import numpy as np
from jaxtyping import Float


def hidden_share_bound(error: float, *, targets: int, gradient: float, queries: int) -> float:
    """Largest share of targets that `queries` answers within `error` of the mean fail to hide.

    By Chebyshev 4·F²·T/(|P|·ε²) for the loss E(p - f)², because Var ≤ 4F²/|P|. targets: |P|.
    gradient: F², a bound on E‖∇f‖². queries: T.

    >>> round(hidden_share_bound(0.1, targets=4000, gradient=1.0, queries=1), 3)
    0.1
    """
    return 4 * gradient * queries / (targets * error**2)


def theorem2_exponent(gradient: float, error: float, queries: float, loss: float) -> float:
    """ν of Theorem 2 as printed: N = n^ν keeps the loss at 1 - O(n^(-ν₄)).

    gradient, error, queries, loss: ν₁ … ν₄, of ‖∇f‖ = O(n^ν₁), ε = n^(-ν₂), T = n^ν₃.

    >>> theorem2_exponent(0.5, 2.125, 0.25, 0.0)  # with a chain's own bounds at ε = 1: 11 + ε
    12.0
    """
    return 4 * gradient + 4 * error + 2 * queries + 2 * loss + 1


def separation_exponent(gradient: float, error: float, queries: float, loss: float) -> float:
    """ν of Theorem S (ours), for the same four exponents; k and n - k both of order n.

    >>> separation_exponent(0.5, 2.125, 0.25, 0.0)  # 5 + ε/2
    5.5
    """
    return 2 * gradient + 2 * error + queries + loss


def largest_eigenvalue_bound(samples: int, targets: int | float, failure: float) -> float:
    """Lemma A: λmax of K = (E_p p(x^i)p(x^j))_ij is at most this with probability 1 - failure.

    K has 1 on its diagonal, and E(E_p p(x))² = 1/|P| for uniform x, so that E‖K - I‖² =
    N(N-1)/|P|; then Markov. (N/|P|)·λmax of the targets' Gram matrix is the same number.
    """
    return 1 + math.sqrt(samples * (samples - 1) / (failure * targets))


def gradient_moment_bound(r: int, *, samples: int, targets: int | float, failure: float) -> float:
    """Lemma B: E_p‖v_p‖^(2r)/G^(2r) is at most this for all θ, with probability 1 - failure.

    v_p = mean_i p(x^i)∇f(x^i) is all that a gradient says of the target, G = sup‖∇f‖. Expand the
    power into 2r-tuples of rows. Those in which every row occurs evenly add up to at most
    (2r-1)!!/N^r (Khintchine). The mean of |E_p p(product of rows)| over the others is at most the
    root of the mean square, whose expectation is 1/|P|; then Markov.

    >>> round(gradient_moment_bound(2, samples=100, targets=1e30, failure=0.01), 9)
    0.0003
    """
    even = math.prod(range(1, 2 * r, 2)) / float(samples) ** r
    return even + 1 / math.sqrt(failure * targets)


def revealed_share_bound(
    spread: int | float, *, samples: int, targets: int | float, queries: int, failure: float = 0.01
) -> float:
    """Theorem S: at most this share of targets is not hidden from `queries` answers.

    spread: s = ε√N/G, the oracle's error over the length G/√N of a typical v_p. By Markov
    T·E‖v_p‖^(2r)/ε^(2r), at the best r. With this share q whatever T queries lead to has E(p - f)²
    ≥ 1 - q - 1/|P|: hidden targets Q share one answer f, and parities are orthonormal, so
    E[1_Q(p - f)²] ≥ Pr(Q) - 1/|P|.

    >>> shares = [revealed_share_bound(s, samples=400, targets=1e30, queries=1) for s in (2, 4, 6)]
    >>> [round(share, 9) for share in shares]
    [0.1875, 0.000564452, 1.934e-06]
    """
    best = math.inf
    for r in range(1, 64):
        moment = gradient_moment_bound(r, samples=samples, targets=targets, failure=failure)
        best = min(best, moment * (samples / spread**2) ** r)
    return queries * best


def mean_label(n: int, k: int) -> Float[np.ndarray, " weights"]:
    """E_p[p(x)] over all k-sets p, for x with 0, 1, …, n minus signs: a Krawtchouk polynomial.

    K_k(h)/C(n,k) with K_k(h) = Σ_j (-1)^j C(h,j) C(n-h,k-j), in whole numbers until the last
    division.

    >>> mean_label(4, 2).tolist() == [1.0, 0.0, -1 / 3, 0.0, 1.0]
    True
    """
    if not 0 <= k <= n:
        raise ValueError(f"k must be between 0 and n={n}, got {k}")
    total = math.comb(n, k)
    sums = (
        sum((-1) ** j * math.comb(h, j) * math.comb(n - h, k - j) for j in range(k + 1))
        for h in range(n + 1)
    )
    return np.array([value / total for value in sums])


def mean_label_tail(n: int, k: int, threshold: float) -> float:
    """P(|E_p p(x)| > threshold) over uniform x."""
    return float(_chances(n)[np.abs(mean_label(n, k)) > threshold].sum())


def mean_label_square(n: int, k: int) -> float:
    """E_x (E_p p(x))², which is 1/C(n,k): what the best fixed answer saves of E(p - f)² = 1."""
    return float(_chances(n) @ mean_label(n, k) ** 2)


def _chances(n: int) -> Float[np.ndarray, " weights"]:
    """P of 0, 1, …, n minus signs."""
    return np.array([math.comb(n, h) / 2**n for h in range(n + 1)])
