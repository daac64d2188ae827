"""How many heads a parity needs in the limit tau → 0."""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    OURS,
    Bars,
    Judged,
    Mark,
    Trial,
    claim,
    corrected,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.hg1.hard_limits import least_risk_of_heads
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import population_risk
from paritylab.theory.hg1 import risk_without_edge


@record()
class HeadCount:
    """Least risk of so many limiting heads on sets without circular neighbours."""

    n: int
    k: int
    heads: int
    least: float = shown("least risk without neighbours")
    tried: int = shown("combinations tried")

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}, {self.heads} heads"


@record(evidence="exact")
class Counts:
    """shared: risk of a single head midway between two neighbours, k = 2, tau = 1/n³, n = 12."""

    cells: list[HeadCount]
    shared: float = shown("risk of one head between two neighbours, k = 2", predicted=0)
    error: float = shown("its error")


@claim(
    "lab-few-heads",
    certificate="lab-few-heads",
    source=OURS,
    title="A head for each bit, unless bits are neighbours",
    statement="As tau → 0, fewer than k heads have risk at least 1 on every B without neighbours "
    "on the circle, k heads reach risk 0, and two neighbouring bits can share one head.",
    quick={"cells": [(6, 2, 1), (6, 2, 2), (7, 3, 1), (7, 3, 2)]},
    full={"cells": [(10, 2, 1), (10, 2, 2), (8, 3, 1), (8, 3, 2), (8, 3, 3), (8, 4, 3)]},
    settings={
        "readout": "s = (k/heads)·Σ",
        "loss": "squared_hinge",
        "shares of heads between neighbours": (0.25, 0.5, 0.75),
    },
    seconds=(3, 3, 60),
    counted=False,
)
def few_heads(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = [(8, 2, 1), (8, 2, 2), (7, 3, 1), (7, 3, 2), (7, 3, 3)],
) -> Counts:
    counts = []
    for n, k, heads in trial.track(cells):
        counts.append(HeadCount(n, k, heads, *least_risk_of_heads(n, k, heads)))
    middle = 2 * np.pi * 3.5 / 12
    directions = np.array([[np.sin(middle), np.cos(middle)]])
    head = HeadAttention(directions, Circle(12), 2, Zigzag(2), tau=1 / 12**3)
    shared = population_risk(head, Parity(12, (3, 4)))
    return Counts(counts, shared.value, shared.error)


@few_heads.judge
def _few_heads(c: Counts) -> Judged:
    few = [cell.least for cell in c.cells if cell.heads < cell.k]
    enough = [cell.least for cell in c.cells if cell.heads == cell.k]
    tried = sum(cell.tried for cell in c.cells)
    if not few or not enough or not all(cell.tried for cell in c.cells) or c.error > 1e-6:
        return undecided(f"{tried:,} combinations do not cover the statement.")
    least, most = min(few), max(enough)
    seen = (
        f"Over {tried:,} combinations of heads on one bit or split between two neighbours the "
        f"least risk with fewer than k heads is {least:.2f} without neighbours, with k heads "
        f"{most:.0e}"
    )
    one = f"one head between two neighbours has risk {c.shared:.0e}"
    if least < 1 - 1e-6:
        instead = f"Fewer than k heads have risk at least {least:.2f}."
        return refuted(f"{seen}; {one}.", instead=instead, margin=1 - least)
    if most > 1e-6:
        instead = f"k heads of the shares tried reach risk {most:.2g} only."
        return refuted(f"{seen}; {one}.", instead=instead, margin=most - 1e-6)
    if c.shared > 1e-6:
        margin = c.shared - 1e-6
        instead = f"Neighbours cannot share a head either: {one}."
        return corrected(f"{seen}.", instead=instead, margin=margin)
    margin = min(least - (1 - 1e-6), 1e-6 - most, 1e-6 - c.shared)
    return holds(f"{seen}; {one}.", margin=margin)


@few_heads.figure
def _few_heads_figure(c: Counts) -> Bars:
    return Bars(
        {str(cell): cell.least for cell in c.cells},
        y="least risk without neighbours",
        marks=[Mark(risk_without_edge(), "a bit nobody sees")],
        caption="Least risk over all combinations of sharp heads and heads split between "
        "neighbouring positions.",
    )
