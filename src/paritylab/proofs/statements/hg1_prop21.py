"""Proposition 21 fails for B = {0, n - 1}: neighbours on the circle though not as numbers.

Two heads a hair nearer to 0 than to n - 1: soft attention is half on each, so z is the sum of both
bits but for a small mass on the others; hard attention is on 0 alone, so z = 2x_0.
"""

from flint import arb, fmpq

from paritylab.proofs.domain import between
from paritylab.proofs.kernel import Numbers, Proof, hull, inputs, label, squared_hinge, total

PRINTED = "fails"
TITLE = "n = 20, B = {0, 19}, τ = 1/8000, b = 0: soft risk below 10⁻⁶, hard risk 2"
SETTING = {"n": 20, "B": [0, 19], "tau": "1/8000"}
#: angle: of both unit heads, over π.
WITNESS = {"angle": between(-1, 1)}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, (low, high), angle = setting["n"], setting["B"], fmpq(witness["angle"])
    proof.less("the two bits of B are no neighbours as numbers", 1, high - low)
    scores = [arb.cos_pi_fmpq(angle - fmpq(2 * j, n)) for j in range(n)]
    farther = scores[1]
    for j in range(2, high):
        farther = farther.max(scores[j])
    proof.less("hard attention prefers position 0 to all others but one", farther, scores[low])
    ahead = (scores[low] - scores[high]) / arb(setting["tau"])
    proof.less(f"hard attention prefers position 0 to {high}, by so many τ", fmpq(0), ahead)
    weights = [((s - scores[0]) / arb(setting["tau"])).exp() for s in scores]
    shares = [w / total(weights) for w in weights]
    others = hull(0, (1 - shares[low] - shares[high]).upper())
    soft = hard = arb(0)
    for x in inputs(2):
        z = 2 * (shares[low] * x[0] + shares[high] * x[1] + others)
        soft += squared_hinge(z, label(x, (0, 1)), 2, 0).value / 4
        hard += squared_hinge(arb(2 * x[0]), label(x, (0, 1)), 2, 0).value / 4
    proof.less("soft risk", soft, fmpq(1, 10**6))
    proof.less("hard risk, from below", fmpq(199, 100), hard)
    proof.less("hard risk, from above", hard, fmpq(201, 100))
