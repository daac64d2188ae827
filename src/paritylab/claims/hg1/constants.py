"""The numbers in Theorem 5's proof: its step, its factor μ, and one stopping time for every set."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_least, finding, instead, note, repair
from paritylab.claims.hg1.exact_risks import ExactRisks
from paritylab.learning import Heads, Population, Runs, learn
from paritylab.models import Zigzag
from paritylab.problem import Parity
from paritylab.statistics import Rate
from paritylab.theory import hg1

#: The softest temperature allowed and a smoothing that leaves heads on B a risk just below ε: of
#: the settings tried they serve most starts.
TAU, B, EPSILON = 1.0, 0.1, 0.1
#: Steps that stand for the proof's, which are too many to take.
STEP, STEPS, LATER = 0.5, 1000, 5000
#: Smoothings of the readout that the proof's step is tried with; the paper has b > 0, no more.
SMOOTHINGS = (B, 1e2, 1e4, 1e6, 1e8, 1e10)
#: Most of the starts.
MOST = 0.75


@claim(
    "hg1-constants",
    HG1("Theorem 5, proof; Definition 2"),
    counted_with="hg1-thm5",
    quick={"sizes": ((6, 1), (6, 3))},
    full={"starts": 40},
    evidence="numerical",
    planted=(
        "one hidden bit, which a soft head finds from every start",
        {"sizes": ((6, 1),), "starts": 20},
        "corrected",
    ),
)
def constants(
    trial: Trial,
    sizes: Sequence[tuple[int, int]] = ((6, 1), (6, 2), (6, 3), (8, 1), (8, 2), (8, 3)),
    starts: int = 14,
) -> Iterator[Any]:
    """Theorem 5 with its own step, μ and stopping time: masked heads, n = 6 and 8, ε = 0.1.

    With η = 1/max{2l₁C, 2(l₂+B)} a step lowers the risk by at least (η/2)‖∇L‖² ≥ ημL, μ =
    min{64μ₁, μ₂}/2^(n+1), for every smoothing b > 0, so that after t = ln(L₀/ε)/-ln(1 - ημ) steps
    the risk is below ε, with one t for every B of size k. Tried with ε = 0.1 from random unit
    heads, each with all B of size k, at tau = 1 and b = 0.1; 1,000 steps of 0.5 stand for t short
    ones, which are too many to take; at the hardest size the worst B of each start gets 5,000 more.
    A start is served if its risk is below ε for every B.
    """
    cells = [_cell(trial.seed, n, k, starts) for n, k in trial.track(sizes)]
    small = [_least_decrease(trial.seed, n, k, B) for n, k in sizes]
    large = [_least_decrease(trial.seed, 2, 1, b) for b in SMOOTHINGS]
    label = "least decrease in a step of η ÷ (η/2)‖∇L‖²"
    yield at_least(f"{label}, n = 2, b up to {SMOOTHINGS[-1]:.0e}", min(large), 1)
    yield repair(at_least(f"{label}, b = {B:g}, all sizes", min(*small, large[0]), 1))
    for cell in cells:
        yield at_least(f"starts served, {cell}", cell.served, MOST)
        if cell.share < 1:
            yield at_least(f"least ½‖∇L‖²/(μL) where a run ends above ε, {cell}", cell.ratio, 1)
        yield note(f"stopping time t, {cell}", cell.stopping)
        yield note(f"share of the sets served, mean over starts, {cell}", cell.share)
    worst = min(cells, key=lambda cell: (cell.served.value, -cell.n))
    yield repair(at_least("starts served at the hardest size", worst.served, MOST))
    stays = _descend(trial.seed, worst.n, *worst.hardest, LATER).risk.min()
    label = f"least risk of a start's worst B after {LATER:,} more steps, {worst}"
    yield note(label, stays)
    yield finding(
        f"Masked heads, {worst}: {worst.served.count} starts come below {EPSILON:g} for every B; "
        f"each has a B whose risk stays at {stays:.2f} or more.",
        "refuted",
    )
    served = "; ".join(f"{c.served.count} starts at {c}" for c in cells if c.served.low > MOST)
    yield instead(
        f"For b = {B:g} a step of η lowers the risk by at least {min(small):.2f} times (η/2)‖∇L‖²."
        + (f" Below {EPSILON:g} for every B: {served}." if served else "")
    )


class _Cell(NamedTuple):
    """Every set B of size k from each of the same starts.

    served: starts whose risk ends below ε for every B. share: of the B, mean over starts. stopping:
    t of the proof for the largest risk at a start. ratio: least ½‖∇L‖²/(μL) where a run ends above
    ε, which the proof says is 1 or more. hardest: of each start the B of largest risk, with the
    heads at the end.
    """

    n: int
    k: int
    served: Rate
    share: float
    stopping: float
    ratio: float
    hardest: tuple[np.ndarray, np.ndarray]

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"


def _starts(seed: int, n: int, k: int, starts: int) -> tuple[np.ndarray, np.ndarray]:
    """Every set B (runs, k) with each start, unit heads at random angles (runs, k, 2)."""
    angles = np.random.default_rng((seed, n, k)).uniform(0, 2 * np.pi, (starts, k))
    sets = np.array(list(combinations(range(n), k)))
    unit = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return np.tile(sets, (starts, 1)), np.repeat(unit, len(sets), axis=0)


def _cell(seed: int, n: int, k: int, starts: int) -> _Cell:
    sets, heads = _starts(seed, n, k, starts)
    risks, eta = ExactRisks(n, sets, TAU, B), hg1.step_size(k, TAU, B)
    # μ for the largest c₂ that Appendix A allows at every start
    c2 = min(hg1.smallest_near_attention(each, TAU) for each in risks.attention(heads))
    mu = hg1.descent_factor(n, k, c2)
    after = np.asarray(_descend(seed, n, sets, heads, STEPS).numbers)
    end = risks(after)
    worst = end.risk.reshape(starts, -1).argmax(axis=1) + np.arange(starts) * (len(sets) // starts)
    above = end.risk >= EPSILON
    ratios = end.squared_slope()[above] / (2 * mu * end.risk[above])
    return _Cell(
        n,
        k,
        served=Rate.of(~above.reshape(starts, -1).any(axis=1)),
        share=float(1 - above.mean()),
        stopping=hg1.stopping_time(float(risks(heads).risk.max()), EPSILON, eta, mu),
        ratio=float(ratios.min(initial=np.inf)),
        hardest=(sets[worst], after[worst]),
    )


def _descend(seed: int, n: int, sets: np.ndarray, heads: np.ndarray, steps: int) -> Runs:
    """Plain descent, one run per set and start."""
    readout = Zigzag(sets.shape[1], B)
    learner = Heads.paper(readout=readout, tau=TAU, eta=STEP, steps=steps, start=heads)
    return learn(learner, Population([Parity(n, tuple(each)) for each in sets.tolist()]), key=seed)


def _least_decrease(seed: int, n: int, k: int, b: float) -> float:
    """Least (L(x) - L(x - η∇L))/((η/2)‖∇L‖²) at tau = 1 over six starts and all B.

    Smoothness Λ and η ≤ 1/Λ make it at least 1. Runs whose decrease rounding would hide are left
    out.
    """
    sets, heads = _starts(seed, n, k, 6)
    risks, eta = ExactRisks(n, sets, TAU, b), hg1.step_size(k, TAU, b)
    here = risks(heads)
    due = eta / 2 * here.squared_slope()
    share = (here.risk - risks(heads - eta * here.gradient).risk) / due
    return float(np.min(share[due > 1e-10 * here.risk]))
