"""The risk at the start is not 1: its mean over two random angles is enclosed.

Angles are cut into arcs; over each pair of arcs the risk is enclosed, one of each two pairs that
the exchange of heads makes equal.
"""

from flint import fmpq

from paritylab.proofs.domain import whole
from paritylab.proofs.kernel import Numbers, Proof
from paritylab.proofs.pairs import UNIT, Cell, Pairs

PRINTED = "fails"
TITLE = "The mean risk of two random heads is above 2, n = 8, B = {0, 3}, τ = 1/8, b = 1/100"
SETTING = {"n": 8, "B": [0, 3], "tau": "1/8", "b": "1/100"}
#: arcs: into how many the circle is cut.
WITNESS = {"arcs": whole(1, 256)}
SECONDS = 10


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, count = setting["n"], witness["arcs"]
    pairs = Pairs(n, setting["B"], setting["tau"], setting["b"], fmpq(4))
    one = fmpq(1)
    arcs = [Cell(one, one, fmpq(2 * i, count), fmpq(2 * i + 2, count)) for i in range(count)]
    low = high = 0
    for i, first in enumerate(arcs):
        for j, second in enumerate(arcs[: i + 1]):
            copies = 1 if i == j else 2
            low += copies * (pairs.low(first, second) or 0)
            # No loss is above 4² = 16: |1 - yŷ| ≤ 4 for 0 ≤ z ≤ 2.
            above = pairs.high(first, second)
            high += copies * (16 * 2**n * UNIT if above is None else above)
        proof.report(i / count)
    whole = count**2 * 2**n * UNIT
    proof.less("mean risk at the start, from below", fmpq(21, 10), fmpq(low, whole))
    proof.less("mean risk at the start, from above", fmpq(high, whole), fmpq(5, 2))
