"""Formulas of HG1 (Han & Ghoshdastidar, arXiv 2502.07553 v1), each naming its place."""

from math import ceil, sqrt

import numpy as np
from jaxtyping import Float, Shaped
from scipy.special import logsumexp

from paritylab._support.precision import Numbers


def network_parameters(k: int) -> int:
    """Proposition 3: numbers in the feed-forward construction, 2k+2."""
    return 2 * k + 2


def risk_without_edge() -> float:
    """Proposition 4: smallest squared-hinge risk of a predictor that cannot see a bit of B.

    Flipping the unseen bit leaves the prediction ŷ and flips the label, and
    (1-ŷ)₊² + (1+ŷ)₊² ≥ 2 with equality at ŷ = 0.
    """
    return 1.0


def risk_of_missing_weight(
    weights: Float[np.ndarray, "... n"], indicator: Shaped[np.ndarray, " n"]
) -> Float[np.ndarray, "..."]:
    """Least squared-hinge risk of the readout (2), b = 0, when bits of B have weight below 1.

    4·2^-n Σ_{j∈B} (1-g_j)₊²: the input with only bit j ∈ B set has probability 2^-n, label -1 and
    hinge loss 1 + h(g_j) ≥ 2(1-g_j) for g_j ≤ 1. So risk 0 forces g_j ≥ 1 on B; k heads have
    Σ_j g_j = k, hence g is the indicator of B. This is Proposition 21 with its proof mended.

    weights: g. indicator: 1 on B.

    >>> float(risk_of_missing_weight(np.array([0.5, 1.0, 0.5]), np.array([1, 1, 0])))
    0.125
    """
    missing = np.maximum(1 - weights, 0) ** 2 * indicator
    return np.asarray(4 / 2 ** len(indicator) * missing.sum(axis=-1))


def zigzag_at_integer(k: int, s: int) -> int:
    """h(s) of equation (2) at b = 0 and integer s, in exact integer arithmetic.

    >>> [zigzag_at_integer(4, s) for s in range(5)]
    [1, -1, 1, -1, 1]
    """
    signs = {i: 1 if i % 2 == 0 else -1 for i in range(1, k + 1)}
    return 1 + sum(s_i * (4 * i - 2) * max(0, 2 * s + 1 - 2 * i) for i, s_i in signs.items())


def attention_derivative(
    attention: Float[np.ndarray, " n"],
    coordinate: Float[np.ndarray, " n"],
    tau: float,
    *,
    as_printed: bool = False,
) -> Float[np.ndarray, " n"]:
    """∂γ_p/∂a for one entry a of a head whose score is a·c_j + …; Lemma 14.

    (1/τ)[γ_p(1-γ_p)c_p ∓ Σ_{j≠p} γ_pγ_j c_j]: the sign of the sum is minus; the paper prints plus.

    attention: γ. coordinate: c, the sine or cosine of the positions.
    """
    rest = attention * (attention @ coordinate - attention * coordinate)
    sign = 1 if as_printed else -1
    return np.asarray((attention * (1 - attention) * coordinate + sign * rest) / tau)


def smooth_relu_curvature(
    z: Numbers, b: float, *, as_printed: bool = False
) -> Float[np.ndarray, "..."]:
    """σ''(z) = b/(2(z²+b)^{3/2}); Lemma 14 prints (2√(z²+b) - z/√(z²+b))/(4(z²+b))."""
    at = np.asarray(z)
    root = np.sqrt(at**2 + b)
    if as_printed:
        return np.asarray((2 * root - at / root) / (4 * root**2))
    return np.asarray(b / (2 * root**3))


def peak_attention(n: int, tau: float) -> float:
    """Attention of a unit head on its own position for τ ≫ 1/n²: γ ≈ √(2π/τ)/n.

    Neighbours at distance j score 2π²j²/n² less, so 1/γ ≈ Σ_j e^{-2π²j²/(n²τ)} ≈ n√(τ/2π).
    """
    return float(np.sqrt(2 * np.pi / tau) / n)


def slope_on_target(n: int, k: int, tau: float, b: float = 0.0) -> float:
    """c of ½‖∇L‖² = c·(L - L*)² for heads far out on B: c = r²κ²/2k, κ = (1 - cos 2π/n)/τ.

    Not in the paper. L* is the risk that the smoothing b leaves at B (0 at b = 0). Heads of norm a
    on positions of B that are three or more apart give a neighbour attention in proportion to ε =
    e^{-aκ}. The excess risk is a form of degree r in the heads' ε: r = 2 at b = 0, where the hinge
    starts at the label, and at k = 2, where the two heads cancel to first order; r = 1 for other k
    at b > 0 (once ε is well below b). So each of the k norms has slope -rκ(L - L*)/k, and by
    symmetry no head turns. Descent with step η has L - L* ≈ 1/(2c·ηt), no c^t.

    >>> [round(slope_on_target(10, k, 1 / 10, b), 2) for k in (2, 3) for b in (0.0, 0.1)]
    [3.65, 3.65, 2.43, 0.61]
    """
    degree = 2 if b == 0 or k == 2 else 1
    return degree**2 / (2 * k) * float((1 - np.cos(2 * np.pi / n)) / tau) ** 2


