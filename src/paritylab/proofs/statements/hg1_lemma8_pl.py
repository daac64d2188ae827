"""Lemma 8 fails: a strict local minimum of positive risk, and a stationary point above chance.

½‖∇L‖² ≥ μL with μ > 0 makes the risk 0 wherever the gradient is 0.

The minimum: on a ball of radius r about c inside a box where the Hessian exceeds μ·1 the risk is
strongly convex, so on its sphere L ≥ L(c) - ‖∇L(c)‖r + μr²/2 > L(c) if ‖∇L(c)‖ < μr/2, and the
least value is attained inside, at a strict local minimum. (At the hinge's kink the Hessian is the
hull of both one-sided ones, which is what strong convexity needs.)

The stationary point: heads 0 attend to all positions alike. E[ℓ' x_j] is the same for both j ∈ B,
u, and for all other j, v, so the gradient of a head is (v Σ_j p_j + (u - v) Σ_{j ∈ B} p_j)/(τn):
0 if B is two opposite positions.
"""

from math import comb

from flint import arb, fmpq

from paritylab.proofs.domain import from_to, positive, rows
from paritylab.proofs.kernel import Numbers, Proof, norm, pivots, risk

PRINTED = "fails"
TITLE = (
    "Masked heads: a strict local minimum at risk 1.78 (n = 8, B = {0, 3}, τ = 1/8, b = 1/100), "
    "and a stationary point of risk above 2 (n = 20, B = {3, 13}, b = 0)"
)
SETTING = {"n": 8, "B": [0, 3], "tau": "1/8", "b": "1/100", "zero heads": {"n": 20, "B": [3, 13]}}
WITNESS = {
    "centre": rows(2, rows(2, from_to(-100, 100))),
    "radius": positive(1),
    "mu": positive(1000),
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
