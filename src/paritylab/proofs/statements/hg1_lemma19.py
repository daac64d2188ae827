"""Lemma 19 fails for odd k and b > 0: no gradient, but a loss, at all zeros and all ones.

s = 0 only for x = 0. There and at x = 1, s = 0 and s = k whatever the heads are, so that both
gradients are exactly 0 (Cov(x, p) = 0 for a constant x), while the losses depend on k and b alone.
With s close to 0 the losses are large: all heads opposite to B = {0, 1, 2} and a single one in B.
"""

from flint import arb, fmpq

from paritylab.proofs.domain import rows, whole
from paritylab.proofs.kernel import Heads, Number, Numbers, Proof, circle, squared_hinge, total
from paritylab.proofs.statements.hg1_lemma18 import near_attention

PRINTED = "fails"
TITLE = (
    "At s = 0 and its complement, and at s near 0 with losses above 7, squared gradients are below "
    "the bound: unit heads, n = 8, k = 3, τ = 1/8, b = 1/100"
)
SETTING = {"n": 8, "k": 3, "tau": "1/8", "b": "1/100"}
#: places: of the unit heads.
WITNESS = {"places": rows(3, whole(0, 7))}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, k = setting["n"], setting["k"]
    # B has k bits, so the labels of all zeros and all ones are 1 and (-1)^k.
    constant = [((0,) * n, 1), ((1,) * n, (-1) ** k)]
    _, losses, left, bound = _compared(setting, witness["places"], constant)
    proof.less("losses of both in sum", fmpq(1, 10000), losses)
    proof.less("squared gradients are below the printed bound", left, bound)
    proof.less("squared gradients", left, fmpq(1, 10**20))
    # Heads opposite to B's middle, a single one at position 0 of B, and its complement.
    single = (1,) + (0,) * (n - 1)
    pair = [(single, -1), (tuple(1 - bit for bit in single), (-1) ** (k - 1))]
    heads, losses, left, bound = _compared(setting, [(k // 2 + n // 2) % n] * k, pair)
    small = heads.attended(single)
    proof.less("s of a single one, heads opposite to B", small, fmpq(1, 10**4))
    proof.less("losses there and at its complement in sum", fmpq(7), losses)
    proof.less("a thousand times the squared gradients are below the bound", 1000 * left, bound)


def _compared(
    setting: Numbers, places: list[int], labelled: list[tuple[tuple[int, ...], int]]
) -> tuple[Heads, Number, Number, Number]:
    """Heads on these places; at the inputs with their labels the sum of the losses, that of the
    squared gradients, and the bound that is printed for the latter."""
    n, k, tau, b = (setting[name] for name in ("n", "k", "tau", "b"))
    heads = Heads([circle(n)[p] for p in places], n, tau)
    rows, losses, left = heads.moments(), arb(0), arb(0)
    for x, y in labelled:
        loss = squared_hinge(heads.attended(x), y, k, b)
        losses += loss.value
        left += total((loss.slope * s) ** 2 for s in heads.slope(x, rows))
    bound = 64 * k**2 * (near_attention(heads, places, n) / arb(tau)) ** 2 / n**2 * losses
    return heads, losses, left, bound
