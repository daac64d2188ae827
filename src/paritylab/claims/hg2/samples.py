"""Finite data: rows the first step needs to find the pair, and to be right on every input."""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    HG2,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.claims.hg2.one_step import RECONSTRUCTION
from paritylab.claims.hg2.sampled_steps import sample_curve
from paritylab.learning.xor.exact import SOLVED_ERROR
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.statistics import Rate, half_point
from paritylab.theory.hg2 import rows_to_be_right, rows_to_rank

#: Rows tried at most, in units of n².
MOST = 80


@record()
class Rows:
    """What the first step gives from finite data, one entry per size; squared loss.

    half_found, half_right, onehot: rows with which half of the runs do, NaN if outside the grid.
    """

    n: list[int]
    found: list[Rate] = shown(f"pair found with {MOST}n² rows", by="sizes", counts=False)
    right: list[Rate] = shown(f"right on every input with {MOST}n² rows", by="sizes")
    half_found: list[float] = shown("rows with which half find the pair", by="sizes")
    half_right: list[float] = shown(
        "rows with which half are right", by="sizes", against="derived_right"
    )
    onehot: list[float] = shown(
        "rows with which half find the pair, one-hot", by="sizes", against="derived_onehot"
    )

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n}" for n in self.n]

    @property
    def derived_right(self) -> list[float]:
        return [rows_to_be_right(n, usual_width(n), default_gain(n), SOLVED_ERROR) for n in self.n]

    @property
    def derived_onehot(self) -> list[float]:
        return [rows_to_rank(n) for n in self.n]


@claim(
    "hg2-samples",
    source=HG2("Abstract"),
    title="Polynomially many samples suffice",
    statement="The step learns from finite data, with a bound on the samples. Here: with 80n² rows "
    "more than half of the first steps find the pair and are right on every input, at every n "
    "tried.",
    quick={"sizes": (16, 32)},
    full={"sizes": (16, 32, 64, 128), "runs": 200},
    settings={
        "m": "12 ln n",
        "gain": "2 ln n + 6",
        "positions": "balanced signs",
        "rows": "14 numbers up to 80n²",
        "model": RECONSTRUCTION,
    },
    seconds=(7, 15, 600),
)
def samples_claim(trial: Trial, sizes: Sequence[int] = (16, 32, 64), runs: int = 48) -> Rows:
    curves = []
    for n in trial.track(sizes):
        grid = np.geomspace(64, MOST * n * n, 14)
        curves.append(sample_curve(n, usual_width(n), grid, runs=runs, seed=trial.seed))
    halves = [
        [half_point(curve.samples, getattr(curve, name)) for curve in curves]
        for name in ("signs", "signs_solved", "onehot")
    ]
    found = [Rate.of(curve.signs[-1]) for curve in curves]
    right = [Rate.of(curve.signs_solved[-1]) for curve in curves]
    return Rows(list(sizes), found, right, *halves)


@samples_claim.judge
def _samples(r: Rows) -> Judged:
    text = (
        f"With {MOST}n² rows {_rates(r.found)} find the pair and {_rates(r.right)} are right on "
        f"every input (n = {', '.join(map(str, r.n))}). Half are right with {_rows(r.half_right)} "
        f"rows, derived {_rows(r.derived_right)}, of order n²·ln n; with one-hot positions half "
        f"find the pair with {_rows(r.onehot)}, derived {_rows(r.derived_onehot)}, of order "
        "n·ln n."
    )
    lowest = min(rate.low for rate in [*r.found, *r.right])
    worst = min([*r.found, *r.right], key=lambda rate: rate.high)
    if worst.high < 0.5:
        instead = f"With {MOST}n² rows only {worst} of runs succeed at some n."
        return refuted(text, instead=instead, margin=0.5 - worst.high, interval=worst)
    if lowest > 0.5:
        return holds(text, margin=lowest - 0.5, interval=worst)
    return undecided(f"{text} A share is too near one half.", interval=worst)


def _rates(rates: Sequence[Rate]) -> str:
    return ", ".join(str(rate) for rate in rates)


def _rows(rows: Sequence[float]) -> str:
    return ", ".join(f"{each:,.0f}" if np.isfinite(each) else "off the grid" for each in rows)


@samples_claim.figure
def _samples_figure(r: Rows) -> Lines:
    return Lines(
        [
            Line("random positions: right on every input", r.n, r.half_right),
            Line("derived", r.n, r.derived_right, style="--"),
            Line("random positions: pair found", r.n, r.half_found),
            Line("one-hot: pair found", r.n, r.onehot),
            Line("one-hot: derived", r.n, r.derived_onehot, style="--"),
        ],
        x="n",
        y="rows with which half of the runs succeed",
        log="xy",
        caption="Labelled rows the first step needs, squared loss.",
    )
