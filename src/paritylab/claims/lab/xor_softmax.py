"""What softmax in the one XOR step may be replaced by, how hot it may be, and two such layers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import OURS, Judged, Line, Lines, Trial, claim, holds, refuted, undecided
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
from paritylab.statistics import PowerLaw, Rate, power_law

#: A share is clear if its interval is at most this wide.
WIDE = 0.25
FAILING = ("one plus score", "random features")


class StandIns(NamedTuple):
    """Shares right on every input, by stand-in and size; gain chosen on the other half of runs."""

    n: list[int]
    right: dict[str, list[Rate]]

    @property
    def rates(self) -> list[Rate]:
        return [rate for rates in self.right.values() for rate in rates]


@claim(
    "lab-cheap-softmax",
    source=OURS,
    title="The two largest scores replace softmax; linear and low-rank stand-ins do not",
    statement="A review of HG2 asks for cheaper approximations of softmax. Ours: after the one "
    "step, weights from the two largest scores alone are right on every input as often as softmax, "
    f"while 1 + score and {FEATURES} positive random features are wrong on some input, at any gain "
    "tried.",
    quick={"sizes": (64,)},
    full={"sizes": (64, 256, 1024, 4096), "runs": 200},
    settings={
        "m": "12 ln n",
        "gains": "9 from 4 to 400, chosen on half of the runs, judged on the rest",
        "positions": "balanced signs",
    },
    seconds=(2, 5, 120),
)
def cheap_softmax(trial: Trial, sizes: Sequence[int] = (64, 256, 1024), runs: int = 64) -> StandIns:
    gains = np.geomspace(4, 400, 9)
    right: dict[str, list[Rate]] = {name: [] for name in STAND_INS}
    for n in trial.track(sizes):
        for name in STAND_INS:
            solved = solved_with(name, n, usual_width(n), gains, runs=runs, seed=trial.seed)
            best = int(solved[:, ::2].mean(axis=1).argmax())
            right[name].append(Rate.of(solved[best, 1::2]))
    return StandIns(list(sizes), right)


@cheap_softmax.judge
def _cheap_softmax(s: StandIns) -> Judged:
    listed = {name: ", ".join(map(str, rates)) for name, rates in s.right.items()}
    text = (
        f"Right on every input at n = {', '.join(map(str, s.n))}: "
        + "; ".join(f"{name} {rates}" for name, rates in listed.items())
        + "."
    )
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "runs": sum(rate.runs for rate in s.rates),
        "measured": {f"right with {name}": rates for name, rates in listed.items()},
    }
    able = min(rate.low for name in STAND_INS if name not in FAILING for rate in s.right[name])
    lame = max(rate.high for name in FAILING for rate in s.right[name])
    if max(rate.high - rate.low for rate in s.rates) > WIDE:
        return undecided(f"{text} A share is too uncertain.", **shared)
    if able > 0.5 > lame:
        return holds(text, margin=min(able - 0.5, 0.5 - lame), **shared)
    worst = min(rate.high for rate in s.right["two largest"])
    best = max(rate.low for name in FAILING for rate in s.right[name])
    if worst < 0.5 or best > 0.5:
        return refuted(text, instead=text, margin=max(0.5 - worst, best - 0.5), **shared)
    return undecided(f"{text} A share is too near one half.", **shared)


class Band(NamedTuple):
    """Gains (inverse temperatures) at which half of the steps are right on every input.

    low, high: the ends with random positions. ratio: how high/low grows with n. balanced: share
    right with balanced positions at the largest gain, at every n. top: that gain.
    """

    n: list[int]
    low: list[float]
    high: list[float]
    ratio: PowerLaw
    balanced: list[Rate]
    top: float


@claim(
    "lab-temperature-band",
    source=OURS,
    title="The band of temperatures widens with n, and has no cold end on balanced positions",
    statement="A review of HG2 says that the pair is isolated only in a narrow band of "
    "temperatures. Ours: with random positions the gains that are right on every input span a "
    "ratio that grows like a power of n, and balanced positions serve at any larger gain.",
    quick={"draws": 3},
    full={"sizes": (256, 1024, 4096, 16_384, 65_536, 262_144), "draws": 20},
    settings={"m": "12 ln n", "gains": "40 from 4 to 4000", "pairs per draw of positions": 5},
    seconds=(4, 7, 120),
)
def temperature_band(
    trial: Trial, sizes: Sequence[int] = (256, 1024, 4096, 16_384, 65_536), draws: int = 6
) -> Band:
    gains = np.geomspace(4, 4000, 40)
    low, high, balanced = [], [], []
    for n in trial.track(sizes):
        shares = [
            np.concatenate(
                [
                    streamed_step(
                        n, usual_width(n), gains, pairs=5, balanced=even, seed=1000 * trial.seed + d
                    ).error
                    <= SOLVED_ERROR
                    for d in range(draws)
                ],
                axis=1,
            )
            for even in (False, True)
        ]
        inside = gains[shares[0].mean(axis=1) > 0.5]
        low.append(float(inside.min()) if inside.size else np.nan)
        high.append(float(inside.max()) if inside.size else np.nan)
        balanced.append(Rate.of(shares[1][-1]))
    wide = np.array(high) / np.array(low)
    known = bool(np.isfinite(wide).all())
    ratio = power_law(sizes, wide) if known else PowerLaw(np.nan, np.nan, np.nan, np.nan)
    return Band(list(sizes), low, high, ratio, balanced, float(gains[-1]))


@temperature_band.judge
def _temperature_band(b: Band) -> Judged:
    bands = ", ".join(
        f"{low:.0f} to {high:.0f} (n = {n:,})"
        for n, low, high in zip(b.n, b.low, b.high, strict=True)
    )
    text = (
        f"Half of the steps are right on every input at gains {bands}; the ratio of the ends grows "
        f"like n^{b.ratio}. At gain {b.top:.0f} balanced positions are right in "
        f"{', '.join(map(str, b.balanced))}."
    )
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "interval": None if np.isnan(b.ratio.low) else (b.ratio.low, b.ratio.high),
        "runs": sum(rate.runs for rate in b.balanced),
        "measured": {
            "lower end": dict(zip(b.n, b.low, strict=True)),
            "upper end": dict(zip(b.n, b.high, strict=True)),
            "power of n in their ratio": str(b.ratio),
        },
    }
    least = min(rate.low for rate in b.balanced)
    if max(rate.high - rate.low for rate in b.balanced) > WIDE or np.isnan(b.ratio.low):
        return undecided(f"{text} A share is too uncertain.", **shared)
    if b.ratio.low > 0 and least > 0.5:
        return holds(text, margin=min(b.ratio.low, least - 0.5), **shared)
    closed = min(rate.high for rate in b.balanced)
    if b.ratio.high < 0 or closed < 0.5:
        return refuted(text, instead=text, margin=max(-b.ratio.high, 0.5 - closed), **shared)
    return undecided(f"{text} Nothing of this is clear.", **shared)


@temperature_band.figure
def _band_figure(b: Band) -> Lines:
    return Lines(
        [Line("upper end, random positions", b.n, b.high), Line("lower end", b.n, b.low)],
        x="n",
        y="gain",
        log="xy",
        caption="Gains between which half of the single steps are right on every input.",
    )


class TwoLayers(NamedTuple):
    """label: largest part of the first layer's gradient that depends on the label, exact. stacked:
    by n, right on every fresh input with the inner parities as labels. error: largest."""

    label: float
    stacked: dict[int, Rate]
    error: float
    inputs: int


@claim(
    "lab-two-layers",
    source=OURS,
    title="Two layers of pairs take a parity of four, if the inner parities are labels too",
    statement="A review of HG2 asks for higher degree by more layers. A first look: of a 4-parity "
    "the label adds nothing to the first layer's gradient, wherever its directions are; with the "
    "two inner parities as its labels one step per layer is right on every input tried.",
    quick={"sizes": (64,), "runs": 16},
    full={"sizes": (64, 256, 1024, 4096), "runs": 100},
    settings={"m": "12 ln n", "gain": "2 ln n + 6", "fresh inputs": 2000, "exact part": "n = 10"},
    seconds=(1, 3, 60),
)
def two_layers(trial: Trial, sizes: Sequence[int] = (64, 256, 1024), runs: int = 20) -> TwoLayers:
    inputs, stacked, largest = 2000, {}, 0.0
    for n in trial.track(sizes):
        found = [
            stacked_layers(n, usual_width(n), default_gain(n), inputs, [trial.seed, n, run])
            for run in range(runs)
        ]
        stacked[n] = Rate.of([right for right, _ in found])
        largest = max(largest, *(error for _, error in found))
    label = max(label_in_first_gradient(10, 24, 0.5, [trial.seed, run]) for run in range(8))
    return TwoLayers(label, stacked, largest, inputs)


@two_layers.judge
def _two_layers(t: TwoLayers) -> Judged:
    listed = ", ".join(f"{rate} (n = {n})" for n, rate in t.stacked.items())
    text = (
        f"The label's part of the first layer's gradient is at most {t.label:.0e}. With the inner "
        f"parities given, every one of {t.inputs} inputs is right in {listed}; largest error "
        f"{t.error:.2g}."
    )
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "runs": sum(rate.runs for rate in t.stacked.values()),
        "measured": {
            "label in the first gradient": t.label,
            "right": {n: str(rate) for n, rate in t.stacked.items()},
            "largest error": t.error,
        },
        "predicted": {"label in the first gradient": 0},
    }
    least, worst = (
        min(rate.low for rate in t.stacked.values()),
        min(rate.high for rate in t.stacked.values()),
    )
    if t.label > 1e-9 or worst < 0.5:
        return refuted(text, instead=text, margin=max(0.5 - worst, 0.0), **shared)
    if max(rate.high - rate.low for rate in t.stacked.values()) > WIDE:
        return undecided(f"{text} A share is too uncertain.", **shared)
    if least > 0.5:
        return holds(text, margin=least - 0.5, **shared)
    return undecided(f"{text} A share is too near one half.", **shared)
