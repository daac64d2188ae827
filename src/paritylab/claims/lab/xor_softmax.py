"""What softmax in the one XOR step may be replaced by, how hot it may be, and two such layers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paritylab.claims import (
    OURS,
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
from paritylab.claims.lab.softmax_substitutes import (
    FEATURES,
    STAND_INS,
    label_in_first_gradient,
    solved_with,
    stacked_layers,
)
from paritylab.learning.xor.exact import SOLVED_ERROR
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.learning.xor.stream import streamed_step
from paritylab.problem.sampling import seed_of
from paritylab.statistics import PowerLaw, Rate, power_law

#: A share is clear if its interval is at most this wide.
WIDE = 0.25
FAILING = ("one plus score", "random features")


@record()
class StandInCell:
    """At one n; the gain is chosen on the other half of the runs."""

    n: int
    right: dict[str, Rate] = shown("runs right on every input")

    def __str__(self) -> str:
        return f"n = {self.n}"


@record()
class StandIns:
    sizes: list[StandInCell]


@claim(
    "lab-cheap-softmax",
    source=OURS,
    title="The two largest scores replace softmax; linear and low-rank stand-ins do not",
    statement="A machine-made review of HG2 asks for cheaper approximations of softmax. Ours: "
    "after the one step, weights from the two largest scores alone are right on every input in "
    f"most runs, as with softmax, while 1 + score and {FEATURES} positive random features are "
    "wrong on some input in most runs, at any gain tried.",
    quick={"sizes": (64,)},
    full={"sizes": (64, 256, 1024, 4096), "runs": 200},
    settings={
        "m": "12 ln n",
        "gains": "9 from 4 to 400, chosen on half of the runs, judged on the rest",
        "positions": "balanced signs",
    },
    seconds=(2, 5, 120),
)
def cheap_softmax(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024),
    runs: int = 64,
    *,
    solved_with: Callable[..., np.ndarray] = solved_with,
) -> StandIns:
    gains = np.geomspace(4, 400, 9)
    cells = []
    for n in trial.track(sizes):
        right = {}
        for name in STAND_INS:
            solved = solved_with(name, n, usual_width(n), gains, runs=runs, seed=trial.seed)
            best = int(solved[:, ::2].mean(axis=1).argmax())
            right[name] = Rate.of(solved[best, 1::2])
        cells.append(StandInCell(n, right))
    return StandIns(cells)


@cheap_softmax.planted("random features that are softmax itself", turns="refuted")
def _perfect_features(trial: Trial) -> StandIns:
    def planted(name: str, *rest: Any, **more: Any) -> np.ndarray:
        return solved_with("softmax" if name == "random features" else name, *rest, **more)

    return cheap_softmax.measure(trial, **cheap_softmax.quick, solved_with=planted)


@cheap_softmax.judge
def _cheap_softmax(s: StandIns) -> Judged:
    by_name = {name: [cell.right[name] for cell in s.sizes] for name in STAND_INS}
    listed = "; ".join(f"{name} {', '.join(map(str, rates))}" for name, rates in by_name.items())
    text = f"Right on every input at n = {', '.join(str(cell.n) for cell in s.sizes)}: {listed}."
    able = [rate for name in STAND_INS if name not in FAILING for rate in by_name[name]]
    lame = [rate for name in FAILING for rate in by_name[name]]
    if max(rate.high - rate.low for rate in able + lame) > WIDE:
        return undecided(f"{text} A share is too uncertain.")
    least, most = min(rate.low for rate in able), max(rate.high for rate in lame)
    if least > 0.5 > most:
        return holds(text, margin=min(least - 0.5, 0.5 - most))
    worst = min(rate.high for rate in by_name["two largest"])
    best = max(rate.low for rate in lame)
    if worst < 0.5 or best > 0.5:
        return refuted(text, instead=text, margin=max(0.5 - worst, best - 0.5))
    return undecided(f"{text} A share is too near one half.")


@record()
class BandCell:
    """Gains (inverse temperatures) at one n between which half of the steps are right on every
    input, random positions. balanced: right with balanced positions at the largest gain."""

    n: int
    low: float = shown("lower end of the band of gains")
    high: float = shown("upper end of the band of gains")
    balanced: Rate = shown("steps right at the largest gain, balanced positions")

    def __str__(self) -> str:
        return f"n = {self.n:,}"


@record()
class Band:
    """ratio: how upper over lower end grows with n."""

    cells: list[BandCell]
    ratio: PowerLaw = shown("power of n in the ratio of the ends")
    top: float = shown("largest gain")


@claim(
    "lab-temperature-band",
    source=OURS,
    title="The band of temperatures widens with n, and has no cold end on balanced positions",
    statement="A machine-made review of HG2 says that the pair is isolated only in a narrow band "
    "of temperatures. Ours, against it: with random positions the gains (inverse temperatures) "
    "that are right on every input span a ratio that grows like a power of n, and balanced "
    "positions serve at the largest gain tried as well.",
    quick={"draws": 3},
    full={"sizes": (256, 1024, 4096, 16_384, 65_536, 262_144), "draws": 20},
    settings={"m": "12 ln n", "gains": "40 from 4 to 4000", "pairs per draw of positions": 5},
    seconds=(4, 7, 120),
)
def temperature_band(
    trial: Trial,
    sizes: Sequence[int] = (256, 1024, 4096, 16_384, 65_536),
    draws: int = 6,
    *,
    step: Callable[..., Any] = streamed_step,
) -> Band:
    gains, seeds = np.geomspace(4, 4000, 40), [seed_of(trial.seed, d) for d in range(draws)]
    cells = []
    for n in trial.track(sizes):
        shares = [
            np.concatenate(
                [
                    step(n, usual_width(n), gains, pairs=5, balanced=even, seed=seed).error
                    <= SOLVED_ERROR
                    for seed in seeds
                ],
                axis=1,
            )
            for even in (False, True)
        ]
        inside = gains[shares[0].mean(axis=1) > 0.5]
        ends = (float(inside.min()), float(inside.max())) if inside.size else (np.nan, np.nan)
        cells.append(BandCell(n, *ends, Rate.of(shares[1][-1])))
    wide = np.array([cell.high / cell.low for cell in cells])
    known = bool(np.isfinite(wide).all())
    ratio = power_law(sizes, wide) if known else PowerLaw(np.nan, np.nan, np.nan, np.nan)
    return Band(cells, ratio, float(gains[-1]))


@temperature_band.planted("positions that are called balanced and are not", turns="refuted")
def _not_balanced(trial: Trial) -> Band:
    return temperature_band.measure(
        trial,
        sizes=(256, 1024, 4096),
        draws=4,
        step=lambda *sizes, balanced, **rest: streamed_step(*sizes, balanced=False, **rest),
    )


@temperature_band.judge
def _temperature_band(b: Band) -> Judged:
    bands = ", ".join(f"{cell.low:.0f} to {cell.high:.0f} ({cell})" for cell in b.cells)
    rates = [cell.balanced for cell in b.cells]
    text = (
        f"Half of the steps are right on every input at gains {bands}; the ratio of the ends grows "
        f"like n^{b.ratio}. At gain {b.top:.0f} balanced positions are right in "
        f"{', '.join(map(str, rates))}."
    )
    if max(rate.high - rate.low for rate in rates) > WIDE or np.isnan(b.ratio.low):
        return undecided(f"{text} A share is too uncertain.")
    least, closed = min(rate.low for rate in rates), min(rate.high for rate in rates)
    if b.ratio.low > 0 and least > 0.5:
        return holds(text, margin=min(b.ratio.low, least - 0.5), interval=b.ratio)
    if b.ratio.high < 0 or closed < 0.5:
        margin = max(-b.ratio.high, 0.5 - closed)
        return refuted(text, instead=text, margin=margin, interval=b.ratio)
    return undecided(f"{text} Nothing of this is clear.", interval=b.ratio)


@temperature_band.figure
def _band_figure(b: Band) -> Lines:
    sizes = [cell.n for cell in b.cells]
    return Lines(
        [
            Line("upper end, random positions", sizes, [cell.high for cell in b.cells]),
            Line("lower end", sizes, [cell.low for cell in b.cells]),
        ],
        x="n",
        y="gain",
        log="xy",
        caption="Gains between which half of the single steps are right on every input.",
    )


@record()
class TwoLayers:
    """stacked: by n, right on every fresh input with the inner parities as labels."""

    label: float = shown("largest part of the label in the first layer's gradient", predicted=0)
    stacked: dict[str, Rate] = shown("runs right on every input with the inner parities as labels")
    error: float = shown("largest error")
    inputs: int = shown("fresh inputs")


@claim(
    "lab-two-layers",
    source=OURS,
    title="Two layers of pairs take a parity of four, if the inner parities are labels too",
    statement="A machine-made review of HG2 asks for higher degree by more layers. A first look: "
    "of a 4-parity the label adds nothing to the first layer's gradient, wherever its directions "
    "are; with the two inner parities as its labels one step per layer is right on every input "
    "tried in most runs.",
    quick={"sizes": (64,), "runs": 16},
    full={"sizes": (64, 256, 1024, 4096), "runs": 100},
    settings={"m": "12 ln n", "gain": "2 ln n + 6", "fresh inputs": 2000, "exact part": "n = 10"},
    seconds=(1, 3, 60),
)
def two_layers(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024),
    runs: int = 20,
    *,
    gain: Callable[[int], float] = default_gain,
) -> TwoLayers:
    inputs, stacked, largest = 2000, {}, 0.0
    for n in trial.track(sizes):
        found = [
            stacked_layers(n, usual_width(n), gain(n), inputs, [trial.seed, n, run])
            for run in range(runs)
        ]
        stacked[f"n = {n}"] = Rate.of([right for right, _ in found])
        largest = max(largest, *(error for _, error in found))
    label = max(label_in_first_gradient(10, 24, 0.5, [trial.seed, run]) for run in range(8))
    return TwoLayers(label, stacked, largest, inputs)


@two_layers.planted("steps of length 0", turns="refuted")
def _no_step(trial: Trial) -> TwoLayers:
    return two_layers.measure(trial, **two_layers.quick, gain=lambda n: 0.0)


@two_layers.judge
def _two_layers(t: TwoLayers) -> Judged:
    listed = ", ".join(f"{rate} ({n})" for n, rate in t.stacked.items())
    text = (
        f"The label's part of the first layer's gradient is at most {t.label:.0e}. With the inner "
        f"parities given, every one of {t.inputs} inputs is right in {listed}; largest error "
        f"{t.error:.2g}."
    )
    rates = list(t.stacked.values())
    least, worst = min(rate.low for rate in rates), min(rate.high for rate in rates)
    if t.label > 1e-9 or worst < 0.5:
        return refuted(text, instead=text, margin=max(0.5 - worst, 0.0))
    if max(rate.high - rate.low for rate in rates) > WIDE:
        return undecided(f"{text} A share is too uncertain.")
    if least > 0.5:
        return holds(text, margin=least - 0.5)
    return undecided(f"{text} A share is too near one half.")
