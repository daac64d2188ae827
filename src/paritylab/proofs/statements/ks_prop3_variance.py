"""Proposition 3 misses a factor 4: the gradient of E(h - f)² carries a 2.

f_θ = Σ_p θ_p p over all pairs of n signs, θ = 0: ∇f = (p)_p, E‖∇f‖² = |H|, and the gradient for
target h is -2 e_h, so its variance over h is 4(1 - 1/|H|), above F²/|H| = 1 for |H| ≥ 2; it is
below 4F²/|H| always (orthonormality: Σ_h (E[h ∂f])² ≤ E(∂f)²).
"""

from itertools import combinations, product

from flint import fmpq

from paritylab.proofs.domain import from_to, rows
from paritylab.proofs.kernel import Number, Numbers, Proof

PRINTED = "fails"
TITLE = (
    "All pairs of n = 4 signs, some θ: the variance of the gradient is above three times the "
    "printed bound, and below four times"
)
SETTING = {"n": 4, "k": 2}
#: weights: θ at which the gradient is taken.
WITNESS = {"weights": rows(6, from_to(-1000, 1000))}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, k, theta = setting["n"], setting["k"], witness["weights"]
    rows = [_parities(x, n, k) for x in product((1, -1), repeat=n)]
    count, size = len(rows), len(rows[0])
    answers = [sum(t * p for t, p in zip(theta, row, strict=True)) for row in rows]
    gradients: list[list[Number]] = [
        [
            sum((fmpq(f) - row[h]) * 2 * row[j] for f, row in zip(answers, rows, strict=True))
            / count
            for j in range(size)
        ]
        for h in range(size)
    ]
    means = [sum(column, fmpq(0)) / size for column in zip(*gradients, strict=True)]
    variance = (
        sum(((g - m) ** 2 for row in gradients for g, m in zip(row, means, strict=True)), fmpq(0))
        / size
    )
    bound = fmpq(sum(p * p for row in rows for p in row), count * size)
    proof.less("three times the printed bound F²/|H| is below the variance", 3 * bound, variance)
    proof.less("the variance is below 4F²/|H|", variance, 4 * bound)


def _parities(x: tuple[int, ...], n: int, k: int) -> list[int]:
    found = []
    for subset in combinations(range(n), k):
        value = 1
        for i in subset:
            value *= x[i]
        found.append(value)
    return found
