"""Lemma 16 and display (4) of Lemma 7 fail for large b: |ŷ| grows like √b, their constants do not.

Lemma 16 uses |ŷ| ≤ 4k³. An entry of the Jacobian of ŷ∇ŷ, or of the Hessian of the loss ℓ of an
input, above the claimed Lipschitz constant refutes it, as no entry exceeds the spectral norm.
"""

from flint import arb

from paritylab.proofs.domain import bits, from_to, rows, whole
from paritylab.proofs.kernel import Heads, Number, Numbers, Proof, label, readout, squared_hinge

PRINTED = "fails"
TITLE = (
    "The constants of Lemma 16 and of display (4) in Lemma 7 are exceeded at "
    "n = 4, B = {0, 2}, τ = 1, b = 10¹²"
)
SETTING = {"n": 4, "B": [0, 2], "tau": 1, "b": 10**12}
#: heads: (a₁₃, a₁₄) of each. input: of Lemma 16. entry: of the Hessian.
WITNESS = {
    "heads": rows(2, rows(2, from_to(-100, 100))),
    "input": bits(4),
    "entry": whole(0, 3),
}


def constants(k: int, tau: Number, b: Number) -> tuple[Number, Number]:
    """Lemma 16's l₂ and Lemma 7's max{2l₁C, 2(l₂ + B)}."""
    entry = 20 / arb(tau) ** 2 + 32 * k**2 / (arb(tau) ** 2 * arb(b).sqrt())
    slope = 8 * k**2 / arb(tau)
    product = arb(2 * k).sqrt() * (4 * k**3 * entry + slope**2)
    return product, (2 * slope**2 * 2 * k).max(2 * (product + 2 * k * entry))


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, subset, tau, b = (setting[name] for name in ("n", "B", "tau", "b"))
    x, at, k = witness["input"], witness["entry"], len(subset)
    product, smooth = constants(k, tau, b)
    heads = Heads(witness["heads"], n, tau)
    rows = heads.moments()
    bend, slope = readout(heads.attended(x), k, b), heads.slope(x, rows)[at]
    second = heads.bend(x, rows)[at // 2][2 * (at % 2)]
    jacobian = (
        bend.value * (bend.slope * second + bend.curvature * slope**2) + (bend.slope * slope) ** 2
    )
    proof.less("|ŷ| exceeds the 4k³ of Lemma 16", 4 * k**3, abs(bend.value))
    proof.less(
        "Lemma 16's constant is below an entry of the Jacobian of ŷ∇ŷ", product, abs(jacobian)
    )
    loss = squared_hinge(heads.attended(x), label(x, subset), k, b)
    curved = loss.slope * second + loss.curvature * slope**2
    proof.less("Lemma 7's constant is below an entry of the loss's Hessian", smooth, abs(curved))
