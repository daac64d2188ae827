"""The attention bounds before Lemma 17 fail at τ = c₁/n: no c₂ < c₁ that is free of n serves.

A unit head a quarter of a gap past position 0. Position 1 is within π/4, yet γ_1 > c₁τ; position
n/8 is within π/4 as well, yet γ_{n/8} is so small that c₂ would have to be.
"""

from fractions import Fraction

from flint import arb, fmpq

from paritylab.proofs.domain import between
from paritylab.proofs.kernel import Numbers, Proof, total

PRINTED = "fails"
TITLE = "At τ = 3/n, n = 4096: γ_1 exceeds 10c₁τ, and c₂τ ≤ γ_{n/8} forces c₂ < 10⁻¹⁰⁰"
SETTING = {"n": 4096, "c1": 3}
#: angle: of the head, in gaps between positions.
WITNESS = {"angle": between(0, Fraction(1, 2))}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, c1, angle = setting["n"], setting["c1"], fmpq(witness["angle"])
    proof.less("the head is past position 0", fmpq(0), angle)
    proof.less("the head is nearer to position 0 than to position 1", angle, fmpq(1, 2))
    tau = fmpq(c1, n)
    scores = [arb.cos_pi_fmpq(2 * (angle - j) / n) / arb(tau) for j in range(n)]
    weights = [(s - scores[0]).exp() for s in scores]
    whole = total(weights)
    proof.less("attention of position 1 against c₁τ", 10 * c1 * arb(tau), weights[1] / whole)
    proof.less(
        "largest c₂ that position n/8 allows", weights[n // 8] / whole / arb(tau), arb(10) ** -100
    )
