"""Lemma 17 fails: the loss gradients of two inputs oppose each other in a head.

∂ℓ/∂a = φ'(z) ∂z/∂a with ∂z/∂a = Cov(x, p)/τ under the head's attention.
"""

from flint import arb, fmpq

from paritylab.proofs.domain import bits, from_to, rows, whole
from paritylab.proofs.kernel import Heads, Numbers, Proof, label, squared_hinge, total

PRINTED = "fails"
TITLE = (
    "Two inputs whose loss gradients in a masked unit head oppose each other, "
    "n = 8, B = {0, 3}, τ = 1/8, b = 1/100"
)
SETTING = {"n": 8, "B": [0, 3], "tau": "1/8", "b": "1/100"}
#: angles: of the unit heads, over π. inputs: two strings of bits. head: whose gradients.
WITNESS = {
    "angles": rows(2, from_to(-2, 2)),
    "inputs": rows(2, bits(8)),
    "head": whole(0, 1),
}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, subset = setting["n"], setting["B"]
    heads = Heads([arb.sin_cos_pi_fmpq(fmpq(t)) for t in witness["angles"]], n, setting["tau"])
    rows, at = heads.moments(), 2 * witness["head"]
    gradients = []
    for x in witness["inputs"]:
        loss = squared_hinge(heads.attended(x), label(x, subset), len(subset), setting["b"])
        gradients.append([loss.slope * s for s in heads.slope(x, rows)[at : at + 2]])
    inner = total(g * h for g, h in zip(*gradients, strict=True))
    proof.less("inner product of the two gradients", inner, fmpq(-1, 100))
