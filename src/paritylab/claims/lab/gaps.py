"""Chains with gaps: how many rows a step needs when it skips levels of the tree."""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from paritylab.claims import (
    OURS,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    drawn,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.lab.gapped_chain import GapCurve, gap_curve
from paritylab.models import SlopedLink
from paritylab.precision import float64
from paritylab.statistics import half_point, half_point_interval
from paritylab.theory.gaps import (
    GapLink,
    enumerated_signal,
    link_signal,
    matched_link,
    rows_exponent,
    rows_to_balance_links,
    rows_to_find_links,
)

#: A half point may be this factor from the predicted one; a run's own N scatters by about 0.8 in
#: its logarithm, so the half point of 100 runs by 0.1.
NEAR = 1.75
#: Rows that are tried, over those predicted.
AROUND = (0.4, 2.5)
KS_LINK = GapLink(-1.0, np.pi)
ORDERS = (2, 4, 8)


@record()
class GapCell:
    """N at which half of the runs reach a goal, and the interval of it over predicted."""

    q: int
    n: int
    nodes: int
    rows: float = shown("N for half of the runs", against="formula")
    formula: float
    low: float = shown("measured over predicted, lower end")
    high: float = shown("measured over predicted, upper end")

    def __str__(self) -> str:
        return f"q = {self.q}, n = {self.n}, nodes {self.nodes}"


@record()
class Gaps:
    """found: every child above every other token. right: every input right too, from q = 4 on.
    exponents: of M in the exact law, at M = 2^14. error: largest relative distance of the closed
    form from enumeration. signs: of KS's link -cos(πt) per order in `ORDERS`. faded: signal of the
    piecewise link over that of the matched one for q = 4 at M = 8 and M = 64.
    """

    found: list[GapCell]
    right: list[GapCell]
    exponents: list[float] = shown("exponent of M in N", by="orders", against="law")
    error: float = shown("largest error of the closed form")
    signs: list[float] = shown("sign of a child's pull under -cos(πt)", by="orders")
    faded: tuple[float, float]
    runs: int = drawn()

    @property
    def orders(self) -> list[str]:
        return [f"q = {q}" for q in ORDERS]

    @property
    def law(self) -> list[int]:
        return [2 * q - 3 for q in ORDERS]


@claim(
    "lab-gaps",
    source=OURS,
    title="Leaving out levels costs powers: a step over q tokens needs M^(2q-3) rows",
    statement="Show only every r-th level of the tree: a step is a parity of q = 2^r of the M "
    "tokens it sees. Ours: with the link (-1)^(q/2)·cos(πqt/2) the first gradient lifts a child "
    "above another token by (ω/M)·sin^(q-1)(ω/M)·cos^(M-q-1)(ω/M), ω = πq/2, so that rows grow as "
    "M^(2q-3); KS's -cos(πt) pushes children the wrong way for q = 4 and 8; and from q = 4 on "
    "children that are found are not yet even enough to be right, which takes many times the rows.",
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
    settings={"N": f"{AROUND[0]:g} … {AROUND[1]:g} of predicted", "score": "ln M + 3"},
    seconds=(2, 11, 900),
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
    curve: Callable[..., GapCurve] = gap_curve,
) -> Gaps:
    def half(q: int, n: int, nodes: int, formula: float, goal: str) -> GapCell:
        grid = np.geomspace(*AROUND, 6) * formula
        found = curve(n, q, nodes, grid.astype(int), runs=runs, seed=trial.seed)
        flags = getattr(found, goal)
        interval = half_point_interval(grid / formula, flags)
        return GapCell(q, n, nodes, half_point(grid, flags), formula, *interval)

    found = [
        half(q, n, nodes, rows_to_find_links(n, q, nodes), "found")
        for q, n, nodes in trial.track(cells)
    ]
    right = [
        half(q, n, 1, rows_to_balance_links(n, q, np.log(n) + 3), "right")
        for q, n in trial.track(even)
    ]
    signs = [float(np.sign(link_signal(64, q, KS_LINK))) for q in ORDERS]
    exponents = [rows_exponent(q) for q in ORDERS]
    drawn_runs = runs * (len(cells) + len(even))
    return Gaps(found, right, exponents, _closed_error(), signs, _faded(), drawn_runs)


def _closed_error() -> float:
    errors = []
    for q in ORDERS:
        for tokens in (q + 1, q + 4, 3 * q):
            for link in (matched_link(q), KS_LINK):
                exact = enumerated_signal(tokens, q, link.__call__, link.slope)
                errors.append(abs(link_signal(tokens, q, link) / exact - 1))
    return max(errors)


def _faded() -> tuple[float, float]:
    link, matched = SlopedLink(), matched_link(4)

    def ratio(tokens: int) -> float:
        with float64():
            value = lambda t: -np.asarray(link(jnp.asarray(t)))  # noqa: E731  φ(0) = 1 for q = 4
            slope = lambda t: -np.asarray(link.slope(jnp.asarray(t)))  # noqa: E731
            return enumerated_signal(tokens, 4, value, slope) / link_signal(tokens, 4, matched)

    return ratio(8), ratio(64)


@gaps.planted("a step that sees a fifth of its rows", turns="refuted")
def _a_fifth(trial: Trial) -> Gaps:
    def fewer(n: int, q: int, nodes: int, grid: Any, **rest: Any) -> GapCurve:
        return gap_curve(n, q, nodes, np.maximum(grid // 5, 1), **rest)

    return gaps.measure(trial, **gaps.quick, curve=fewer)


@gaps.judge
def _gaps(g: Gaps) -> Judged:
    told = "; ".join(f"{c} {c.rows:,.0f} (predicted {c.formula:,.0f})" for c in g.found)
    even = "; ".join(f"{c} {c.rows:,.0f} (predicted {c.formula:,.0f})" for c in g.right)
    powers = ", ".join(f"{power:.2f}" for power in g.exponents)
    wrong = ", ".join(f"q = {q}" for q, sign in zip(ORDERS, g.signs, strict=True) if sign < 0)
    text = (
        f"The closed form agrees with enumeration to {g.error:.0e}; its rows grow as M to the "
        f"{powers} for q = {', '.join(map(str, ORDERS))}. Half of the runs find every child from N "
        f"= {told}; they are right from N = {even}. -cos(πt) has the wrong sign for {wrong}; the "
        f"piecewise link keeps {g.faded[0]:.2g} of the matched signal at M = 8 and "
        f"{g.faded[1]:.1g} at M = 64 (q = 4)."
    )
    ends = np.array([(c.low, c.high) for c in (*g.found, *g.right)])
    outside = float(np.nanmax([ends[:, 0] - NEAR, 1 / NEAR - ends[:, 1]]))
    off = max(abs(p - law) for p, law in zip(g.exponents, g.law, strict=True)) - 0.1
    signs = 0.0 if [s > 0 for s in g.signs] == [True, False, False] else 1.0
    worst = max(outside, off, signs, g.error - 1e-6)
    if worst > 0:
        return refuted(text, instead=f"Rows for half of the runs: {told}; {even}.", margin=worst)
    inside = float(np.min([NEAR - ends[:, 1], ends[:, 0] - 1 / NEAR]))
    finds = {(c.q, c.n): c.rows for c in g.found}
    later = [c.rows / finds[c.q, c.n] - 2 for c in g.right if (c.q, c.n) in finds]
    room = float(np.min([inside, *later]))
    if room > 0:
        return holds(text, margin=room)
    return undecided(f"{text} A half point is too uncertain.")


@gaps.figure
def _gaps_figure(g: Gaps) -> Lines:
    left_out = [q.bit_length() - 2 for q in ORDERS]
    lines = [
        Line(
            f"M = {m}, predicted", left_out, [rows_to_find_links(m, q) for q in ORDERS], style="--"
        )
        for m in (16, 32, 64)
    ]
    sizes = sorted({c.n for c in g.found})
    for n in sizes:
        own = [c for c in g.found if c.n == n]
        at = [c.q.bit_length() - 2 for c in own]
        lines.append(Line(f"n = {n}, measured", at, [c.rows for c in own], style="o"))
    return Lines(
        lines,
        x="levels left out between two shown ones",
        y="rows for half of the runs to find every child",
        log="y",
        caption="Rows against what is left out of the chain.",
    )
