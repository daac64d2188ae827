"""Lemma 8 fails for k = n, which is k = Θ(n); for k = n/2 the mean is small on almost all inputs.

E_p p(x) over all parities of k of n signs depends on the number w of minus signs only:
K_k(w)/C(n, k) with the Krawtchouk number K_k(w) = Σ_j (-1)^j C(w, j) C(n - w, k - j).
"""

from math import comb

from flint import fmpq

from paritylab.proofs.domain import whole
from paritylab.proofs.kernel import Number, Numbers, Proof

PRINTED = "fails"
TITLE = (
    "n = 32: at k = n a random parity never averages out; at k = 16 it does on over 99 % of inputs"
)
SETTING = {"n": 32, "k": 16}
#: radius: inputs with at most so many signs off n/2 count as usual.
WITNESS = {"radius": whole(0, 16)}


def mean(n: int, k: int, w: int) -> Number:
    """E_p p(x) at w minus signs."""
    total = sum((-1) ** j * comb(w, j) * comb(n - w, k - j) for j in range(min(w, k) + 1))
    return fmpq(total, comb(n, k))


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    n, k, radius = setting["n"], setting["k"], witness["radius"]
    least = min(abs(mean(n, n, w)) for w in range(n + 1))
    proof.equal("the least |E_p p(x)| over all x at k = n", least, fmpq(1))
    usual = [w for w in range(n + 1) if abs(2 * w - n) <= 2 * radius]
    largest = max(abs(mean(n, k, w)) for w in usual)
    rare = 1 - fmpq(sum(comb(n, w) for w in usual), 2**n)
    proof.less("the largest |E_p p(x)| over usual x at k = n/2", largest, fmpq(1, 1000))
    proof.less("the share of other x", rare, fmpq(1, 100))
    second = sum((comb(n, w) * mean(n, k, w) ** 2 for w in range(n + 1)), fmpq(0)) / 2**n
    proof.equal("E_x (E_p p(x))² is 1/|P|", second, fmpq(1, comb(n, k)))
