"""Theorem 7's filter needs 1 < ε₀ < 2: a silenced token is 0, exactly 1 away from -1.

Before any level is trained, on strings with d inputs of ±1: inputs are 2 or 0 from -1 on each
string, so no input is within ε₀ of -1 on all strings; level 1 is φ of a small mean, near -1; level
2 is silenced, so 0; level 3 sees tokens at distance 1 from -1 and is silenced if and only if
1 < ε₀. Distances here are exact: largest over strings of |u + 1|.
"""

from flint import fmpq

from paritylab.proofs.domain import between, positive, row
from paritylab.proofs.kernel import Number, Numbers, Proof

PRINTED = "fails"
TITLE = (
    "Five levels, before training: level 3 passes the filter with some ε₀ ≤ 1, nothing above "
    "level 1 does with some ε₀ between 1 and 2, nothing at all with some ε₀ above 2"
)
SETTING = {"levels": 5}
#: small: distance of level 1 from -1. epsilons: one not above 1, one between 1 and 2, one above 2.
WITNESS = {
    "small": positive(1),
    "epsilons": row(positive(2), between(1, 2), between(2, 100)),
}


def silenced(levels: int, epsilon: Number, near: Number) -> list[int]:
    """Levels whose output the filter sets to 0 before training; level 0 is the input."""
    distance, quiet = [fmpq(2)], []
    for level in range(1, levels + 1):
        if distance[level - 1] < epsilon:
            quiet.append(level)
            distance.append(abs(fmpq(0) + 1))
        else:
            distance.append(fmpq(near))
    return quiet


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    levels, near = setting["levels"], fmpq(witness["small"])
    low, middle, high = (fmpq(e) for e in witness["epsilons"])
    proof.at_most("there is a level 3", 3, levels)
    proof.at_most("the first ε₀", low, fmpq(1))
    proof.less("the second ε₀, from below", fmpq(1), middle)
    proof.less("the second ε₀, from above", middle, fmpq(2))
    proof.less("the third ε₀", fmpq(2), high)
    proof.less("level 1 is nearer to -1 than every ε₀", near, low)
    first = tuple(silenced(levels, low, near))
    proof.equal(
        "levels silenced at ε₀ ≤ 1: every second one only", first, tuple(range(2, levels + 1, 2))
    )
    second = tuple(silenced(levels, middle, near))
    proof.equal("levels silenced at 1 < ε₀ < 2: all from 2 on", second, tuple(range(2, levels + 1)))
    third = tuple(silenced(levels, high, near))
    proof.equal("levels silenced at ε₀ > 2: all", third, tuple(range(1, levels + 1)))
