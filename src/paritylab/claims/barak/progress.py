"""Online SGD: what the weights show before the loss moves, and what their movement does not."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paritylab.claims import (
    BARAK,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    corrected,
    derived,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Fresh, HingeNet, Runs, learn
from paritylab.problem import Parity, random_parities
from paritylab.statistics import Mean, Rate

#: Rows per step.
BATCH = 32
#: Accuracy at which the loss has moved; 1,024 strings know it to 1.6 points.
MOVED = 0.6
#: Accuracy that still counts as chance, on average over runs.
CHANCE = 0.55
#: Factor by which the probe must exceed the control's to say anything of progress.
TELLS = 1.1
#: The control's labels: the parity, with this noise.
NO_RULE = 0.4999
SETTINGS = {
    "k": 3,
    "batch, rate, decay": f"{BATCH}, 0.1, 0.01 (second-hand)",
    "learned": f"accuracy above {MOVED}",
}


class _Plateaus:
    """Traced runs; learned: those whose loss moved, start: at which entry of the trace."""

    def __init__(self, targets: Sequence[Parity], done: Runs[Any]) -> None:
        self.accuracy, self.step = done.trace["accuracy"], done.trace["step"]
        self.trace = done.trace
        self.learned = np.flatnonzero((self.accuracy > MOVED).any(axis=1))
        self.start = (self.accuracy[self.learned] > MOVED).argmax(axis=1)
        self.hidden = np.stack([target.indicator > 0 for target in targets])

    def at(self, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Where a share of each learned run's plateau has passed."""
        return self.learned, (share * self.start).astype(int)

    @property
    def rate(self) -> Rate:
        return Rate(len(self.learned), len(self.accuracy))

    @property
    def first(self) -> int:
        return int(self.learned[0]) if len(self.learned) else 0