def prediction_smoothness(k: int, tau: float, b: float) -> float:
    """Lemmas 6 and 14: B, the claimed Lipschitz constant of the gradient of ŷ in the heads.

    B = 2k(20/τ² + 32k²/(τ²√b)), with b the smoothing of the ReLU.
    """
    return 2 * k * _curvature(k, tau, b)


def prediction_slope(k: int, tau: float) -> float:
    """Lemma 15: l₁ = C = 8k²√(2k)/τ, the claimed Lipschitz constant of ŷ in the heads."""
    return 8 * k**2 / tau * sqrt(2 * k)


def product_smoothness(k: int, tau: float, b: float, *, any_b: bool = False) -> float:
    """Lemma 16: l₂ = √(2k)(4k³(20/τ² + 32k²/(τ²√b)) + (8k²/τ)²), claimed for ŷ·∇ŷ.

    4k³ bounds |ŷ|, and is too small once b is above 4k⁴ or so: for large b every σ(s + 1/2 - i) is
    near √b/2, and Σ(-1)^i(8i-4) = ±4k. any_b: with 4k³ + 2k√b in its place (ours).
    """
    size = 4 * k**3 + (2 * k * sqrt(b) if any_b else 0)
    return sqrt(2 * k) * (size * _curvature(k, tau, b) + (8 * k**2 / tau) ** 2)


def risk_smoothness(k: int, tau: float, b: float, *, any_b: bool = False) -> float:
    """Lemma 7: max{2·l₁·C, 2(l₂+B)}, the claimed Lipschitz constant of the risk's gradient.

    any_b: with the l₂ that serves every b.
    """
    slope = prediction_slope(k, tau)
    product = product_smoothness(k, tau, b, any_b=any_b)
    return max(2 * slope * slope, 2 * (product + prediction_smoothness(k, tau, b)))


def step_size(k: int, tau: float, b: float) -> float:
    """The step of Theorem 5's proof, 1/max{2·l₁·C, 2(l₂+B)}.

    >>> f"{step_size(3, 1 / 20, 0.01):.1e}"
    '1.6e-09'
    """
    return 1 / risk_smoothness(k, tau, b)


def descent_factor(n: int, k: int, c2: float) -> float:
    """μ of Lemma 8's proof, min{64μ₁, μ₂}/2^(n+1), with μ₁ = 2c₂²/(kn)² and μ₂ = 64k²c₂²/n².

    μ₁ is Lemma 18's 2c₂²τ²/n² over the (kτ)² between its sum and ∂v*/∂a; μ₂ is Lemma 19's.

    >>> descent_factor(8, 2, 1.0) * 2**9
    0.5
    """
    one_input = spread_of_one_head(1.0, n, c2) / k**2
    return min(64 * one_input, complement_pair(k, n, c2, 1.0)) / (1 << (n + 1))


def log_attention(n: int, tau: float, offset: float) -> Float[np.ndarray, " n"]:
    """ln γ_j of a unit head that points `offset` positions beyond position 0."""
    scores = np.cos(2 * np.pi * (np.arange(n) - offset) / n) / tau
    return np.asarray(scores - logsumexp(scores))


def _curvature(k: int, tau: float, b: float) -> float:
    return 20 / tau**2 + 32 * k**2 / (tau**2 * sqrt(b))


def attended_inputs(n: int, heads: int) -> float:
    """Theorem 11: first factor as printed, 1 - 2m/2^⌈(n-1)/(5m)⌉, with m heads."""
    return 1 - 2 * heads / (1 << ceil((n - 1) / (5 * heads)))


def fixed_attention_printed(n: int, heads: int, norms: float) -> float:
    """Theorem 11: (1 - 2m/2^⌈(n-1)/5m⌉)(1 - ‖α‖‖β‖·5m²/n)₊²; norms is ‖α‖‖β‖.

    The paper prints no positive part, without which the square would grow again.
    """
    return attended_inputs(n, heads) * max(0.0, 1 - norms * 5 * heads**2 / n) ** 2


