"""Frozen hard attention: Corollary 20 and Remark 13."""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    corrected,
    derived,
    drawn,
    holds,
    record,
    refuted,
    shown,
)
from paritylab.claims.hg1.fixed_heads import risk_with_averaged_ties, smallest_worst_risk
from paritylab.theory import hg1

#: Below this a difference that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-12


@record(evidence="exact")
class HardHeads:
    """Fixed hard heads, one entry per cell of n bits and m heads.

    any_size, each_size: smallest worst risks (see `WorstRisk`). printed: 1 - 2m/2^⌈(n-1)/m⌉.
    ranked: `theory.hg1.fixed_hard_attention_ranked`. draws: attentions per cell.
    """

    n: np.ndarray
    m: np.ndarray
    any_size: np.ndarray
    each_size: np.ndarray
    printed: np.ndarray
    ranked: np.ndarray
    draws: int = drawn(by="n")
    averaged: dict[int, float] = shown("risk of one head that averages ties, by n")

    @derived("smallest worst risk minus the printed bound", predicted="≥ 0")
    def over_printed(self) -> float:
        return float(np.min(self.any_size - self.printed))

    @derived("smallest worst risk, any k, minus our bound")
    def over_ranked(self) -> float:
        return float(np.min(self.each_size - self.ranked))


@claim(
    "hg1-cor20",
    source=HG1("Corollary 20, Remark 13"),
    title="Fixed hard attention fails with any head on top",
    statement="With fixed hard attention there is a set B with risk at least 1 - 2m/2^⌈(n-1)/m⌉ "
    "for every classification head; it is close to chance unless m scales linearly with n.",
    quick={"sizes": (4, 6), "draws": 100},
    full={"sizes": (4, 6, 8, 9, 10), "draws": 1000},
    settings={"m": "1 to n", "B": "every non-empty set", "ties": "first position"},
    seconds=(2, 5, 300),
)
def cor20(
    trial: Trial, sizes: Sequence[int] = (4, 6, 8), draws: int = 200, *, average: bool = False
) -> HardHeads:
    cells = [(n, m) for n in sizes for m in range(1, n + 1)]
    found = [
        smallest_worst_risk(*cell, draws=draws, seed=trial.seed, average=average)
        for cell in trial.track(cells)
    ]
    return HardHeads(
        n=np.array([n for n, _ in cells]),
        m=np.array([m for _, m in cells]),
        any_size=np.array([each.any_size for each in found]),
        each_size=np.array([each.each_size for each in found]),
        printed=np.array([hg1.fixed_hard_attention(*cell) for cell in cells]),
        ranked=np.array([hg1.fixed_hard_attention_ranked(*cell) for cell in cells]),
        draws=draws + 3,
        averaged={n: risk_with_averaged_ties(n) for n in (3, 5, 7)},
    )


@cor20.judge
def _cor20(h: HardHeads) -> Judged:
    at = int(np.argmin(h.any_size - h.printed))
    other = int(np.argmin(h.each_size - h.ranked))
    said = (
        f"smallest worst risk {h.any_size[at]:.3f} against {h.printed[at]:.3f} (n = {h.n[at]}, "
        f"m = {h.m[at]})"
    )
    also = (
        f"for sets of every size k it is {h.each_size[other]:.3f} against our "
        f"{h.ranked[other]:.3f} (n = {h.n[other]}, m = {h.m[other]})"
    )
    margin = abs(h.over_printed)
    if h.over_printed < -ROUNDING:
        bound = "Ours" if h.over_ranked >= -ROUNDING else "No bound"
        instead = f"{bound}: {also}."
        return refuted(f"An attention beats the bound: {said}.", instead=instead, margin=margin)
    if h.over_ranked < -ROUNDING:
        instead = f"The printed bound alone, hence m of order n/log n: {said}."
        return corrected(f"Not linear in n: {also}.", instead=instead, margin=margin)
    ties = ", ".join(f"{risk:.2g} (n = {n})" for n, risk in h.averaged.items())
    return holds(
        f"Over {h.draws} attentions per cell the nearest to the printed bound is: {said}. That "
        f"bound asks for m of order n/log n only. Ours, 1 - min_R min(m/2^R, 2m/2^R/(n-mR)) over "
        f"R < n/m, is at least 1 - 2m/n and asks for m of order n: {also}. Beside the statement, "
        f"a head that averages tied maxima reads all bits: risk {ties}.",
        margin=margin,
    )


@cor20.figure
def _cor20_figure(h: HardHeads) -> Lines:
    cell = h.n == h.n.max()
    m = h.m[cell]
    return Lines(
        [
            Line("smallest worst risk met", m, h.any_size[cell]),
            Line("printed bound", m, np.maximum(h.printed[cell], 0), style="--"),
            Line("our bound", m, np.maximum(h.ranked[cell], 0), style=":"),
        ],
        x=f"hard heads m, n = {h.n.max()}",
        y="largest risk over all B",
        caption="Best head of any kind on what fixed hard heads pass on.",
    )


@cor20.planted("heads that pass on the mean over tied maxima read many bits", turns="refuted")
def _cor20_averaging(trial: Trial) -> HardHeads:
    return cor20.measure(trial, sizes=(5,), draws=4, average=True)
