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


def freeing_temperature(gap: float, k: int) -> float:
    """The temperature below which one relocation frees every trap of k heads at small weights.

    It is where k·2^(k-1)·K(d/2) = 1, d the smallest angle between two bits: the theorem in
    docs/theorems/moves.md.
    """
    if k < 2 or not 0 < gap <= math.pi:
        raise ValueError(f"need k of at least 2 and a gap of at most π, got k={k}, gap={gap:g}")
    return 2 * math.sin(gap / 4) ** 2 / math.log(k * 2 ** (k - 1))