def fixed_attention(n: int, norms: float, diameter: float, *, positional: bool = False) -> float:
    """Ours in place of Theorem 11: risk ≥ (1 - ρ‖α‖‖β‖/n)₊² for every number of heads.

    For every fixed attention there is a position p such that this holds for every B that contains
    p and every FFNN-1 with 1-Lipschitz neurons on the mean of the head outputs.

    Flip bit p. In a head with attention γ on p before and γ′ after, the others keep their
    proportions, so the output moves by γ(w - u) - γ′(w′ - u), u their mean: at most ρ·max(γ, γ′).
    Summed over p the mean of γ + γ′ over heads and inputs is 2, so for some p it is at most 2/n.
    There ŷ changes by Δ with E Δ ≤ 2ρ‖α‖‖β‖/n. The labels of the two inputs are opposite, hence
    their losses sum to at least 2(1 - Δ/2)₊², and Jensen's inequality gives the bound. If the
    scores do not depend on the bits, γ = γ′ and only the token moves: E Δ ≤ ρ‖α‖‖β‖/n.

    norms: ‖α‖‖β‖, with the spectral norm of β or a larger one. diameter: ρ, the largest distance
    of two embeddings (token and position together); of the two tokens if `positional`.

    >>> fixed_attention(100, 2.0, 5.0), fixed_attention(100, 2.0, 5.0, positional=True)
    (0.81, 0.9025)
    """
    change = norms * diameter / n
    return max(0.0, 1 - (change / 2 if positional else change)) ** 2


def embedding_diameter(n: int) -> float:
    """ρ of the paper's embeddings (3), [x, 1-x, sin, cos]: √6 for even n.

    >>> round(embedding_diameter(8) ** 2, 12)
    6.0
    """
    return float(np.hypot(np.sqrt(2), 2 * np.sin(np.pi * (n // 2) / n)))


def fixed_hard_attention(n: int, heads: int) -> float:
    """Corollary 20: 1 - 2m/2^⌈(n-1)/m⌉."""
    return 1 - 2 * heads / (1 << ceil((n - 1) / heads))


def motion_of_one_input(
    attention: Float[np.ndarray, "k n"],
    bits: Float[np.ndarray, "*inputs n"],
    table: Float[np.ndarray, "n 2"],
    *,
    as_printed: bool = False,
) -> Float[np.ndarray, "..."]:
    """Lemma 18, left side: Σ_i ‖Σ_p x_p·τ∂γ_p/∂a_i‖², for one input or for many.

    attention: γ, one row per head. bits: x. table: [sin, cos] of the positions. With the minus of
    the true derivative this is τ²Σ_i‖∂s/∂a_i‖²; the paper prints the plus of Lemma 14.
    """
    total = np.zeros(np.shape(bits)[:-1])
    for row in attention:
        for coordinate in np.asarray(table).T:
            slope = attention_derivative(row, coordinate, 1.0, as_printed=as_printed)
            total = total + (bits @ slope) ** 2
    return np.asarray(total)


def fixed_hard_attention_ranked(n: int, heads: int) -> float:
    """Our bound next to Corollary 20: 1 - min_R min(m·2^-R, 2m·2^-R/(n-mR)) over 0 ≤ R < n/m.

    A head asks positions in the order of their larger score and stops at the first bit that has
    it, so the position of rank r is asked with probability at most 2^(1-r), whatever its own bit.
    At least n - mR positions have rank above R in every head. One of them is asked by some head
    with probability at most m·2^-R, and at most the mean, 2m·2^-R/(n-mR). Otherwise flipping x_p
    changes nothing but the label of every B that contains p, and two opposite labels cost 2 in
    hinge and squared hinge. R = 0 gives 1 - 2m/n: heads must grow like n. R = ⌈n/m⌉ - 1 gives at
    least the printed bound.

    >>> fixed_hard_attention_ranked(100, 5), fixed_hard_attention(100, 25) > 0
    (0.9999961853027344, False)
    """
    ranks = range(ceil(n / heads))
    seen = (heads / 2**r * min(1.0, 2 / (n - heads * r)) for r in ranks)
    return float(1 - min(seen))


def spread_of_one_head(tau: float, n: int, c2: float) -> float:
    """Lemma 18: the claimed lower bound 2c₂²τ²/n² on Σ_i‖τ ∂s/∂a_i‖² for every x with s > 0."""
    return 2 * c2**2 * tau**2 / n**2


def smallest_near_attention(attention: Float[np.ndarray, "k n"], tau: float) -> float:
    """Appendix A: the largest c₂ with c₂τ ≤ γ_j for every j within π/4 of a head's position p_i.

    attention: γ, one row per head, positions on the circle.
    """
    n = attention.shape[1]
    away = np.abs(np.arange(n)[None] - attention.argmax(axis=1)[:, None])
    near = np.minimum(away, n - away) <= n / 8
    return float(attention[near].min() / tau)


def complement_pair(k: int, n: int, c2: float, loss_sum: float) -> float:
    """Lemma 19: the claimed lower bound (64k²c₂²/n²)(ℓ + ℓ̄) on the pair's squared gradients."""
    return 64 * k**2 * c2**2 / n**2 * loss_sum
