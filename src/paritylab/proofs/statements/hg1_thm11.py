"""Theorem 11 fails for arbitrary embeddings: risk 0 for every B at weights as small as one likes.

One head, positional scores τ·j·ln 2, so γ_j = 2^j/(2^n - 1) and S = Σ_j γ_j x_j tells all inputs
apart: t = (2^n - 1)S is the number with binary digits x. A network of 2^n - 1 neurons
σ(β(t - t_i)) and a constant interpolates every label (the linear system is solved in balls, so its
solution exists). Token embeddings M·x_j in place of x_j and β/M in place of β change no prediction,
and ‖α‖‖β‖ is divided by M: it falls below any positive number, while the printed bound then is at
least half of 1 - 2m/2^⌈(n-1)/5m⌉ > 0.
"""

from flint import arb, arb_mat, ctx, fmpq

from paritylab.proofs.domain import positive
from paritylab.proofs.kernel import Number, Numbers, Proof, label, norm, total

PRINTED = "fails"
TITLE = "One fixed head, n = 7, b = 1/100, every B: risk 0 where the printed bound is above 1/4"
SETTING = {"n": 7, "m": 1, "b": "1/100"}
#: slope: β before scaling. scale: M.
WITNESS = {"slope": positive(10**6), "scale": positive(10**40)}


def solve_all(n: int, b: Number, slope: Number) -> Number:
    """Constant and α of every B as columns: a matrix that interpolates all labels."""
    size = 2**n
    rows = []
    for t in range(size):
        at = [slope * (arb(t) - i) for i in range(size - 1)]
        rows.append([arb(1), *((u + (u * u + arb(b)).sqrt()) / 2 for u in at)])
    digits = [[t >> j & 1 for j in range(n)] for t in range(size)]
    sets = [[j for j in range(n) if mask >> j & 1] for mask in range(size)]
    labels = arb_mat([[label(x, subset) for subset in sets] for x in digits])
    return arb_mat(rows).solve(labels)


def weight_norms(n: int, b: Number, slope: Number) -> Number:
    """‖α‖‖β‖ before scaling, the largest over all B."""
    with ctx.workprec(400):
        solution = solve_all(n, b, slope)
        size = 2**n
        alphas = [norm(solution[i, column] for i in range(1, size)) for column in range(size)]
        largest = arb(0)
        for alpha in alphas:
            largest = largest.max(alpha)
        # β is a (2^n - 1) × 1 matrix of the same entry, in units of t = (2^n - 1)S.
        return largest * slope * (size - 1) * arb(size - 1).sqrt()


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, m, b = setting["n"], setting["m"], setting["b"]
    weights = [fmpq(2**j, 2**n - 1) for j in range(n)]
    proof.equal("attention adds up to 1", total(weights), fmpq(1))
    norms = weight_norms(n, b, witness["slope"]) / witness["scale"]
    proof.less("‖α‖‖β‖ of the interpolating network, all B", norms, fmpq(1, 100))
    exponent = -(-(n - 1) // (5 * m))
    first = 1 - fmpq(2 * m, 2**exponent)
    bound = first * (1 - norms * fmpq(5 * m**2, n)) ** 2
    proof.less("the printed bound, where the risk is 0", fmpq(1, 4), bound)
