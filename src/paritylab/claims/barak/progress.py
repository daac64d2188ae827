"""Online SGD: do the weights move before the loss does, and does the movement tell progress?"""

import math
from dataclasses import replace

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
from paritylab.learning import Fresh, HingeNet, learn
from paritylab.problem import random_parities
from paritylab.statistics import Mean, Rate

#: Accuracy at which the loss has moved; 1,024 strings know it to 1.6 points.
MOVED = 0.6
#: Factor by which the probe must exceed the control's to say anything of progress.
TELLS = 1.1
#: The control's labels: the parity, with this noise.
NO_RULE = 0.4999


@record()
class Progress:
    """One entry per run that learned, unless said otherwise.

    start: step at which the accuracy first exceeds 0.6. share: ‖w_t - w_0‖_∞ at
    half of that time, in units of its value at that time. ratio: the same probe at half time over
    that of the same run on labels without a rule. parted: when the probe first exceeds the
    control's by half, in units of `start`. steps, accuracy, moved, control: the traces of the
    first run that learned.
    """

    learned: Rate = shown("runs whose loss moved")
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

    @derived("probe at half time over the control's, geometric mean")
    def over_control(self) -> Mean | None:
        """Interval in logarithms."""
        if len(self.ratio) < 2:
            return None
        logs = Mean.of(np.log(self.ratio))
        return Mean(math.exp(logs.value), math.exp(logs.low), math.exp(logs.high), logs.runs)

    @derived("time at which it exceeds the control's by half, median")
    def parted_at(self) -> float:
        return float(np.median(self.parted))


@claim(
    "barak-progress",
    source=BARAK("Abstract; progress probe ‖w_t - w_0‖_∞ (settings second-hand)"),
    title="The weights move before the loss does, on labels without a rule as well",
    statement="Online SGD makes continual progress that loss and accuracy do not show: the "
    "movement ‖w_t - w_0‖_∞ of the first layer reveals it long before the loss moves.",
    quick={"runs": 3, "steps": 1200},
    full={"n": 50, "width": 1000, "runs": 40, "steps": 6000},
    settings={
        "k": 3,
        "batch, rate, decay": "32, 0.1, 0.01 (second-hand)",
        "the loss has moved": f"accuracy above {MOVED}",
        "control": "the same runs on labels without a rule",
    },
    seconds=(3, 9, 900),
)
def progress(
    trial: Trial, n: int = 40, width: int = 128, runs: int = 20, steps: int = 2000
) -> Progress:
    targets = random_parities(n, 3, runs, key=trial.seed)
    without = [replace(target, noise=NO_RULE) for target in targets]
    learner, every = HingeNet.barak(width=width, steps=steps), max(steps // 40, 10)
    found = learn(learner, Fresh(targets, 32), key=trial.seed, trace=every)
    trial.report(0.5)
    control = learn(learner, Fresh(without, 32), key=trial.seed, trace=every).trace["moved"]
    accuracy, moved = found.trace["accuracy"], found.trace["moved"]
    learned = np.flatnonzero((accuracy > MOVED).any(axis=1))
    start = (accuracy[learned] > MOVED).argmax(axis=1)
    at = (learned, start // 2)
    beyond = moved[learned] > 1.5 * np.maximum(control[learned], 1e-12)
    parted = np.where(beyond.any(axis=1), beyond.argmax(axis=1), math.inf) / np.maximum(start, 1)
    first = learned[0] if len(learned) else 0
    return Progress(
        Rate(len(learned), runs),
        start * every,
        moved[at] / moved[learned, start],
        moved[at] / np.maximum(control[at], 1e-12),
        parted,
        found.trace["step"],
        *(table[first] for table in (accuracy, moved, control)),
    )


@progress.judge
def _progress(p: Progress) -> Judged:
    ratio = p.over_control
    if p.learned.low < 0.5 or ratio is None:
        return undecided(f"The loss moved in {p.learned} runs only.", interval=p.learned)
    text = (
        f"The loss moves after {p.moved_at:,.0f} steps (median). At half of that time "
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
        return corrected(text, instead=instead, margin=TELLS - ratio.high, interval=ratio)
    if ratio.high < TELLS:
        instead = "At half of the time the weights have hardly moved."
        return refuted(text, instead=instead, margin=TELLS - ratio.high, interval=ratio)
    return undecided(f"{text} Too few runs to tell the two apart.", interval=ratio)


@progress.figure
def _progress_figure(p: Progress) -> Lines:
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
