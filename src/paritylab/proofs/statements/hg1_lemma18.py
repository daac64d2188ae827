"""Lemma 18 fails as printed, and so does the second part of inequality (7).

The printed left side, Σ_i [Σ_p x_p(γ_p(1-γ_p)c_p + Σ_{j≠p} γ_pγ_j c_j)]² for c = sin and cos, is
compared with 2c₂²τ²/n², where c₂τ is the least attention within π/4 of a head. With the minus of
the derivative the sum at all ones is Σ_p γ_p c_p - (Σ_p γ_p)(Σ_j γ_j c_j) = 0, because Σ_p γ_p = 1,
so that no c₂ > 0 serves.
"""

from flint import arb, fmpq

from paritylab.proofs.domain import between, bits, rows, whole
from paritylab.proofs.kernel import Heads, Number, Numbers, Proof, circle, readout, total

PRINTED = "fails"
TITLE = (
    "An input with s > 0 whose printed sum is below bound/1000, and an s at which (∂ŷ/∂v*)² is "
    "below 16: unit heads, n = 8, k = 3, τ = 1/8, b = 1/100"
)
SETTING = {"n": 8, "k": 3, "tau": "1/8", "b": "1/100"}
#: places: of the unit heads. input: a string of bits. s: where (∂ŷ/∂v*)² is below 16.
WITNESS = {"places": rows(3, whole(0, 7)), "input": bits(8), "s": between(0, 3)}


def near_attention(heads: Heads, places: list[int], n: int) -> Number:
    """c₂τ: the least attention within π/4 of each head's position."""
    least = arb(1)
    for row, place in zip(heads.attention, places, strict=True):
        for j, weight in enumerate(row):
            away = abs(j - place)
            if 8 * min(away, n - away) <= n:
                least = least.min(weight)
    return least


def printed_sum(heads: Heads, x: list[int]) -> Number:
    """The printed left side, with plus for minus: the inner bracket is (1 - 2γ_p)c_p + Σ_j γ_j c_j
    times γ_p."""
    left = arb(0)
    for row in heads.attention:
        for side in (0, 1):
            mean = total(g * p[side] for g, p in zip(row, heads.places, strict=True))
            terms = zip(row, heads.places, x, strict=True)
            left += total(g * ((1 - 2 * g) * p[side] + mean) for g, p, bit in terms if bit) ** 2
    return left


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, k, tau = setting["n"], setting["k"], setting["tau"]
    places, x = witness["places"], witness["input"]
    heads = Heads([circle(n)[p] for p in places], n, tau)
    left = printed_sum(heads, x)
    bound = 2 * near_attention(heads, places, n) ** 2 / n**2
    proof.less("s > 0", arb(0), heads.attended(x))
    proof.less("a thousand times the printed sum is below the bound", 1000 * left, bound)
    true = total(s * s for s in heads.slope((1,) * n, heads.moments()))
    proof.less("with the derivative's minus, 10²⁰ times the sum at all ones", 10**20 * true, bound)
    bend = readout(arb(witness["s"]), k, setting["b"])
    proof.less("ŷy ≤ 1 at this s for y = -1", -bend.value, fmpq(1))
    proof.less("(∂ŷ/∂v*)² there", (k * bend.slope) ** 2, fmpq(16))
