"""Other marginals and noisy labels change both numbers of Section 3.

Without an edge to a bit that is 1 with probability p the constant 1 - 2p has squared-hinge risk
(1 - p)(2p)² + p(2 - 2p)² = 4p(1 - p), the least possible; with labels flipped with probability ν a
net that says ±1 has risk 4ν.
"""

from flint import fmpq

from paritylab.proofs.domain import from_to
from paritylab.proofs.kernel import Numbers, Proof

PRINTED = "fails"
TITLE = "Risk 9/25, not 1, without the edge at p = 9/10; risk 2/5, not 0, at noise 1/10"
SETTING = {"p": "9/10", "noise": "1/10"}
#: blind: the constant answer.
WITNESS = {"blind": from_to(-1, 1)}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    p, noise, blind = setting["p"], setting["noise"], fmpq(witness["blind"])
    value = (1 - p) * max(fmpq(0), 1 - blind) ** 2 + p * max(fmpq(0), 1 + blind) ** 2
    proof.equal("risk of the constant answer without the edge", value, fmpq(9, 25))
    proof.equal("risk of the net of Proposition 3 under noise", noise * fmpq(2) ** 2, fmpq(2, 5))
