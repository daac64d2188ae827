"""Soft heads that become hard at inference: Proposition 21 and its missing assumption."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    corrected,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.hg1.hard_limits import NONE_TRIED, SoftSolutions, search_soft_solutions
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import population_risk

#: Score difference that breaks the tie between the two positions, in units of tau.
LEAN = 1e-4
#: A risk below this counts as 0 in the limit.
ZERO = 1e-6


@record(evidence="exact")
class Hardening:
    """Two heads between positions 0 and n-1, and every combination of limiting heads elsewhere.

    soft, hard: risks of both heads leaning to 0 by `LEAN` on B = {0, n-1}, one per temperature
    tau. search: what all combinations of limiting heads do on sets without circular neighbours.
    """

    n: int
    tau: np.ndarray
    soft: np.ndarray = shown("soft risk between 0 and n-1", by="temperatures")
    hard: np.ndarray = shown("hard risk between 0 and n-1", by="temperatures", predicted=0)
    error: float = shown("largest error of these risks")
    sizes: list[tuple[int, int]] = shown("sizes (n, k) searched")
    search: SoftSolutions

    @property
    def temperatures(self) -> list[str]:
        return [f"tau = {tau:.2g}" for tau in self.tau]


@claim(
    "hg1-prop21",
    certificate="hg1-prop21",
    source=HG1("Proposition 21"),
    title="Without neighbours, soft solutions are hard solutions",
    statement="As tau → 0, if |i-j| > 1 for all i, j in B, then k heads with risk 0 under soft "
    "attention also have risk 0 under hard attention.",
    quick={"sizes": [(6, 2), (7, 3)]},
    full={"sizes": [(6, 2), (8, 2), (10, 2), (7, 3), (8, 3)]},
    settings={
        "n": 20,
        "B": (0, 19),
        "loss": "squared_hinge",
        "b": 0,
        "shares of heads between neighbours": (0.25, 0.5, 0.75),
    },
    seconds=(5, 4, 60),
)
def prop21(
    trial: Trial,
    sizes: Sequence[tuple[int, int]] = [(6, 2), (8, 2), (7, 3)],
    *,
    last: int = 19,
) -> Hardening:
    n, found = 20, NONE_TRIED
    tau = 1.0 / n ** np.arange(1, 4)
    risks = [[_between(n, t, kind, last) for t in tau] for kind in ("softmax", "hard")]
    soft, hard = np.array([[risk.value for risk in row] for row in risks])
    for size in trial.track(sizes):
        found |= search_soft_solutions(*size)
    error = max(risk.error for row in risks for risk in row)
    return Hardening(n, tau, soft, hard, error, list(sizes), found)


def _between(n: int, tau: float, kind: str, last: int) -> Any:
    """Risk on B = {0, last} of two heads midway between 0 and n-1, a hair nearer to 0."""
    angle = -np.pi / n + LEAN * tau / (2 * np.sin(np.pi / n))
    directions = np.array([[np.sin(angle), np.cos(angle)]] * 2)
    heads = HeadAttention(directions, Circle(n), 2, Zigzag(2), tau, kind)
    return population_risk(heads, Parity(n, (0, last)))


@prop21.judge
def _prop21(h: Hardening) -> Judged:
    found, soft, hard = h.search, float(h.soft[-1]), float(h.hard[-1])
    searched = (
        f"Among {found.tried:,} combinations of limiting heads on sets without neighbours on the "
        f"circle {found.solutions} have soft risk 0"
    )
    if not found.solutions or h.error > ZERO:
        known = f"the risks are known to {h.error:.0e}"
        return undecided(f"{searched}, and {known}.")
    if found.failures:
        kept = f"{found.solutions - found.failures} of {found.solutions}"
        finding = f"{searched}; {found.failures} of these fail with hard attention."
        instead = f"Only {kept} soft solutions stay solutions."
        return refuted(finding, instead=instead, margin=float(found.failures))
    if found.slack < -1e-9 or found.off > 1e-6:
        why = f"weights up to {found.off:.1e} from 1 on B and 0 off it, slack {found.slack:.1e}"
        return undecided(f"{searched}, but risk 0 does not force g = 1_B: {why}.")
    if soft > ZERO or hard < 1:
        ends = f"B = {{0, {h.n - 1}}}: soft risk {soft:.0e}, hard risk {hard:.2f}"
        margin = max(soft - ZERO, 1 - hard)
        return holds(f"{searched}, all right when hard; {ends}.", margin=margin)
    return corrected(
        f"B = {{0, {h.n - 1}}} satisfies |i-j| > 1, but its bits are neighbours on the circle: two "
        f"heads between them have soft risk {soft:.0e} at tau = {h.tau[-1]:.0e} and hard risk "
        f"{hard:.2f}, without a tie.",
        instead="True if neighbours are those of the circle (0 and n-1 too). Soft risk 0 forces "
        "g_j ≥ 1 on B, because risk ≥ 4·2^-n Σ_B (1-g_j)₊², hence g = 1_B, and without neighbours "
        f"one head per bit. {searched}, all of them exactly this and right when hard; the "
        f"inequality holds in each (least slack {max(found.slack, 0):.0e}).",
        margin=min(hard - 1, ZERO - soft),
        counterexample=True,
    )


@prop21.figure
def _prop21_figure(h: Hardening) -> Lines:
    return Lines(
        [
            Line("soft attention", h.tau, np.maximum(h.soft, 1e-12)),
            Line("hard attention", h.tau, np.maximum(h.hard, 1e-12)),
        ],
        x="tau",
        y="risk",
        log="xy",
        caption=f"Two heads between positions 0 and {h.n - 1}, the two bits of B.",
    )


@prop21.planted("a set without neighbours on the circle", turns="holds")
def _prop21_apart(trial: Trial) -> Hardening:
    return prop21.measure(trial, sizes=[(6, 2)], last=10)
