"""Heads in the limit τ → 0: fewer than k miss a bit of B without neighbours, k are enough.

A limiting head puts its attention on one position or on two neighbours. If B has no neighbours on
the circle, such a head touches at most one bit of B; with fewer than k heads some bit i is touched
by none, flipping it changes the label and not the prediction u, and (1 - u)₊² + (1 + u)₊² ≥ 2: the
risk is at least 1, whatever the shares are. k heads on B give z = Σ_B x and risk 0 at b = 0; one
head halfway between two neighbours, weighted k/1 = 2, gives z = x_i + x_{i+1} and risk 0.
"""

from itertools import combinations

from flint import fmpq

from paritylab.proofs.domain import from_to
from paritylab.proofs.kernel import Number, Numbers, Proof, inputs, label
from paritylab.proofs.statements.hg1_misprints import exact_readout

PRINTED = "holds"
TITLE = (
    "τ → 0, b = 0, n ≤ 10, k = 2, 3, 4: fewer than k heads touch fewer than k bits of a B without "
    "neighbours; k heads, or one on two neighbours, have risk 0"
)
SETTING = {"largest n": 10, "k": [2, 3, 4]}
#: share: of the head between two neighbours.
WITNESS = {"share": from_to(0, 1)}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    for k in setting["k"]:
        most, sets = 0, 0
        for n in range(2 * k, setting["largest n"] + 1):
            for subset in combinations(range(n), k):
                gaps = [(b - a) % n for a, b in zip(subset, (*subset[1:], subset[0]), strict=True)]
                if min(gaps) >= 2:
                    sets += 1
                    touched = (sum(j in subset for j in (i, (i + 1) % n)) for i in range(n))
                    most = max(most, *touched)
        proof.less(f"sets without neighbours looked at, k = {k}", 0, sets)
        proof.equal(f"bits of B that one head touches at most, k = {k}", most, 1)
        worst = max(_loss(sum(x), label(x, range(k)), k) for x in inputs(k))
        proof.equal(f"largest loss of k heads on B, k = {k}", worst, fmpq(0))
    share = fmpq(witness["share"])
    worst = max(
        _loss(2 * (share * x[0] + (1 - share) * x[1]), label(x, (0, 1)), 2) for x in inputs(2)
    )
    proof.equal("largest loss of one head between two neighbours", worst, fmpq(0))


def _loss(z: Number, y: int, k: int) -> Number:
    gap = 1 - y * exact_readout(fmpq(z), k)
    return gap * gap if gap > 0 else fmpq(0)
