"""Heads in the limit tau → 0: what they attend to and solve, and whether soft ones may harden."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control, instead, note, repair
from paritylab.learning.hardness.frozen import every_input, parity_of
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import population_risk
from paritylab.theory.hg1 import risk_of_missing_weight
from paritylab.theory.hg1_limits import smoothed_zigzag


def limits_of_heads(n: int) -> np.ndarray:
    """Attention a head can have as tau → 0: one position, or a share between two neighbours."""
    sharp = np.eye(n)
    split = [
        share * sharp[j] + (1 - share) * sharp[(j + 1) % n]
        for j in range(n)
        for share in (0.25, 0.5, 0.75)
    ]
    return np.concatenate([sharp, split])


def _hardened(sizes: Iterable[tuple[int, int]]) -> Iterator[Any]:
    """Every combination of k limiting heads on every k-set without circular neighbours: which have
    soft risk 0, and what becomes of them when they harden.

    sizes: (n, k). Compared with `theory.hg1.risk_of_missing_weight`.
    """
    hardened, slack, off = [np.zeros(0)], [], [0.0]
    for n, k in sizes:
        limits = limits_of_heads(n)
        combos = np.array(list(combinations_with_replacement(range(len(limits)), k)))
        weights = limits[combos].sum(axis=1)
        hard = np.eye(n)[np.argmax(limits, axis=1)][combos].sum(axis=1)
        for subset in sets_without_neighbours(n, k):
            problem, inside = Parity(n, subset), np.isin(np.arange(n), subset)
            risks = risks_of_weights(weights, problem)
            solved = risks < 1e-9
            if solved.any():
                hardened.append(risks_of_weights(hard[solved], problem))
                off.append(np.abs(weights[solved] - inside).max())
            slack.append(np.min(risks - risk_of_missing_weight(weights, inside)))
    wrong = np.concatenate(hardened) > 1e-9
    yield control(at_least("of these with soft risk 0", wrong.size, 1))
    yield at_most("soft solutions wrong when hard, no neighbours", wrong.sum(), 0)
    yield repair(at_least("soft solutions right when hard", np.sum(~wrong), wrong.size))
    yield repair(at_most("largest distance of a solution's weights from 1_B", max(off), 1e-6))
    yield repair(at_least("least risk minus 4·2^-n Σ_B (1-g_j)₊²", min(slack), -1e-9))


def least_risk_of_heads(n: int, k: int, heads: int) -> tuple[float, int]:
    """Smallest soft risk of `heads` limiting heads on a k-set without circular neighbours.

    The heads are averaged and weighted k/heads. Also how many combinations were tried.
    """
    limits = limits_of_heads(n)
    combos = np.array(list(combinations_with_replacement(range(len(limits)), heads)))
    weights = k / heads * limits[combos].sum(axis=1)
    risks = [
        risks_of_weights(weights, Parity(n, subset)).min()
        for subset in sets_without_neighbours(n, k)
    ]
    return float(min(risks, default=np.inf)), len(combos) * len(risks)


def sets_without_neighbours(n: int, k: int) -> list[tuple[int, ...]]:
    """Every k-set with 0 in it and no two neighbours on the circle; the others are rotations.

    >>> sets_without_neighbours(6, 2)
    [(0, 2), (0, 3), (0, 4)]
    """
    sets = ((0, *others) for others in combinations(range(1, n), k - 1))
    return [subset for subset in sets if np.diff([*subset, n]).min() >= 2]


def risks_of_weights(weights: np.ndarray, problem: Parity) -> np.ndarray:
    """Exact squared-hinge risks of many weight vectors on one problem, by enumeration."""
    bits = every_input(problem.n)
    labels = parity_of(bits, problem.subset)
    made = smoothed_zigzag(weights @ bits.T, problem.k, 0.0)
    return np.asarray(np.mean(np.maximum(0, 1 - labels * made) ** 2, axis=1))


#: Score differences that break the tie between the two positions, in units of tau.
LEAN = 1e-4
LEANS = (1e-2, 1e-3, 1e-4)
#: A risk below this counts as 0 in the limit.
ZERO = 1e-6


@claim(
    "hg1-prop21",
    HG1("Proposition 21"),
    quick={"sizes": [(6, 2), (7, 3)]},
    full={"sizes": [(6, 2), (8, 2), (10, 2), (7, 3), (8, 3)]},
    evidence="exact",
    certificates=("hg1-prop21",),
    planted=("a set without neighbours on the circle", {"sizes": [(6, 2)], "last": 10}, "holds"),
)
def prop21(
    trial: Trial,
    sizes: Sequence[tuple[int, int]] = [(6, 2), (8, 2), (7, 3)],
    *,
    last: int = 19,
) -> Iterator[Any]:
    """Without neighbours, soft solutions are hard solutions (n = 20, and all heads at n up to 8).

    As tau → 0, if |i-j| > 1 for all i, j in B, then k heads with risk 0 under soft attention also
    have risk 0 under hard attention. Tried on B = {0, 19}, n = 20, b = 0: two heads between 0 and
    19 lean to 0 by a score difference of δ·tau, δ = 1e-4, so that nothing ties; at tau = 1/n² their
    soft risk falls like δ² while the hard one stays, so as δ → 0 the soft risk is 0 in the limit.
    And tried on every set without neighbours on the circle at small n, with every combination of
    heads in the limit: one position, or shares of 0.25, 0.5, 0.75 between two neighbours.
    """
    n = 20
    tau = 1.0 / n ** np.arange(1, 4)
    risks = {kind: [_between(n, t, kind, last) for t in tau] for kind in ("softmax", "hard")}
    soft, hard = (np.array([risk.value for risk in row]) for row in risks.values())
    error = max(risk.error for row in risks.values() for risk in row)
    yield control(at_most("largest error of these risks", error, ZERO))
    where = f"B = {{0, {last}}}, n = {n}"
    wrong = float(np.max(hard[soft <= ZERO], initial=0.0))
    yield at_most(f"largest hard risk of heads with soft risk 0, {where}", wrong, ZERO)
    for lean in LEANS:
        leaning = _between(n, 1 / n**2, "softmax", last, lean)
        yield note(f"soft risk over δ² for δ = {lean:g}, tau = 1/n²", leaning.value / lean**2)
    yield from _hardened(trial.track(sizes))
    yield instead(
        "True if neighbours are those of the circle (0 and n-1 too). Soft risk 0 forces g_j ≥ 1 on "
        "B, because the risk is at least 4·2^-n Σ_B (1-g_j)₊², hence g = 1_B, and without "
        "neighbours one head per bit."
    )


def _between(n: int, tau: float, kind: str, last: int, lean: float = LEAN) -> Any:
    """Risk on B = {0, last} of two heads midway between 0 and n-1, nearer to 0 by δ = lean."""
    angle = -np.pi / n + lean * tau / (2 * np.sin(np.pi / n))
    directions = np.array([[np.sin(angle), np.cos(angle)]] * 2)
    heads = HeadAttention(directions, Circle(n), 2, Zigzag(2), tau, kind)
    return population_risk(heads, Parity(n, (0, last)))
