"""With b > 0 heads on B do not have risk 0, and for odd k no heads have.

k = 2: h = 1 + ŷ(1) = 4√(1/4 + b) - 2 > 0 for every b > 0 (σ(½) = (½ + r)/2, σ(-½) = (r - ½)/2,
r = √(¼ + b)), and half of the inputs have one bit of B set: the risk of heads that attend to B
alone is h²/2 plus what the other inputs add.

k = 3: at x = 0 and x = 1 the attended sum is 0 and k under all heads, so that the risk of every
setting is at least 2^-n times the two losses.

Both are shown for every b of an interval, which is cut until the inequality holds on each part.
"""

from typing import Any

from flint import arb, fmpq

from paritylab.proofs.domain import Domain
from paritylab.proofs.kernel import Numbers, Proof, hull, readout, squared_hinge

PRINTED = "fails"
TITLE = (
    "For every b from 1/1000 to 1 two heads on B have risk above 2b², and for k = 3, n = 8 all "
    "heads have risk above b²/200"
)
#: b: first and last of the interval. at: where the risk is enclosed.
SETTING = {"b": ["1/1000", 1], "at": "1/100", "n": 8}
WITNESS: dict[str, Domain] = {}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    (low, high), n = setting["b"], setting["n"]
    parts = [(fmpq(low) * 2**i, min(fmpq(low) * 2 ** (i + 1), fmpq(high))) for i in range(10)]
    proof.equal("the last part ends at the largest b", parts[-1][1], fmpq(high))
    proof.everywhere("1 + ŷ(1), k = 2, is above 2b", parts, _gap, _halves)
    proof.everywhere(
        "risk of any three heads is above b²/200", parts, lambda part: _ends(part, n), _halves
    )
    b = setting["at"]
    losses = [squared_hinge(arb(s), (-1) ** s, 2, b).value for s in range(3)]
    value = (losses[0] + 2 * losses[1] + losses[2]) / 4
    proof.less("risk of two heads on B at b = 1/100, from below", fmpq(7, 10000), value)
    proof.less("risk of two heads on B at b = 1/100, from above", value, fmpq(8, 10000))


def _gap(part: tuple[Any, Any]) -> bool:
    """1 + ŷ(1) > 2b at k = 2, so that the risk of heads on B is at least (1 + ŷ(1))²/2 > 2b²."""
    return bool(1 + readout(arb(1), 2, hull(*part)).value > 2 * part[1])


def _ends(part: tuple[Any, Any], n: int) -> bool:
    b = hull(*part)
    ends = squared_hinge(arb(0), 1, 3, b).value + squared_hinge(arb(3), -1, 3, b).value
    return bool(ends / 2**n > part[1] ** 2 / 200)


def _halves(part: tuple[Any, Any]) -> list[tuple[Any, Any]] | None:
    middle = (part[0] + part[1]) / 2
    return None if part[1] - part[0] < part[0] / 1000 else [(part[0], middle), (middle, part[1])]