def _traced(learner: HingeNet, targets: Sequence[Parity], seed: int) -> _Plateaus:
    every = max(learner.steps // 80, 5)
    return _Plateaus(targets, learn(learner, Fresh(targets, BATCH), key=seed, trace=every))


def _geometric(ratios: np.ndarray) -> Mean | None:
    """Geometric mean, its interval taken in logarithms; None of fewer than two runs."""
    if len(ratios) < 2:
        return None
    logs = Mean.of(np.log(ratios))
    return Mean(math.exp(logs.value), math.exp(logs.low), math.exp(logs.high), logs.runs)


@record()
class Hidden:
    """At three quarters of the plateau, over the runs that learned.

    ratio: mean square weight on B over that off B, one entry per run. steps, accuracy, on, off:
    the traces of the first run that learned.
    """

    learned: Rate = shown(f"runs whose accuracy passed {MOVED}")
    start: float = shown("step at which it did, median")
    accuracy: Mean | None = shown("accuracy at 3/4 of that time", predicted="chance", counts=False)
    ratio: Mean | None = shown(
        "mean square weight on B over off B at 3/4 of that time", predicted="> 1", counts=False
    )
    steps: np.ndarray
    path: np.ndarray
    on: np.ndarray
    off: np.ndarray


@claim(
    "barak-progress",
    source=BARAK("Abstract", reading="abstract"),
    title="The weights of the hidden bits grow while the accuracy stands still",
    statement="Online SGD makes continual progress that loss and accuracy do not show. Here: when "
    "three quarters of the plateau have passed the accuracy is still at chance, and the weights "
    "that leave the hidden bits B are larger in mean square than the others.",
    quick={"runs": 24},
    full={"n": 50, "width": 1000, "runs": 40, "steps": 6000},
    settings=SETTINGS,
    # The ratio is about 1.08 and its logarithm varies by 0.09 from run to run, so 40 runs give a
    # standard error of 0.014: the interval reaches 1 in 0.02 % of repetitions.
    seconds=(6, 10, 450),
)
def progress(
    trial: Trial,
    n: int = 40,
    width: int = 128,
    runs: int = 40,
    steps: int = 2000,
    *,
    share: float = 0.75,
) -> Hidden:
    targets = random_parities(n, 3, runs, key=trial.seed)
    plateaus = _traced(HingeNet.barak(width=width, steps=steps), targets, trial.seed)
    squares, at = plateaus.trace["squares"], plateaus.at(share)
    on, off = (
        np.mean(squares, axis=2, where=part[:, None, :])
        for part in (plateaus.hidden, ~plateaus.hidden)
    )
    enough = len(plateaus.learned) > 1
    return Hidden(
        plateaus.rate,
        float(np.median(plateaus.step[plateaus.start])) if enough else math.nan,
        Mean.of(plateaus.accuracy[at]) if enough else None,
        _geometric((on / off)[at]),
        plateaus.step,
        *(table[plateaus.first] for table in (plateaus.accuracy, on, off)),
    )


@progress.judge
def _progress(p: Hidden) -> Judged:
    if p.learned.low < 0.5 or p.ratio is None or p.accuracy is None:
        return undecided(
            f"The accuracy passed {MOVED} in {p.learned} runs only.", interval=p.learned
        )
    text = (
        f"The accuracy passes {MOVED} in {p.learned.count} runs, after {p.start:,.0f} steps "
        f"(median). At three quarters of each run's time it is {p.accuracy.text} on average, and "
        f"the mean square weight on B is {p.ratio.text} times that off B."
    )
    if p.ratio.high < 1:
        instead = "The weights on B are not larger before the accuracy rises."
        return refuted(text, instead=instead, margin=1 - p.ratio.high, interval=p.ratio)
    if p.ratio.low <= 1:
        return undecided(f"{text} Too few runs to tell the two apart.", interval=p.ratio)
    if p.accuracy.low > CHANCE:
        instead = "The weights on B are larger by then, but the accuracy shows it too."
        return corrected(text, instead=instead, margin=p.accuracy.low - CHANCE, interval=p.ratio)
    return holds(text, margin=min(p.ratio.low - 1, CHANCE - p.accuracy.low), interval=p.ratio)


@progress.planted("a look when the loss has moved: the accuracy shows it too", turns="corrected")
def _(trial: Trial) -> Any:
    return progress.measure(trial, runs=12, share=1.0)


@progress.figure
def _progress_figure(p: Hidden) -> Lines:
    return Lines(
        [
            Line("accuracy", p.steps, p.path),
            Line("root mean square weight on B", p.steps, np.sqrt(p.on)),
            Line("off B", p.steps, np.sqrt(p.off), style="--"),
        ],
        x="step",
        y="accuracy, or weight",
        caption="One run of online SGD: the weights on B part from the others before the accuracy.",
    )


@record()
class Probe:
    """One entry per run that learned, unless said otherwise.

    start: step at which the loss moved. share: ‖w_t - w_0‖_∞ at half of that time, in units of its
    value at that time. ratio: the same probe at half time over that of the same run on labels
    without a rule. parted: when the probe first exceeds the control's by half, in units of `start`.
    steps, accuracy, moved, control: the traces of the first run that learned.
    """

    learned: Rate = shown(f"runs whose accuracy passed {MOVED}")
    start: np.ndarray
    share: np.ndarray
    ratio: np.ndarray
    parted: np.ndarray
    steps: np.ndarray
    accuracy: np.ndarray
    moved: np.ndarray
    control: np.ndarray

    @derived("step at which the loss moved, median")
    def moved_at(self) -> float:
        return float(np.median(self.start))

    @derived("probe at half time over its value then, median")
    def half_way(self) -> float:
        return float(np.median(self.share))

    @derived("probe at half time over the control's, geometric mean", predicted="well above 1")
    def over_control(self) -> Mean | None:
        return _geometric(self.ratio)

    @derived("time at which it exceeds the control's by half, median")
    def parted_at(self) -> float:
        return float(np.median(self.parted))


@claim(
    "barak-probe",
    source=BARAK("progress probe ‖w_t - w_0‖_∞"),
    title="The largest movement of a weight grows before the loss moves, without a rule as well",
    statement="The movement ‖w_t - w_0‖_∞ of the first layer reveals the progress of online SGD "
    "long before the loss moves.",
    quick={"runs": 3, "steps": 1200},
    full={"n": 50, "width": 1000, "runs": 40, "steps": 6000},
    settings={**SETTINGS, "control": "the same runs on labels without a rule"},
    # If the truth is 1, the logarithm of the ratio varies by 0.15 from run to run and 60 runs, of
    # which 57 learn, give a standard error of 0.02: the interval reaches ln 1.1 in 0.3 % of cases.
    seconds=(3, 15, 900),
)
def probe(
    trial: Trial,
    n: int = 40,
    width: int = 128,
    runs: int = 60,
    steps: int = 2000,
    *,
    control_rate: float = 0.1,
) -> Probe:
    targets = random_parities(n, 3, runs, key=trial.seed)
    learner = HingeNet.barak(width=width, steps=steps)
    plateaus = _traced(learner, targets, trial.seed)
    trial.report(0.5)
    without = [replace(target, noise=NO_RULE) for target in targets]
    control = _traced(replace(learner, eta=control_rate), without, trial.seed).trace["moved"]
    moved, learned, start = plateaus.trace["moved"], plateaus.learned, plateaus.start
    at = plateaus.at(0.5)
    beyond = moved[learned] > 1.5 * np.maximum(control[learned], 1e-12)
    parted = np.where(beyond.any(axis=1), beyond.argmax(axis=1), math.inf) / np.maximum(start, 1)
    return Probe(
        plateaus.rate,
        plateaus.step[start],
        moved[at] / moved[learned, start],
        moved[at] / np.maximum(control[at], 1e-12),
        parted,
        plateaus.step,
        *(table[plateaus.first] for table in (plateaus.accuracy, moved, control)),
    )


@probe.judge
def _probe(p: Probe) -> Judged:
    ratio = p.over_control
    if p.learned.low < 0.5 or ratio is None:
        return undecided(
            f"The accuracy passed {MOVED} in {p.learned} runs only.", interval=p.learned
        )
    text = (
        f"The accuracy passes {MOVED} after {p.moved_at:,.0f} steps (median). At half of that time "
        f"‖w_t - w_0‖_∞ has {p.half_way:.2f} of its size there and is {ratio} times that of the "
        f"same runs on labels without a rule; it exceeds theirs by half only at {p.parted_at:.2f} "
        "of the time."
    )
    if ratio.low > TELLS:
        return holds(text, margin=ratio.low - TELLS, interval=ratio)
    if ratio.high < TELLS and p.half_way > 0.1:
        instead = (
            "The weights move long before the loss, but as far as on labels without a rule: this "
            "probe shows the noise of SGD, not progress, until shortly before the loss moves."
        )
        return corrected(
            text,
            instead=instead,
            margin=TELLS - ratio.high,
            interval=ratio,
            counterexample=True,
        )
    if ratio.high < TELLS:
        instead = "At half of the time the weights have hardly moved."
        return refuted(text, instead=instead, margin=TELLS - ratio.high, interval=ratio)
    return undecided(f"{text} Too few runs to tell the two apart.", interval=ratio)


@probe.figure
def _probe_figure(p: Probe) -> Lines:
    return Lines(
        [
            Line("accuracy", p.steps, p.accuracy),
            Line("‖w_t - w_0‖_∞", p.steps, p.moved),
            Line("the same, labels without a rule", p.steps, p.control, style="--"),
        ],
        x="step",
        y="accuracy, or movement",
        caption="One run of online SGD: the probe follows the control until the loss moves.",
    )


@probe.planted("a control at a tenth of the rate, which noise moves less", turns="holds")
def _(trial: Trial) -> Any:
    return probe.measure(trial, runs=12, control_rate=0.01)
