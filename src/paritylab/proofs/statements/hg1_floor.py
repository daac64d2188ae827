"""With b > 0 heads on B do not have risk 0, and for odd k no heads have.

k = 2: h = 1 + ŷ(1) = 4√(1/4 + b) - 2 > 0 for every b > 0 (σ(½) = (½ + r)/2, σ(-½) = (r - ½)/2,
r = √(¼ + b)), and half of the inputs have one bit of B set: the risk of heads that attend to B
alone is h²/2 plus what the other inputs add.

k = 3: at x = 0 and x = 1 the attended sum is 0 and k under all heads, so that the risk of every
setting is at least 2^-n times the two losses.
"""

from flint import arb, fmpq

from paritylab.proofs.kernel import Numbers, Proof, readout, squared_hinge

PRINTED = "fails"
TITLE = "At b = 1/100 heads on B have a positive risk, k = 2; for k = 3, n = 8 all heads have"
SETTING = {"b": "1/100", "n": 8}
WITNESS = ()


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    b, n = setting["b"], setting["n"]
    root = (fmpq(1, 4) + arb(b)).sqrt()
    gap = 1 + readout(arb(1), 2, b).value
    proof.less("1 + ŷ(1) is 4√(1/4 + b) - 2, to", abs(gap - (4 * root - 2)), fmpq(1, 10**12))
    losses = [squared_hinge(arb(s), (-1) ** s, 2, b).value for s in range(3)]
    value = (losses[0] + 2 * losses[1] + losses[2]) / 4
    proof.less("risk of two heads on B, from below", fmpq(7, 10000), value)
    proof.less("risk of two heads on B, from above", value, fmpq(8, 10000))
    ends = squared_hinge(arb(0), 1, 3, b).value + squared_hinge(arb(3), -1, 3, b).value
    proof.less("risk of any three heads, at least", fmpq(1, 10**6), ends / 2**n)
