"""Finite data: rows the first step needs to find the pair, and to be right on every input."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims.engine import Trial
from paritylab.claims.figures import Line, Lines
from paritylab.claims.hg2.one_step import RECONSTRUCTION
from paritylab.claims.registry import Efforts, claim
from paritylab.claims.sources import HG2
from paritylab.claims.verdict import Judged, holds, refuted, undecided
from paritylab.learning.xor.parts import usual_width
from paritylab.learning.xor.samples import sample_curve
from paritylab.statistics import PowerLaw, half_point, threshold_law
from paritylab.theory.hg2 import rows_to_rank

#: The largest exponent that is still called a usable polynomial.
CUBIC = 3.0


class Rows(NamedTuple):
    """Rows with which half of the runs succeed, one entry per size; NaN outside the grid.

    ranked: the pair is on top. right: ½(ŷ-y)² ≤ 0.01 on every input. Both with random positions
    and the squared loss, laws in n with them. onehot: the pair is on top with one-hot positions, by
    loss. runs: per size and loss.
    """

    n: list[int]
    ranked: list[float]
    right: list[float]
    ranked_law: PowerLaw
    right_law: PowerLaw
    onehot: dict[str, list[float]]
    runs: int


@claim(
    "hg2-samples",
    source=HG2("Abstract"),
    title="Polynomially many samples suffice",
    statement="The step learns from finite data, with a bound on the samples. Here: the rows with "
    "which half of the first steps find the pair, and are right on every input, grow slower than "
    "n³.",
    efforts=Efforts(
        quick={"sizes": (16, 32), "runs": 32},
        default={"sizes": (16, 32, 64), "runs": 24},
        full={"sizes": (16, 32, 64, 128), "runs": 200},
    ),
    settings={
        "m": "12 ln n",
        "gain": "2 ln n + 6",
        "positions": "balanced signs",
        "rows": "16 numbers from n/2 to 80n²",
        "model": RECONSTRUCTION,
    },
    seconds=(8, 16, 900),
)
def samples_claim(trial: Trial, sizes: Sequence[int], runs: int) -> Rows:
    curves, onehot = [], {}
    for n in trial.track(sizes):
        grid = np.geomspace(n / 2, 80 * n * n, 16)
        curves.append(sample_curve(n, usual_width(n), grid, runs=runs, seed=trial.seed))
    for loss in ("squared", "correlation"):
        found = []
        for n in sizes[1:]:
            grid = rows_to_rank(n, loss) * np.geomspace(0.2, 5, 10)
            curve = sample_curve(n, 2, grid, runs=4 * runs, loss=loss, seed=trial.seed)
            found.append(half_point(curve.samples, curve.onehot))
        onehot[loss] = found
    grids = [curve.samples for curve in curves]
    flags = {"ranked": [c.signs for c in curves], "right": [c.signs_solved for c in curves]}
    halves = {
        name: [half_point(*pair) for pair in zip(grids, each, strict=True)]
        for name, each in flags.items()
    }
    laws = (threshold_law(sizes, grids, each) for each in flags.values())
    return Rows(list(sizes), halves["ranked"], halves["right"], *laws, onehot, runs)


@samples_claim.judge
def _samples(r: Rows) -> Judged:
    ratios = [
        measured / rows_to_rank(n, loss)
        for loss, each in r.onehot.items()
        for n, measured in zip(r.n[1:], each, strict=True)
    ]
    text = (
        f"Half of the first steps find the pair with {_listed(r.ranked)} rows (n = "
        f"{', '.join(map(str, r.n))}), like n^{r.ranked_law}, and are right on every input with "
        f"{_listed(r.right)}, like n^{r.right_law}. With one-hot positions the pair takes "
        f"{min(ratios):.2f} to {max(ratios):.2f} times the derived c·n·s² rows, of order n·ln n."
    )
    law = max(r.ranked_law, r.right_law, key=lambda each: each.high)
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "interval": None if np.isinf(law.high) else (law.low, law.high),
        "runs": r.runs * len(r.n),
        "measured": {
            "rows to find the pair": dict(zip(r.n, r.ranked, strict=True)),
            "rows to be right on every input": dict(zip(r.n, r.right, strict=True)),
            "power of n": {"found": str(r.ranked_law), "right": str(r.right_law)},
            "one-hot: rows to find the pair": r.onehot,
        },
        "predicted": {
            "one-hot: rows to find the pair": {
                loss: [rows_to_rank(n, loss) for n in r.n[1:]] for loss in r.onehot
            },
        },
    }
    if law.high < CUBIC:
        return holds(text, margin=CUBIC - law.high, **shared)
    steepest = max(r.ranked_law.low, r.right_law.low)
    if steepest > CUBIC:
        instead = f"The rows grow at least like n^{steepest:.1f} at the sizes tried."
        return refuted(text, instead=instead, margin=steepest - CUBIC, **shared)
    return undecided(f"{text} An exponent of {CUBIC:g} is not excluded.", **shared)


def _listed(rows: Sequence[float]) -> str:
    return ", ".join(f"{each:,.0f}" for each in rows)


@samples_claim.figure
def _samples_figure(r: Rows) -> Lines:
    derived = [rows_to_rank(n) for n in r.n[1:]]
    return Lines(
        [
            Line("random positions: right on every input", r.n, r.right),
            Line("random positions: pair found", r.n, r.ranked),
            Line("one-hot: pair found", r.n[1:], r.onehot["squared"]),
            Line("one-hot: derived", r.n[1:], derived, style="--"),
        ],
        x="n",
        y="rows with which half of the runs succeed",
        log="xy",
        caption="Labelled rows the first step needs, squared loss.",
    )
