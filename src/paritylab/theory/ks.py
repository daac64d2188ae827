"""What KS promises, and the finite-size laws behind it."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_ndtr, ndtr
from scipy.stats import binom, norm

from paritylab.models.links import AbstractLink, CosineLink
from paritylab.problem.tree import level_ends
from paritylab.theory.ks_gradient import child_gradient, evaluated

#: A node is broken if the others hold a third of what its children hold, or if the children's
#: scores differ by this much: beyond it the errors of a node grow from level to level.
LOST, TIPPED = 1 / 3, 0.8

COSINE = CosineLink()


def child_signal(tokens: int, link: AbstractLink) -> float:
    """-∂L/∂w on a child of a node that sees `tokens` independent tokens, at W = 0: exact.

    Tends to 2c/M² with M = tokens. For -cos(πt) about (π/M)(1 - 2/M)·sin(π/M)·cos(π/M)^(M-1).
    """
    if tokens < 3:
        raise ValueError(f"a node sees at least 3 tokens, got {tokens}")
    return level_signal(tokens, 2, 1, link)


def level_signal(n: int, k: int, level: int, link: AbstractLink) -> float:
    """-∂L/∂w on a child of a node on `level` when all levels below are solved: exact."""
    return -child_gradient(n, k, level, link)


class RowLaw(NamedTuple):
    """One row's part in the gradient at W = 0 of nodes that see `tokens` independent tokens.

    signal: mean on a child. noise: standard deviation on another token. tilt: that of the
    difference of the two children; zero to leading order, since (1 + x_m)(x_c1 - x_c2) = 0.
    """

    tokens: np.ndarray
    signal: np.ndarray
    noise: np.ndarray
    tilt: np.ndarray


def tokens_seen(n: int, k: int, mask: str) -> np.ndarray:
    """How many tokens the nodes see: at most 257 nodes, evenly taken, the root last."""
    ends = level_ends(n, k)
    every = np.repeat(ends[:-1], np.diff(ends)) if mask == "level" else np.arange(n, n + k - 1)
    return np.asarray(every[np.unique(np.linspace(0, k - 2, 257).astype(int))])


def row_law(tokens: np.ndarray, link: AbstractLink) -> RowLaw:
    """The exact moments of r·(x_j - ẑ)/M for every number of tokens, at most nine computed.

    To leading order 2c/M², 2c√(2/M)/M and c²√(120/M³)/M; between the computed ones interpolated on
    logarithms.
    """
    tokens = np.asarray(tokens, dtype=np.float64)
    few = np.unique(np.linspace(tokens.min(), tokens.max(), 9).astype(int))
    exact = np.log([_row_moments(int(m), link) for m in few]).T
    return RowLaw(tokens, *(np.exp(np.interp(np.log(tokens), np.log(few), e)) for e in exact))


def _row_moments(tokens: int, link: AbstractLink) -> tuple[float, float, float]:
    """Signal, noise and tilt over the law of the rest, the children's signs apart or both +1.

    By the symmetry of the law and of the link, two children of sign -1 count as two of sign +1.
    """
    count = np.arange(tokens - 1)
    rest, law = 2 * count - (tokens - 2), binom.pmf(count, tokens - 2, 0.5)
    apart, same = rest / tokens, (rest + 2) / tokens
    value, slope = evaluated(link, apart)
    odd = (value + 1) * slope
    value, slope = evaluated(link, same)
    even = (value - 1) * slope
    signal = law @ (odd * apart) / 2 - law @ (even * (1 - same)) / 2
    noise = np.sqrt(law @ (odd**2 + even**2) / 2)
    return signal / tokens, noise / tokens, np.sqrt(2 * (law @ odd**2)) / tokens


class StepError(NamedTuple):
    """What one teacher-forced step is predicted to do.

    score: of the root's children. leak: share of attention that the root gives to other tokens, in
    the median. tilt: standard deviation of the difference in score of the root's children. broken:
    expected number of broken nodes (see LOST, TIPPED). risk: bound on ½ mean (ŷ - y)², broken +
    (c²/4)(leak⁴ + 3(tilt/2)⁴).
    """

    score: float
    leak: float
    tilt: float
    broken: float
    risk: float


class _Nodes(NamedTuple):
    """Nodes after a step: tokens seen, the children's score s, σ of the others, the tilt, ln leak.

    With σ = s/SNR the others hold e^(-s)/2·(M e^(σ²/2)Φ(a - σ) + e^(σa)) of what the children hold,
    a the median of the largest of M; the children's own noise is σ, the same for both.
    """

    tokens: np.ndarray
    scores: np.ndarray
    spread: np.ndarray
    tilt: np.ndarray
    leak: np.ndarray

    @classmethod
    def after(cls, score: float | np.ndarray, law: RowLaw, samples: float) -> "_Nodes":
        scores = score * law.signal / law.signal[-1]
        per_row = scores / (law.signal * np.sqrt(samples))
        spread, largest = per_row * law.noise, norm.isf(np.log(2) / law.tokens)
        bulk = np.log(law.tokens) + spread**2 / 2 + log_ndtr(largest - spread)
        leak = np.logaddexp(bulk, spread * largest) - scores - np.log(2)
        return cls(law.tokens, scores, spread, per_row * law.tilt, leak)

    def broken(self, lost: float, tipped: float) -> np.ndarray:
        """Expected number of times that a node leaks more than `lost` or is tipped by `tipped`."""
        usual = ndtr((self.leak - np.log(lost)) / self.spread)
        apart = (self.scores + np.log(2 * lost)) / (np.sqrt(2) * self.spread)
        leaking = usual + self.tokens * ndtr(-apart)
        return np.asarray(leaking + 2 * ndtr(-tipped / self.tilt))


def step_error(
    n: int, k: int, samples: float, link: AbstractLink, mask: str = "token", score: float = 0.0
) -> StepError:
    """One teacher-forced step from N rows that gives the root's children this score.

    Without a score the one of the smallest predicted risk: a smaller one leaks to the other tokens,
    a larger one tips the two children apart.
    """
    return least_error(row_law(tokens_seen(n, k, mask), link), k - 1, samples, link, score)


def least_error(
    law: RowLaw,
    count: int,
    samples: float,
    link: AbstractLink,
    score: float = 0.0,
    limits: tuple[float, float] = (LOST, TIPPED),
) -> StepError:
    """`step_error` of so many nodes that see what the law says; the score is that of its last.

    limits: the leak and the tilt from which on a node is broken.
    """
    floor = np.log(law.tokens[-1])
    tried = floor + np.geomspace(0.5, 300, 100) if score == 0 else np.array([score])
    nodes = _Nodes.after(tried[:, None], law, samples)
    leaks, tilts = expit(nodes.leak[:, -1]), nodes.tilt[:, -1]
    broken = count * np.mean(nodes.broken(*limits), axis=1)
    risks = broken + link.curvature**2 / 4 * (leaks**4 + 3 * (tilts / 2) ** 4)
    at = int(np.argmin(risks))
    return StepError(*(float(each[at]) for each in (tried, leaks, tilts, broken, risks)))


class Tolerated(NamedTuple):
    """Error per entry that a step tolerates: at one node, and at every node at once."""

    one_pair: float
    every_pair: float


def tolerated_error(n: int, k: int, score: float, link: AbstractLink) -> Tolerated:
    """How wrong the gradient may be on two children, tipping them apart; score: the root's.

    An error e tips by 2ηe. One node tolerates TIPPED. If every node is tipped by 2u, an error δ of
    its child that says -1 becomes c(u + δ/2)², which has a fixed point up to u = 1/(2c). Both are
    of order n^(-2)/ln n, since the score is at least ln n.
    """
    per_score = child_signal(n + k - 2, link) / score
    return Tolerated(TIPPED / 2 * per_score, per_score / (2 * link.curvature))


def samples_for_every_pair(n: int, k: int) -> float:
    """N at which one teacher-forced step finds every pair for half of the targets.

    Σ_m P_m = ln 2 over the nodes, with P_m = E[1 - Φ(SNR + ξ)^(M-2)] the chance that one of
    M - 2 others outscores the children, whose common noise is ξ. SNR is about √(N/2M). For large n
    nearly Σ_m M·Q(√(N/2M)/√2) = ln 2, which counts a node with several rivals several times.

    >>> [round(samples_for_every_pair(n, n // 2) / n) for n in (1024, 4096, 16384)]
    [112, 142, 172]
    """
    law = row_law(tokens_seen(n, k, "token"), COSINE)

    def missed(samples: float) -> float:
        return (k - 1) * float(np.mean(chance_to_miss(law, samples))) - float(np.log(2))

    return float(brentq(missed, 1, 1e4 * n))


def chance_to_miss(law: RowLaw, samples: float) -> np.ndarray:
    """E[1 - Φ(SNR + ξ)^(M-2)]: that another token outscores a child, per entry of the law."""
    noise = np.linspace(-9, 9, 361)
    weight = norm.pdf(noise) * (noise[1] - noise[0])
    ratio = law.signal / law.noise * np.sqrt(samples)
    above = (law.tokens[:, None] - 2) * log_ndtr(ratio[:, None] + noise[None, :])
    return np.asarray(-np.expm1(above) @ weight)


def samples_for_every_input(n: int, k: int) -> float:
    """N at which one step of the best size breaks no node for half of the targets."""

    def excess(log_samples: float) -> float:
        broken = step_error(n, k, float(np.exp(log_samples)), COSINE).broken
        return float(np.log(broken / np.log(2)))

    return float(np.exp(brentq(excess, np.log(10 * n), np.log(1e4 * n), xtol=1e-3)))


def lemma4_bound(k: int, link: AbstractLink) -> float:
    """‖∇_W f°‖ ≤ 2‖φ'‖∞·√(k-1): Lemma 4 with its constant."""
    return 2 * link.steepest * float(np.sqrt(k - 1))


def lemma6_squares(k: int, link: AbstractLink) -> tuple[float, float, float]:
    """Lemma 6's last steps for ‖∇_W f×‖²: its last but one line, the last as printed, and ours.

    With κ = ‖φ'‖∞, v = log2 k: 4κ⁴/(κ²-2)·Σ_{l<v}(2κ²)^l, then printed
    4κ²/((κ²-2)(2κ²-1))·(2κ²)^v, where κ⁴ is meant.
    """
    kappa, depth = link.steepest**2, int(np.log2(k))
    before = 4 * kappa**2 / (kappa - 2) * sum((2 * kappa) ** level for level in range(depth))
    shared = (2 * kappa) ** depth * 4 / ((kappa - 2) * (2 * kappa - 1))
    return before, kappa * shared, kappa**2 * shared


def lemma9_kappa(n: int, samples: int, failure: float) -> float:
    """κ = √((2/N)·ln(32 n⁴/p)): the largest empirical mean of a nontrivial parity of ≤ 4 tokens."""
    return float(np.sqrt(2 / samples * np.log(32 * n**4 / failure)))


def lemma10_bounds(n: int, k: int, strings: int, failure: float) -> tuple[float, float]:
    """Lemma 10's bound on |mean of the first d_l tokens|: its middle line, and its last line.

    Middle line, as printed: Σ_l 2^((v-l+1)/2)·√(ln(2n'/p))/n, which treats the n inputs as k.
    Last line: 2(√2+1)·√(ln(2n'/p)/n).
    """
    depth, spread = int(np.log2(k)), float(np.sqrt(np.log(2 * strings / failure)))
    middle = sum(2 ** ((depth - level + 1) / 2) for level in range(depth + 1)) * spread / n
    return middle, 2 * (np.sqrt(2) + 1) * spread / float(np.sqrt(n))
