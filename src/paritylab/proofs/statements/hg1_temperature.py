"""At τ = c/n a unit head on its position keeps no share of its attention as n grows.

γ_max = 1/(1 + R), R = Σ_{j=1}^{n-1} exp(-n(1 - cos 2πj/n)/c). As 1 - cos t ≤ t²/2, each of
j = ±1 … ±J adds at least e^(-1) if 2π²J²/(nc) ≤ 1, so γ_max ≤ 1/(1 + 2J/e), J = ⌊√(nc/2π²)⌋ (and
J < n/2). With c = 1 this is below 1/2 from J = 2 on, that is for all n ≥ n₀, and tends to 0;
smaller n are enclosed one by one.

The right order is 1/n². For 0 < δ < 2/3 the largest τ with γ_max ≥ 1 - δ lies between
(1 - cos 2π/n)/ln((2 - δ)/δ) and (1 - cos 2π/n)/ln(2(1 - δ)/δ): R ≥ 2e^(-κ) by j = ±1, and
R ≤ 2Σ_{j≥1} e^(-jκ) = 2/(e^κ - 1) as sin²(jx) ≥ j sin²x for 1 ≤ j ≤ n/2, x = π/n (j = 2: 4cos²x ≥
2 for n ≥ 4; j ≥ 3: sin jx ≥ 2j/n ≥ (2j/π) sin x and (2j/π)² ≥ j; n = 3: R = 2e^(-κ)). Both ends are
enclosed for n below n₀ as well.
"""

from flint import arb, fmpq

from paritylab.proofs.domain import whole
from paritylab.proofs.kernel import Number, Numbers, Proof, total

PRINTED = "fails"
TITLE = (
    "A unit head on its position: γ_max < 1/2 at τ = 1/n for every n ≥ 30; γ_max = 9/10 needs τ of "
    "the order 1/n², enclosed for n = 3 … 79"
)
SETTING = {"c": 1, "from": 30, "delta": "1/10"}
#: n0: from where the estimate takes over.
WITNESS = {"n0": whole(30, 200)}


def peak(n: int, tau: Number) -> Number:
    """γ_max of a unit head on its position."""
    gaps = [1 - arb.cos_pi_fmpq(fmpq(2 * j, n)) for j in range(n)]
    return 1 / total((-gap / tau).exp() for gap in gaps)


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    c, start, delta, n0 = setting["c"], setting["from"], setting["delta"], witness["n0"]
    proof.at_most("n₀ is not below the first n", start, n0)
    worst = arb(0)
    for n in range(start, n0):
        worst = worst.max(peak(n, fmpq(c, n)))
    proof.less(f"γ_max at τ = c/n, the largest of n = {start} … {n0 - 1}", worst, fmpq(1, 2))
    proof.less("2π²·2²/(n₀c) ≤ 1, so J ≥ 2 for all n ≥ n₀", 8 * arb.pi() ** 2 / (n0 * c), fmpq(1))
    proof.at_most("J = 2 is below n₀/2", 5, n0)
    proof.less("1/(1 + 2·2/e)", 1 / (1 + 4 / arb(1).exp()), fmpq(1, 2))
    low, high = ((2 - arb(delta)) / delta).log(), (2 * (1 - arb(delta)) / delta).log()
    least, most = arb(1), arb(0)
    for n in range(3, n0):
        gap = 1 - arb.cos_pi_fmpq(fmpq(2, n))
        least, most = least.min(peak(n, gap / low)), most.max(peak(n, gap / high))
    # At n = 3 the upper end is attained.
    room = fmpq(1, 10**12)
    proof.less(f"γ_max at the lower τ, the least of n = 3 … {n0 - 1}", 1 - arb(delta) - room, least)
    proof.less(
        f"γ_max at the upper τ, the largest of n = 3 … {n0 - 1}", most, 1 - arb(delta) + room
    )
