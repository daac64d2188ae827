"""Two lines in the proof of Lemma 14 are not the derivatives they are said to be.

True values come from power series: softmax of scores t·c_j/τ and σ(z + t), differentiated in t.
"""

from flint import arb, arb_series, fmpq

from paritylab.proofs.domain import from_to, positive, rows, whole
from paritylab.proofs.kernel import Number, Numbers, Proof, circle, total

PRINTED = "fails"
TITLE = (
    "The printed ∂γ/∂a₁₃ (n = 8, τ = 1/8, some head) and σ'' (some z and b) differ from the "
    "derivatives; with a minus, and with b/2(z²+b)^{3/2}, they agree to 10⁻¹⁰"
)
SETTING = {"n": 8, "tau": "1/8"}
#: head: (a₁₃, a₁₄). position: p. z, b: where σ'' is compared.
WITNESS = {
    "head": rows(2, from_to(-100, 100)),
    "position": whole(0, 7),
    "z": from_to(-1000, 1000),
    "b": positive(10**6),
}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    _attention(proof, setting["n"], arb(setting["tau"]), witness["head"], witness["position"])
    _curvature(proof, arb(witness["z"]), arb(witness["b"]))


def _attention(proof: Proof, n: int, tau: Number, head: list[Number], p: int) -> None:
    table = circle(n)
    scores = [(arb(head[0]) * s + arb(head[1]) * c) / tau for s, c in table]
    lines = [arb_series([u, s / tau]).exp() for u, (s, _) in zip(scores, table, strict=True)]
    weights = [line / total(lines) for line in lines]
    gamma, true = [w[0] for w in weights], weights[p][1]
    others = total(g * table[j][0] for j, g in enumerate(gamma) if j != p)
    own = (1 - gamma[p]) * table[p][0]
    printed, mended = (gamma[p] * (own + sign * others) / tau for sign in (1, -1))
    proof.less("printed ∂γ/∂a₁₃ against the true one", fmpq(1, 10), abs(printed - true))
    proof.less("with a minus they agree, to", abs(mended - true), fmpq(1, 10**10))


def _curvature(proof: Proof, z: Number, b: Number) -> None:
    t = arb_series([z, 1, 0])
    true = 2 * ((t + (t * t + b).sqrt()) / 2)[2]
    root = (z * z + b).sqrt()
    printed = (2 * root - z / root) / (4 * (z * z + b))
    proof.less("printed σ'' against the true one", fmpq(1, 100), abs(printed - true))
    mended = b / (2 * root**3)
    proof.less("b/(2(z² + b)^{3/2}) agrees, to", abs(mended - true), fmpq(1, 10**10))
