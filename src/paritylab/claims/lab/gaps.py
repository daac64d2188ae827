"""Chains with gaps: how many rows a step needs when it skips levels of the tree."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import OURS, Trial, at_least, at_most, claim, finding, within
from paritylab.experiments.gaps import (
    GapCurve,
    measure_gap_curve,
)
from paritylab.statistics import Estimate, half_point_estimate, quotient, scaled
from paritylab.theory.gaps import (
    GapLink,
    link_signal,
    matched_link,
    rows_exponent,
    rows_to_balance_links,
    rows_to_find_links,
)

#: A half point may be this factor from the predicted one; a run's own N scatters by about 0.8 in
#: its logarithm, so the half point of 100 runs by 0.1.
NEAR = 1.75
KS_LINK = GapLink(-1.0, np.pi)
ORDERS = (2, 4, 8)


def _a_fifth(n: int, q: int, nodes: int, grid: Any, **rest: Any) -> GapCurve:
    return measure_gap_curve(n, q, nodes, np.maximum(grid // 5, 1), **rest)


@claim(
    "lab-gaps",
    OURS,
    quick={"cells": ((2, 32, 8), (4, 8, 1), (4, 12, 1), (8, 14, 1)), "even": ((4, 8),), "runs": 60},
    full={
        "cells": (
            *((2, 32, 8), (2, 64, 16), (2, 128, 32), (2, 256, 64)),
            *((4, 8, 1), (4, 12, 1), (4, 16, 1), (4, 16, 4), (4, 24, 1)),
            *((8, 12, 1), (8, 14, 1), (8, 16, 1), (8, 18, 1)),
        ),
        "even": ((4, 8), (4, 12), (4, 16)),
        "runs": 200,
    },
    more="runs",
    planted=("a step that sees a fifth of its rows", {"curve": _a_fifth}, "refuted"),
)
def gaps(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = (
        *((2, 16, 4), (2, 32, 8), (2, 64, 16)),
        *((4, 8, 1), (4, 12, 3), (4, 16, 1)),
        *((8, 12, 1), (8, 14, 1), (8, 16, 1)),
    ),
    even: Sequence[tuple[int, int]] = ((4, 8), (4, 12)),
    runs: int = 100,
    *,
    curve: Callable[..., GapCurve] = measure_gap_curve,
) -> Iterator[Any]:
    """One step over q of M tokens needs M^(2q-3) rows, q = 2, 4 and 8, M = 8 to 64.

    Show only every r-th level of the tree: a node is a parity of q = 2^r of the M tokens it sees.
    With the link (-1)^(q/2)·cos(πqt/2) the first gradient lifts a child above another token by
    (ω/M)·sin^(q-1)(ω/M)·cos^(M-q-1)(ω/M), ω = πq/2, so that the rows of one step grow as M^(2q-3):
    half of the runs find every child at an N within a factor of 1.75 of the one predicted. KS's
    -cos(πt) pushes children the wrong way for q = 4 and 8. For q = 4 children that are found are
    not yet even enough to be right, which takes more than twice the rows. The children's score is
    ln M + 3. Each cell is q, n = M and the number of nodes.
    """

    def half(q: int, n: int, nodes: int, formula: float, goal: str) -> Estimate:
        grid = np.geomspace(0.4, 2.5, 6) * formula
        done = curve(n, q, nodes, grid.astype(int), runs=runs, seed=trial.seed)
        return half_point_estimate(grid / formula, getattr(done, goal))

    found: dict[tuple[int, int, int], tuple[Estimate, float]] = {}
    for q, n, nodes in trial.track(cells):
        formula = rows_to_find_links(n, q, nodes)
        ratio = half(q, n, nodes, formula, "found")
        found[q, n, nodes] = ratio, formula
        where = f"q = {q}, n = {n}, nodes {nodes}"
        label = f"rows to find every child over {formula:,.0f} predicted, {where}"
        yield within(label, ratio, 1 / NEAR, NEAR)
    for q, n in trial.track(even):
        formula = rows_to_balance_links(n, q, np.log(n) + 3)
        ratio = half(q, n, 1, formula, "right")
        label = f"rows to be right everywhere over {formula:,.0f} predicted, q = {q}, n = {n}"
        yield within(label, ratio, 1 / NEAR, NEAR)
        for earlier, first in (each for cell, each in found.items() if cell[:2] == (q, n)):
            part = quotient(scaled(ratio, formula), scaled(earlier, first))
            yield at_least(f"rows to be right over rows to find, q = {q}, n = {n}", part, 2)
    for q in ORDERS:
        law = 2 * q - 3
        label = f"exponent of M in the exact law of N, q = {q}"
        yield within(label, rows_exponent(q), law - 0.1, law + 0.1)
    for q in ORDERS:
        pull = link_signal(64, q, KS_LINK) / link_signal(64, q, matched_link(q))
        label = f"pull of a child under -cos(πt) over the matched link's, q = {q}, M = 64"
        yield at_least(label, pull, 0) if q == 2 else at_most(label, pull, 0)
    ratios = [ratio.value for ratio, _ in found.values()]
    text = f"Half of the runs find every child from {min(ratios):.2f} to {max(ratios):.2f} times"
    yield finding(f"{text} the predicted rows, q = 2, 4 and 8.", "holds")
