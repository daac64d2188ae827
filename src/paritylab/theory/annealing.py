"""Why annealed heads get stuck, and which moves set them free: closed forms, ours.

Heads at angles θ_i with temperature τ and the readout cos(πs) have the correlation c = Π_{j∈B}
sin(πg_j/2) Π_{j∉B} cos(πg_j/2) with the label. While every weight g_j is small, log c is a constant
plus Σ_{j∈B} log g_j: the log-likelihood of a mixture of k equal bumps K(x) = exp((cos x - 1)/τ) on
the k points of B.
"""

import math


def splitting_temperature(gap: float) -> float:
    """sin(d/2)·tan(d/2): below it two heads midway between two bits at angle d part. Exact for
    small weights.

    With heads at ±δ the log-likelihood of each bit is cos(d/2)cos(δ)/τ + log cosh(sin(d/2)sin(δ)/τ)
    up to a constant; its curvature at δ = 0 is (sin²(d/2)/τ - cos(d/2))/τ.
    """
    if not 0 < gap < math.pi:
        raise ValueError(f"the angle between two bits must lie between 0 and π, got {gap:g}")
    return math.sin(gap / 2) * math.tan(gap / 2)


def critical_width(k: int) -> float:
    """The width √τ at which heads choose their bits: √`splitting_temperature` at the mean gap 2π/k.

    About π/k. Two heads that decide for the same bits here leave another bit without one.

    >>> round(critical_width(16) / (math.pi / 16), 2)
    1.0
    """
    if k < 3:
        raise ValueError(f"the mean gap 2π/k is below π from k = 3 on, got k={k}")
    return math.sqrt(splitting_temperature(2 * math.pi / k))


def freeing_temperature(gap: float, k: int) -> float:
    """The temperature below which one relocation frees every trap of k heads at small weights.

    It is where k·2^(k-1)·K(d/2) = 1, d the smallest angle between two bits: the theorem in
    docs/theorems/moves.md.
    """
    if k < 2 or not 0 < gap <= math.pi:
        raise ValueError(f"need k of at least 2 and a gap of at most π, got k={k}, gap={gap:g}")
    return 2 * math.sin(gap / 4) ** 2 / math.log(k * 2 ** (k - 1))


def correlational_rows(n: int, k: int, queries: int) -> float:
    """C(n, k)/queries: a learner that only asks for correlations within 1/√N and asks so often
    cannot find a random B from fewer rows N.

    A query of norm 1 has a correlation above 1/√N with at most N parities, because the squares of
    its correlations with all of them sum to at most 1; otherwise the answer may be 0.

    >>> correlational_rows(20, 3, 10)
    114.0
    """
    if queries <= 0:
        raise ValueError(f"queries must be positive, got {queries}")
    return math.comb(n, k) / queries
