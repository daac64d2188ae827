"""Remark 12 fails: risk 0 for every B though m²‖α‖‖β‖ is as small as one likes, at each n.

The network of hg1-thm11 with the scale M(n): m²‖α‖‖β‖/n below 1/1000, where the remark says that
the risk tends to 1. The construction is the same at every n, and the scale is free.
"""

from flint import fmpq

from paritylab.proofs.domain import positive, rows
from paritylab.proofs.kernel import Numbers, Proof
from paritylab.proofs.statements.hg1_thm11 import weight_norms

PRINTED = "fails"
TITLE = (
    "One fixed head, n = 2 … 6, b = 1/100: risk 0 for every B with m²‖α‖‖β‖/n below 1/1000, "
    "by a rule that is the same at every n"
)
SETTING = {"n": [2, 3, 4, 5, 6], "b": "1/100"}
#: slope: β before scaling. scales: M of each n.
WITNESS = {"slope": positive(10**6), "scales": rows(5, positive(10**40))}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    for n, scale in zip(setting["n"], witness["scales"], strict=True):
        norms = weight_norms(n, setting["b"], witness["slope"]) / scale
        proof.less(f"m²‖α‖‖β‖/n at n = {n}, m = 1", norms / n, fmpq(1, 1000))
