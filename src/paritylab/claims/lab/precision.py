"""Does the one step survive single precision?"""

from collections.abc import Sequence

import numpy as np

from paritylab.claims import (
    OURS,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    derived,
    drawn,
    holds,
    record,
    refuted,
    undecided,
)
from paritylab.claims.hg2.one_step import RECONSTRUCTION
from paritylab.claims.lab.single_precision import steps_in_precision
from paritylab.learning.xor.exact import SOLVED_ERROR
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate

#: Gains beside 2 ln n + 6, which comes first.
GAINS = (1.0, 3.0, 10.0, 40.0, 80.0, 120.0, 400.0, 4000.0)
#: Share of cases in which single precision may decide otherwise.
TOLERATED = 0.05
#: The score whose exponential float32 cannot hold.
OVERFLOW = round(float(np.log(np.finfo("f4").max)), 1)


@record(evidence="sampled")
class Arithmetics:
    """Largest |ŷ - y| over all inputs after one step, (sizes, draws, gains) each.

    gains: β (sizes, gains), the first being 2 ln n + 6. naive: float32 without subtracting the
    largest score. half: bfloat16 at 2 ln n + 6, (sizes, draws).
    """

    n: list[int]
    gains: np.ndarray
    double: np.ndarray
    single: np.ndarray
    naive: np.ndarray
    half: np.ndarray
    cases: int = drawn()

    @derived("cases decided otherwise by float32", predicted=0)
    def otherwise(self) -> Rate:
        return Rate.of((self.double <= SOLVED_ERROR) != (self.single <= SOLVED_ERROR))

    @derived("largest difference of the worst errors")
    def gap(self) -> float:
        return float(np.abs(self.double - self.single).max())

    @derived("softmax without its maximum overflows from gain", predicted=OVERFLOW)
    def overflows_from(self) -> float:
        lost = ~np.isfinite(self.naive).all(axis=1)
        return float(self.gains[lost].min(initial=np.inf))

    @derived("bfloat16, largest |ŷ - y| at gain 2 ln n + 6")
    def coarse(self) -> float:
        return float(self.half.max())


@claim(
    "lab-float32",
    source=OURS,
    title="The step survives single precision",
    statement="Gradient, step and softmax in float32 decide about every input as float64 does, at "
    "gains from 1 to 4000 and at 2 ln n + 6, in at least 95 % of cases.",
    quick={"sizes": (1024,)},
    full={"sizes": (1024, 16_384, 65_536), "draws": 40},
    settings={
        "m": "12 ln n",
        "positions": "random signs",
        "temperature": "1/gain",
        "every input": "½(ŷ-y)² ≤ 0.01 at the worst input",
        "model": RECONSTRUCTION,
    },
    seconds=(3, 4, 120),
)
def float32_claim(
    trial: Trial,
    sizes: Sequence[int] = (1024, 4096),
    draws: int = 12,
    *,
    tested: str = "float32",
) -> Arithmetics:
    gains = np.array([[default_gain(n), *GAINS] for n in sizes])
    errors: dict[str, list] = {"float64": [], tested: [], "naive": [], "bfloat16": []}
    for n, each in trial.track(list(zip(sizes, gains, strict=True))):
        for kind, found in errors.items():
            few = each[:1] if kind == "bfloat16" else each
            found.append(
                [
                    steps_in_precision(
                        kind, n=n, width=usual_width(n), gains=few, seed=seed_of(trial.seed, draw)
                    )
                    for draw in range(draws)
                ]
            )
    double, single, naive, half = (
        np.array(errors[kind]) for kind in ("float64", tested, "naive", "bfloat16")
    )
    return Arithmetics(list(sizes), gains, double, single, naive, half[..., 0], double.size)


@float32_claim.judge
def _float32(a: Arithmetics) -> Judged:
    other = a.otherwise
    named = [
        f"{Rate.of(found[:, :, 0] <= SOLVED_ERROR)} in {name}"
        for name, found in (("float64", a.double), ("float32", a.single))
    ]
    half = Rate.of(a.half <= SOLVED_ERROR)
    text = (
        f"float32 decides otherwise in {other.count} cases (n = "
        f"{', '.join(map(str, a.n))}, gains {a.gains.min():g} to {a.gains.max():g}); the worst "
        f"errors differ by at most {a.gap:.1e}. At gain 2 ln n + 6 one step is right on every "
        f"input in {named[0]}, {named[1]}, {half} in bfloat16. Of the gains tried, "
        f"{a.overflows_from:g} is the first at which a softmax that does not subtract the maximum "
        "overflows."
    )
    if other.high < TOLERATED:
        return holds(text, margin=TOLERATED - other.high, interval=other)
    if other.low > TOLERATED:
        instead = f"float32 decides otherwise in {other} of cases."
        return refuted(text, instead=instead, margin=other.low - TOLERATED, interval=other)
    return undecided(f"{text} The interval reaches {100 * TOLERATED:g} %.", interval=other)


@float32_claim.planted("a softmax that does not subtract its maximum", turns="undecided")
def _naive(trial: Trial) -> Arithmetics:
    return float32_claim.measure(trial, **float32_claim.quick, tested="naive")


@float32_claim.figure
def _float32_figure(a: Arithmetics) -> Lines:
    lines = []
    for index, n in enumerate(a.n):
        order = np.argsort(a.gains[index])
        for name, found, style in (("float64", a.double, "-"), ("float32", a.single, "o")):
            middle = np.median(found[index], axis=0)[order]
            lines.append(Line(f"n = {n}, {name}", a.gains[index][order], middle, style=style))
    return Lines(
        lines,
        x="gain β = 1/temperature",
        y="worst |ŷ - y| over all inputs (median)",
        log="x",
        caption="One step in double and in single precision.",
    )
