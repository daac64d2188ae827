"""How many heads a parity needs in the limit tau → 0."""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
    refuted,
    undecided,
)
from paritylab.claims.hg1.hard_limits import least_risk_of_heads
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import population_risk
from paritylab.theory.hg1 import risk_without_edge


class Counts(NamedTuple):
    """Least risks of limiting heads on sets without circular neighbours, one entry per cell.

    n, k, heads: sizes. least: smallest risk of any combination. tried: combinations tried.
    shared: risk of a single head midway between two neighbours, k = 2, tau = 1/n³, n = 12. error:
    its error.
    """

    n: np.ndarray
    k: np.ndarray
    heads: np.ndarray
    least: np.ndarray
    tried: np.ndarray
    shared: float
    error: float


@claim(
    "lab-few-heads",
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
)
def few_heads(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = [(8, 2, 1), (8, 2, 2), (7, 3, 1), (7, 3, 2), (7, 3, 3)],
) -> Counts:
    least, tried = np.transpose([least_risk_of_heads(*cell) for cell in trial.track(cells)])
    middle = 2 * np.pi * 3.5 / 12
    directions = np.array([[np.sin(middle), np.cos(middle)]])
    head = HeadAttention(directions, Circle(12), 2, Zigzag(2), tau=1 / 12**3)
    shared = population_risk(head, Parity(12, (3, 4)))
    n, k, heads = np.transpose(cells)
    return Counts(n, k, heads, least, tried.astype(int), shared.value, shared.error)


@few_heads.judge
def _few_heads(c: Counts) -> Judged:
    few = c.heads < c.k
    shared: dict[str, Any] = {
        "evidence": "exact",
        "runs": int(c.tried.sum()) + 1,
        "measured": _few_heads_numbers(c),
        "predicted": {"least risk with fewer than k heads": f"≥ {risk_without_edge():g}"},
    }
    enough = c.least[c.heads == c.k]
    if not few.any() or not enough.size or not c.tried.all() or c.error > 1e-6:
        return undecided(f"{int(c.tried.sum())} combinations do not cover the statement.", **shared)
    least, most = float(c.least[few].min()), float(enough.max())
    seen = (
        f"Over {int(c.tried.sum()):,} combinations of sharp and split heads the least risk with "
        f"fewer than k heads is {least:.2f} without neighbours, with k heads {most:.0e}"
    )
    one = f"one head between two neighbours has risk {c.shared:.0e}"
    if least < 1 - 1e-6:
        instead = f"Fewer than k heads have risk at least {least:.2f}."
        return refuted(f"{seen}; {one}.", instead=instead, margin=1 - least, **shared)
    if most > 1e-6:
        instead = f"k heads of the shares tried reach risk {most:.2g} only."
        return refuted(f"{seen}; {one}.", instead=instead, margin=most - 1e-6, **shared)
    if c.shared > 1e-6:
        margin = c.shared - 1e-6
        instead = f"Neighbours cannot share a head either: {one}."
        return corrected(f"{seen}.", instead=instead, margin=margin, **shared)
    margin = min(least - (1 - 1e-6), 1e-6 - most, 1e-6 - c.shared)
    return holds(f"{seen}; {one}.", margin=margin, **shared)


def _few_heads_numbers(c: Counts) -> dict[str, Any]:
    """Numbers of a record by the names a reader knows."""
    named: dict[str, Any] = {}
    for name, least in _by_cell(c).items():
        named[f"least risk, {name}"] = least
    named["risk of one head between two neighbours, k = 2"] = c.shared
    named["combinations tried"] = int(c.tried.sum())
    return named


def _by_cell(c: Counts) -> dict[str, float]:
    cells = zip(c.n, c.k, c.heads, c.least, strict=True)
    return {f"n = {n}, k = {k}, {heads} heads": float(least) for n, k, heads, least in cells}


@few_heads.figure
def _few_heads_figure(c: Counts) -> Bars:
    return Bars(
        _by_cell(c),
        y="least risk without neighbours",
        marks=[Mark(risk_without_edge(), "a bit nobody sees")],
        caption="Least risk over all combinations of sharp heads and heads split between "
        "neighbouring positions.",
    )
