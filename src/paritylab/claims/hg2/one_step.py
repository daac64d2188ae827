"""One step, every input: how the worst-case error falls with n, and how few numbers it takes."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims.engine import Trial
from paritylab.claims.figures import Line, Lines
from paritylab.claims.registry import Efforts, claim
from paritylab.claims.sources import HG2
from paritylab.claims.verdict import (
    Evidence,
    Finding,
    Judged,
    Status,
    holds,
    refuted,
    undecided,
)
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.learning.xor.stream import StreamedStep, smallest_xor_width, streamed_step
from paritylab.statistics import PowerLaw, Rate, power_law
from paritylab.theory.hg2 import median_worst_error

RECONSTRUCTION = "our reconstruction of the model, from the published abstract"


def _draws(n: int, width: int, gains: Any, draws: int, pairs: int, seed: int) -> StreamedStep:
    """Several draws of positions, their pairs side by side."""
    done = [streamed_step(n, width, gains, pairs=pairs, seed=seed + draw) for draw in range(draws)]
    pairs_found = np.concatenate([step.pairs for step in done])
    rest = zip(*(step[1:] for step in done), strict=True)
    return StreamedStep(pairs_found, *(np.concatenate(parts, axis=-1) for parts in rest))


@claim(
    "hg2-one-step",
    paper="hg2",
    title="One gradient step drives the loss of every input to nearly 0",
    statement="Abstract of HG2: two softmax heads on fixed positions learn y = -x_i·x_j in one "
    "gradient step, with a loss near 0 on every input.",
    seconds=(2, 7, 60),
)
def one_step_claim(trial: Trial) -> Finding:
    sizes = trial.pick(
        quick=(64, 256, 1024, 4096, 16_384, 65_536),
        default=(64, 256, 1024, 4096, 16_384, 65_536, 1_000_000),
        full=tuple(2**power for power in range(6, 21)),
    )
    draws, pairs = trial.pick(quick=(4, 10), default=(6, 10), full=(20, 20))
    window = np.geomspace(4, 400, 13)
    found, mapped = {}, {}
    for n in trial.track(sizes):
        width = usual_width(n)
        few = 2 if n > 100_000 else draws
        found[n] = _draws(n, width, [default_gain(n)], few, pairs, trial.seed)
        if n <= 100_000:
            mapped[n] = np.median(_draws(n, width, window, 2, pairs, trial.seed).error, axis=1)
    medians = {n: float(np.median(step.error)) for n, step in found.items()}
    predicted = {n: median_worst_error(n, usual_width(n), default_gain(n)) for n in sizes}
    law = power_law(sizes, list(medians.values()))
    last = found[sizes[-1]]
    largest, targets = float(last.error.max()), last.ranked.size
    ranked = Rate.of(np.concatenate([step.ranked for step in found.values()]))
    small = Rate.of(found[64].error.ravel() ** 2 / 2 <= 0.01)
    good = law.high < -0.5 and ranked.value > 0.99 and largest**2 / 2 <= 1e-2
    return Finding(
        Status.CORRECTED if good and small.high < 0.95 else Status.UNDECIDED,
        Evidence.SAMPLED,
        measured={
            "finding": f"The pair is found in {ranked} of draws. The largest |ŷ - y| over all "
            f"inputs falls like n^{law}; at n = {sizes[-1]:,} it is at most {largest:.1e} over "
            f"{targets} targets. At n = 64 only {small} of draws reach ½(ŷ-y)² ≤ 0.01 on "
            "every input: the two weights differ because the mean position is not 0.",
            "instead": "For large n, with an error of order ln(n)/n; at any n from 64 on if every "
            "coordinate of the positions is +1 as often as -1 (lab-xor-balanced).",
            "median_worst_error": {str(n): value for n, value in medians.items()},
            "exponent_in_n": [law.exponent, law.low, law.high],
            "solved_at_64": small.value,
            "largest_error_at_largest_n": largest,
        },
        predicted={
            "median_worst_error": {str(n): value for n, value in predicted.items()},
            "law": "0.455·4β²/(n·m): imbalance of the two weights, from the mean position",
        },
        margin=-0.5 - law.high,
        interval=(law.low, law.high),
        runs=sum(step.ranked.size for step in found.values()),
        settings={"m": "12 ln n", "gain": "2 ln n + 6", "model": RECONSTRUCTION},
        counterexample=_SMALL_N,
        series=_one_step_figure(sizes, medians, predicted, window, mapped),
    )


_SMALL_N = """\
from paritylab import Population, XorStep, learn, random_parities

data = Population(random_parities(64, 2, 60, sign=-1))
for positions in ("signs", "balanced"):
    rate = learn(XorStep(width=60, positions=positions), data).rate("solved")
    print(positions, "right on every input in", rate, "of runs")
    assert (rate.value > 0.9) == (positions == "balanced")
