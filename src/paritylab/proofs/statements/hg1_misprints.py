"""Displayed lines in the proofs of Lemmas 8, 17, 18 and 19 that are not what they stand for.

Lines on the readout are compared exactly, at b = 0, where it is piecewise linear in s = k·v*; lines
on gradients at one setting of the heads, in balls.
"""

from flint import arb, fmpq

from paritylab.proofs.domain import bits, from_to, rows
from paritylab.proofs.kernel import (
    Heads,
    Number,
    Numbers,
    Proof,
    inputs,
    label,
    squared_hinge,
    total,
)
from paritylab.proofs.statements.hg1_lemma18 import printed_sum

PRINTED = "fails"
TITLE = "Eight printed lines differ from the true values, n = 6, B = {0, 2, 4}, τ = 1/4, b = 1/10"
SETTING = {"n": 6, "B": [0, 2, 4], "tau": "1/4", "b": "1/10"}
#: heads: (a₁₃, a₁₄) of each. s: where the closed form of ŷ is compared. input: of Lemma 18.
WITNESS = {
    "heads": rows(3, rows(2, from_to(-100, 100))),
    "s": from_to(0, 3),
    "input": bits(6),
}


def exact_readout(s: Number, k: int) -> Number:
    """ŷ at b = 0: 1 + Σ_q (-1)^q (8q - 4) (s - q + 1/2)₊."""
    gaps = ((q, s - q + fmpq(1, 2)) for q in range(1, k + 1))
    return fmpq(1) + total((-1) ** q * (8 * q - 4) * gap for q, gap in gaps if gap > 0)


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    k = len(setting["B"])
    _readout_lines(proof, k, fmpq(witness["s"]))
    _gradient_lines(proof, setting, witness["heads"], witness["input"])


def _readout_lines(proof: Proof, k: int, s: Number) -> None:
    up = int((s - fmpq(1, 2)).ceil())
    true = exact_readout(s, k)

    def line(v: Number) -> Number:
        return (-1) ** up * (4 * up * v - 4 * up**2 + 1)

    proof.less(
        "Lemma 17: the closed form of ŷ with v* is off by", fmpq(1, 10), abs(line(s / k) - true)
    )
    proof.equal("Lemma 17: with k·v* it is right", line(s), true)
    for size in range(1, 7):
        start, end = exact_readout(fmpq(0), size), exact_readout(fmpq(size), size)
        proof.equal(f"Lemma 19: ŷ = 1, not 0, at s = 0, k = {size}", start, fmpq(1))
        proof.equal(f"Lemma 19: ŷ = (-1)^k at s = k = {size}", end, fmpq((-1) ** size))
    proof.equal("Lemma 19: ℓ + ℓ̄ at ŷy = -1 is 8, not 2", 2 * (1 + 1) ** 2, 8)


def _gradient_lines(proof: Proof, setting: Numbers, directions: Number, x: list[int]) -> None:
    n, subset, b = setting["n"], setting["B"], setting["b"]
    heads = Heads(directions, n, setting["tau"])
    rows, k = heads.moments(), len(subset)
    gradients = []
    for each in inputs(n):
        loss = squared_hinge(heads.attended(each), label(each, subset), k, b)
        gradients.append([loss.slope * s for s in heads.slope(each, rows)])
    means = [total(column) / 2**n for column in zip(*gradients, strict=True)]
    squares = [total(v * v for v in column) / 2**n for column in zip(*gradients, strict=True)]
    proof.less(
        "Lemma 8: (E ∂ℓ)² is below E[(∂ℓ)²], printed for it",
        2 * total(m * m for m in means),
        total(squares),
    )
    ones = heads.attended((1,) * n) / k
    proof.less("Lemma 19: v* at all ones is 1, not k, to", abs(ones - 1), fmpq(1, 10**9))
    tau = arb(setting["tau"])
    slopes = [tau * s for s in heads.slope(x, rows)]
    moved = total(s * s for s in slopes)
    product = total((slopes[2 * i] * slopes[2 * i + 1]) ** 2 for i in range(len(directions)))
    proof.less("Lemma 18: the product of squares, printed for their sum", 2 * product, moved)
    printed = printed_sum(heads, x)
    proof.less("Lemmas 14, 17, 18: plus for minus, off by", fmpq(1, 100), abs(printed - moved))
