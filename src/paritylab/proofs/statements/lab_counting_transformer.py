"""Chiang and Cholak's two layers are right on every string of n bits, by about 1.5/n².

N = n + 1 tokens: one in front at place 0, then the bits x_1, …, x_n. Scores of layer 1 are 0, so
that it attends evenly and every token holds c/N, the share of ones, and 1/N, the share of the token
in front. Its net makes the bump (relu(m - 1) - 2·relu(m) + relu(m + 1))/N, m = c - i, at place i.
Layer 2, read at the token in front, has two heads with scores s·(-1)^i and -s·(-1)^i; each averages
the bump over all places, and ŷ is the first average minus the second. Only c enters, never the
order of the bits, so that the n + 1 counts are all 2^n strings.

The bump is 1/N at i = c and 0 elsewhere, in integers; so ŷ is 1/N times the difference of the two
heads' weights at place c, which is enclosed in balls.
"""

from flint import arb, fmpq

from paritylab.proofs.domain import positive
from paritylab.proofs.kernel import Numbers, Proof, total

PRINTED = "holds"
TITLE = (
    "Two layers by Chiang and Cholak give (-1)^c·ŷ·n² above 11/10, 4/3, 7/5, 3/2, 3/2 for every "
    "number c of ones among n = 10, 30, 100, 300, 1000 bits, and at most 31/20 for some c"
)
SETTING = {
    "n": [10, 30, 100, 300, 1000],
    "margins": ["11/10", "4/3", "7/5", "3/2", "3/2"],
    "most": "31/20",
}
#: sharpness: s, the scale of the scores of layer 2.
WITNESS = {"sharpness": positive(100)}


def prove(proof: Proof, setting: Numbers, witness: Numbers) -> None:
    sharpness = fmpq(witness["sharpness"])
    powers = {turn: arb(turn * sharpness).exp() for turn in (1, -1)}  # e^s and e^-s
    for n, margin in zip(setting["n"], setting["margins"], strict=True):
        elsewhere = sum(abs(_bump(m)) for m in range(-n, n + 1) if m != 0)
        proof.equal(f"sum of the bump's height times N away from i = c, n = {n}", elsewhere, 0)
        proof.equal(f"its height times N at i = c, n = {n}", _bump(0), 1)
        signs = [(-1) ** place for place in range(n + 1)]
        even, odd = (total(powers[turn * sign] for sign in signs) for turn in (1, -1))
        answers = [(powers[sign] / even - powers[-sign] / odd) / (n + 1) for sign in signs]
        least = answers[0]
        for sign, answer in zip(signs, answers, strict=True):
            least = least.min(sign * answer)
        proof.less(f"the margin is below (-1)^c·ŷ·n² for every c, n = {n}", margin, least * n**2)
        proof.less(f"its least value is not larger, n = {n}", least * n**2, setting["most"])


def _bump(m: int) -> int:
    """N times what the net of layer 1 makes at m = c - i."""
    return max(m - 1, 0) - 2 * max(m, 0) + max(m + 1, 0)