"""


def _one_step_figure(
    sizes: tuple[int, ...],
    medians: dict[int, float],
    predicted: dict[int, float],
    window: np.ndarray,
    mapped: dict[int, np.ndarray],
) -> dict:
    return {
        "kind": "side by side",
        "parts": [
            {
                "kind": "lines",
                "x": {"label": "n", "scale": "log"},
                "y": {"label": "worst |ŷ - y| over all inputs (median)", "scale": "log"},
                "lines": [
                    {"label": "measured", "x": list(sizes), "y": [medians[n] for n in sizes]},
                    {
                        "label": "predicted",
                        "x": list(sizes),
                        "y": [predicted[n] for n in sizes],
                        "style": "--",
                    },
                ],
            },
            {
                "kind": "lines",
                "x": {"label": "gain β", "scale": "log"},
                "y": {"label": "worst |ŷ - y| (median)", "scale": "log"},
                "lines": [
                    {"label": f"n = {n}", "x": window, "y": np.maximum(values, 1e-8)}
                    for n, values in list(mapped.items())[::2]
                ],
            },
        ],
        "caption": "Left: the residual error after one step. Right: the window of gains; too small "
        "a gain leaves weight on other positions, too large a gain splits the pair unevenly.",
    }


class Widths(NamedTuple):
    """The width m one step needs, one entry per size.

    n: sizes. rank: smallest m that ranks every pair tried. every: smallest m that is right on
    every input, with balanced positions. power: every ~ n^power. power_of_log: every ~ (ln n)^that.
    pairs: pairs tried per size and width.
    """

    n: np.ndarray
    rank: np.ndarray
    every: np.ndarray
    power: PowerLaw
    power_of_log: PowerLaw
    pairs: int


#: A width that grows like this power of n, or faster, is not taken for polylogarithmic.
SMALLEST_POWER = 0.25


@claim(
    "hg2-params",
    source=HG2("Abstract"),
    title="polylog(n) trainable numbers are enough",
    statement="O(polylog n) trainable parameters suffice; here 2m numbers, with m the width of the "
    "positions.",
    efforts=Efforts(
        quick={"sizes": (64, 256, 1024, 4096, 16_384), "draws": 10},
        default={"sizes": (64, 256, 1024, 4096, 16_384, 65_536), "draws": 10},
        full={"sizes": tuple(4**power for power in range(3, 11)), "draws": 20},
    ),
    settings={
        "pairs per draw": 10,
        "grid of m": "ratio 2^(1/4)",
        "gain": "4 ln n + 12",
        "every input": "½(ŷ-y)² ≤ 0.01 at the worst input",
        "model": RECONSTRUCTION,
    },
    seconds=(3, 12, 200),
)
def params_claim(trial: Trial, sizes: Sequence[int], draws: int) -> Widths:
    rank, every = [], []
    for n in trial.track(sizes):
        width = partial(smallest_xor_width, n, gain=2 * default_gain(n), seed=trial.seed)
        rank.append(width("rank", draws=draws, pairs=10))
        every.append(width("every", draws=draws, pairs=10, balanced=True))
    laws = power_law(sizes, every), power_law(np.log(sizes), every)
    return Widths(np.asarray(sizes), np.asarray(rank), np.asarray(every), *laws, 10 * draws)


@params_claim.judge
def _params(w: Widths) -> Judged:
    power, n, m = w.power, w.n[-1], w.every[-1]
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "margin": max(SMALLEST_POWER - power.high, power.low - SMALLEST_POWER),
        "interval": (power.low, power.high),
        "runs": w.pairs * len(w.n),
        "measured": {
            "trained numbers, right on every input": dict(zip(w.n, 2 * w.every, strict=True)),
            "trained numbers, pair ranked first": dict(zip(w.n, 2 * w.rank, strict=True)),
            "growth as a power of n": str(power),
            "growth as a power of ln n": str(w.power_of_log),
        },
        "predicted": {"growth as a power of n": "0, beyond every power of ln n"},
    }
    seen = (
        f"{2 * m} trained numbers are right on every input at n = {n:,} ({w.pairs} pairs); from "
        f"n = {w.n[0]} on the width grows like n^{power}, or (ln n)^{w.power_of_log}"
    )
    if power.high < SMALLEST_POWER:
        return holds(f"{seen}: powers above n^{power.high:.2f} are excluded.", **shared)
    if power.low > SMALLEST_POWER:
        instead = f"The width grows at least like n^{power.low:.2f} at the sizes tried."
        return refuted(f"{seen}.", instead=instead, **shared)
    return undecided(f"{seen}: n^{SMALLEST_POWER} is not excluded.", **shared)


@params_claim.figure
def _params_figure(w: Widths) -> Lines:
    return Lines(
        [
            Line("ranks every pair", w.n, w.rank),
            Line("every input, balanced", w.n, w.every),
            Line("12 ln n", w.n, 12 * np.log(w.n), style="--"),
        ],
        x="n",
        y="smallest width m",
        log="x",
        caption="Numbers per head that one step needs.",
    )
