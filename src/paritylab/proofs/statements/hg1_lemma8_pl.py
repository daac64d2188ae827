"""Lemma 8 fails: a strict local minimum of positive risk, and a stationary point above chance.

½‖∇L‖² ≥ μL with μ > 0 makes the risk 0 wherever the gradient is 0.

The minimum: on a ball of radius r about c inside a box where the Hessian exceeds μ·1 the risk is
strongly convex, so on its sphere L ≥ L(c) - ‖∇L(c)‖r + μr²/2 > L(c) if ‖∇L(c)‖ < μr/2, and the
least value is attained inside, at a strict local minimum. (At the hinge's kink the Hessian is the
hull of both one-sided ones, which is what strong convexity needs.)

The stationary point: heads 0 attend to all positions alike. E[ℓ' x_j] is the same for both j ∈ B,
u, and for all other j, v, so the gradient of a head is (v Σ_j p_j + (u - v) Σ_{j ∈ B} p_j)/(τn):
0 if B is two opposite positions.

Without the mask a head has a third number u, score (a·p_j + u x_j)/τ (u = a₁₁ - a₁₂; no other entry
gets a gradient). Let all heads be (0, 0, u) and B be equally spaced. Attention and loss depend on
the number of ones in and outside B only, so the mean of ℓ' Cov(x, p) is c Σ_{j ∈ B} p_j plus
c' Σ_{j ∉ B} p_j = 0, and the derivatives in u are the same for all heads. One of them changes its
sign between two values of u, so it is 0 in between: a stationary point of the full gradient, at a
risk that is enclosed on the whole interval. This is shown for k = 2, and for k = 3 at τ = 1,
b = 2/25, where descent does best; at k = 3 heads 0 are a stationary point of masked heads, too.
"""

from math import comb

from flint import arb, fmpq

from paritylab.proofs.domain import from_to, positive, rows
from paritylab.proofs.kernel import (
    Ball,
    Loss,
    Number,
    Numbers,
    Proof,
    hull,
    norm,
    pivots,
    risk,
    squared_hinge,
)

PRINTED = "fails"
TITLE = (
    "Masked heads: a strict local minimum at risk 1.78 (n = 8, B = {0, 3}, τ = 1/8, b = 1/100), "
    "and stationary points of risk above 2 (n = 20, B = {3, 13}, b = 0; n = 9, B = {0, 3, 6}, "
    "b = 2/25). "
    "Without the mask: stationary points of risk above 3/2 (n = 8, B = {0, 4}, τ = 1/8, b = 1/100) "
    "and above 7/5 (n = 9, B = {0, 3, 6}, τ = 1, b = 2/25)"
)
SETTING = {
    "n": 8,
    "B": [0, 3],
    "tau": "1/8",
    "b": "1/100",
    "zero heads": {"n": 20, "B": [3, 13]},
    "without mask": [
        {"n": 8, "B": [0, 4], "tau": "1/8", "b": "1/100", "risk": "3/2"},
        {"n": 9, "B": [0, 3, 6], "tau": 1, "b": "2/25", "risk": "7/5"},
    ],
}
#: centre, radius, mu: of the minimum. between: two values of u/τ for each case without mask.
WITNESS = {
    "centre": rows(2, rows(2, from_to(-100, 100))),
    "radius": positive(1),
    "mu": positive(1000),
    "between": rows(2, rows(2, from_to(-20, 20))),
}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    model = (setting["n"], setting["B"], setting["tau"], setting["b"])
    centre, radius, mu = witness["centre"], witness["radius"], witness["mu"]
    at = risk(centre, *model)
    proof.less("gradient at the centre below μr/2", norm(at.gradient), arb(mu * radius / 2))
    spread = arb(0, arb(radius).upper())
    box = risk([[arb(v) + spread for v in head] for head in centre], *model)
    curved = [
        [entry - (arb(mu) if i == j else 0) for j, entry in enumerate(row)]
        for i, row in enumerate(box.hessian)
    ]
    for number, pivot in enumerate(pivots(curved)):
        proof.less(f"pivot {number} of the Hessian less μ is positive", arb(0), pivot)
    proof.less("risk at the minimum, from below", fmpq(177, 100), box.value)
    proof.less("risk at the minimum, from above", box.value, fmpq(179, 100))
    _zero_heads(proof, setting["zero heads"]["n"], setting["zero heads"]["B"])
    for case, between in zip(setting["without mask"], witness["between"], strict=True):
        _without_mask(proof, case, between)
    three = setting["without mask"][-1]
    value = _equal_heads(arb(0), three["n"], len(three["B"]), three["b"]).value
    proof.less("masked, k = 3: risk at zero heads, where the gradient is 0", fmpq(2), value)


def _zero_heads(proof: Proof, n: int, subset: list[int]) -> None:
    """b = 0: the readout is 1, 3 - 4z, 8z - 15 up to z = 1/2, 3/2, 2, and z = 2|x|/n."""
    proof.equal("B is two opposite positions", (subset[0] + fmpq(n, 2)), fmpq(subset[1]))
    value = fmpq(0)
    for ones in range(n + 1):
        z = fmpq(2 * ones, n)
        line = fmpq(1) if z <= fmpq(1, 2) else 3 - 4 * z if z <= fmpq(3, 2) else 8 * z - 15
        for inside in range(3):
            count = comb(2, inside) * comb(n - 2, ones - inside) if ones >= inside else 0
            gap = 1 - (-1) ** inside * line
            value += count * gap**2 / 2**n if gap > 0 else 0
    proof.less("risk at zero heads, where the gradient is 0", fmpq(2), value)


def _without_mask(proof: Proof, case: Numbers, between: list[Number]) -> None:
    n, subset, b = case["n"], case["B"], case["b"]
    k, words = len(subset), f"without mask, n = {n}, B = {subset}"
    gaps = tuple((subset[(i + 1) % k] - subset[i]) % n for i in range(k))
    proof.equal(f"{words}: B is equally spaced", tuple(k * gap for gap in gaps), (n,) * k)
    ends = [_equal_heads(arb(v), n, k, b).slope for v in between]
    proof.less(f"{words}: slopes in u at both ends, their product", ends[0] * ends[1], arb(0))
    value = _equal_heads(hull(*between), n, k, b).value
    proof.less(f"{words}: risk at every u in between", case["risk"], value)


def _equal_heads(v: Ball, n: int, k: int, b: Number) -> Loss:
    """Risk of k heads (0, 0, u) at v = u/τ, and its slope in v; the curvature is not computed.

    With w ones of n, attention on them is m = w e^v/(w e^v + n - w), z = km, dz/dv = km(1 - m).
    """
    value = slope = arb(0)
    for ones in range(n + 1):
        m = arb(ones) / (ones + (n - ones) * (-v).exp())
        for inside in range(min(k, ones) + 1):
            loss = squared_hinge(k * m, (-1) ** inside, k, b)
            share = fmpq(comb(k, inside) * comb(n - k, ones - inside), 2**n)
            value += share * loss.value
            slope += share * loss.slope * k * m * (1 - m)
    return Loss(value, slope, arb.nan())
