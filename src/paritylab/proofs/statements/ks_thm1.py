"""Theorem 1's rate ½ - O(e^(-n)) fails without a single query: one fixed answer does better.

h(x) = (-1)^(x₁x₂ + x₃x₄ + …) is bent: every Walsh coefficient is ±2^(-n/2), with the sign
(-1)^(number of pairs {2i-1, 2i} inside S) at the set S, since each pair contributes
(1 + s + s' - ss')/2 with s = ±1. So on the parity of S its zero-one loss is ½ ∓ 2^(-n/2-1). The
sets of size k = n/2 with the plus sign number (C(n, k) + [t^k](1 + 2t - t²)^(n/2))/2. Their share
is above 1/4 at the sizes listed, not O(e^(-n/3)), and 2^(-n/2-1)e^n = ½(e/√2)^n grows beyond every
constant.
"""

from itertools import combinations, product
from math import comb

from flint import arb, fmpq, fmpz_poly

from paritylab.proofs.domain import rows, whole
from paritylab.proofs.kernel import Numbers, Proof

PRINTED = "fails"
TITLE = "A fixed answer beats ½ - 1000·e^(-n) on a quarter of all targets of n/2 bits, n = 16 … 128"
SETTING = {"n": [16, 32, 64, 128], "listed": 8}
#: pairs: the quadratic form of the bent function at the size that is listed in full.
WITNESS = {"pairs": rows(4, rows(2, whole(0, 7)))}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    _listed(proof, setting["listed"], witness["pairs"])
    for n in setting["n"]:
        k = n // 2
        signed = int((fmpz_poly([1, 2, -1]) ** k)[k])
        share = fmpq(comb(n, k) + signed, 2 * comb(n, k))
        proof.less(f"share of targets with the plus sign, n = {n}", fmpq(1, 4), share)
        gain = arb(n).exp() / arb(2) ** (k + 1)
        proof.less(f"advantage over ½ in units of e^(-n), n = {n}", 1000, gain)


def _listed(proof: Proof, n: int, pairs: list[list[int]]) -> None:
    """All sets of n/2 positions, coefficients by summing over every input."""
    inputs = list(product((0, 1), repeat=n))
    form = [sum(x[i] & x[j] for i, j in pairs) for x in inputs]
    wrong = plus = 0
    for subset in combinations(range(n), n // 2):
        inside = sum(i in subset and j in subset for i, j in pairs)
        found = sum(
            1 - 2 * ((f + sum(x[i] for i in subset)) % 2) for f, x in zip(form, inputs, strict=True)
        )
        wrong += found != (-1) ** inside * 2 ** (n // 2)
        plus += found > 0
    predicted = (comb(n, n // 2) + int((fmpz_poly([1, 2, -1]) ** (n // 2))[n // 2])) // 2
    proof.equal(f"coefficients that are not as predicted, n = {n}", wrong, 0)
    proof.equal(f"targets with the plus sign, n = {n}", plus, predicted)
