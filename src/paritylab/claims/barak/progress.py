"""Online SGD: do the weights move before the loss does, and does the movement tell progress?"""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import (
    BARAK,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    corrected,
    holds,
    refuted,
    undecided,
)
from paritylab.learning import Fresh, HingeNet, learn
from paritylab.problem import random_parities
from paritylab.statistics import Rate, mean_interval

#: Accuracy at which the loss has moved; 1,024 strings know it to 1.6 points.
MOVED = 0.6
#: Factor by which the probe must exceed the control's to say anything of progress.
TELLS = 1.1
#: The control's labels: the parity, with this noise.
NO_RULE = 0.4999


class Progress(NamedTuple):
    """One entry per run that learned, unless said otherwise.

    learned: all runs. start: step at which the accuracy first exceeds 0.6. share: ‖w_t - w_0‖_∞ at
    half of that time, in units of its value at that time. ratio: the same probe at half time over
    that of the same run on labels without a rule. parted: when the probe first exceeds the
    control's by half, in units of `start`. steps, accuracy, moved, control: the traces of the
    first run that learned.
    """

    learned: Rate
    start: np.ndarray
    share: np.ndarray
    ratio: np.ndarray
    parted: np.ndarray
    steps: np.ndarray
    accuracy: np.ndarray
    moved: np.ndarray
    control: np.ndarray


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
    shown = learned[0] if len(learned) else 0
    return Progress(
        Rate(len(learned), runs),
        start * every,
        moved[at] / moved[learned, start],
        moved[at] / np.maximum(control[at], 1e-12),
        parted,
        found.trace["step"],
        *(table[shown] for table in (accuracy, moved, control)),
    )


@progress.judge
def _progress(p: Progress) -> Judged:
    if p.learned.low < 0.5 or len(p.ratio) < 2:
        return undecided(f"The loss moved in {p.learned} of runs only.", evidence="sampled")
    low, high = (math.exp(end) for end in mean_interval(np.log(p.ratio)))
    ratio, start = math.exp(float(np.mean(np.log(p.ratio)))), float(np.median(p.start))
    share, parted = float(np.median(p.share)), float(np.median(p.parted))
    text = (
        f"The loss moves after {start:,.0f} steps (median). At half of that time ‖w_t - w_0‖_∞ "
        f"has {share:.0%} of its size there and is {ratio:.2f} [{low:.2f}, {high:.2f}] times that "
        f"of the same runs on labels without a rule; it exceeds theirs by half only at "
        f"{parted:.0%} of the time."
    )
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "interval": (low, high),
        "runs": p.learned.runs,
        "measured": {
            "runs whose loss moved": str(p.learned),
            "step at which it moved, median": start,
            "probe at half time over its value then, median": share,
            "probe at half time over the control's": [ratio, low, high],
            "time at which it exceeds the control's by half, median": parted,
        },
    }
    if low > TELLS:
        return holds(text, margin=low - TELLS, **shared)
    if high < TELLS and share > 0.1:
        instead = (
            "The weights move long before the loss, but as far as on labels without a rule: this "
            "probe shows the noise of SGD, not progress, until shortly before the loss moves."
        )
        return corrected(text, instead=instead, margin=TELLS - high, **shared)
    if high < TELLS:
        instead = "At half of the time the weights have hardly moved."
        return refuted(text, instead=instead, margin=TELLS - high, **shared)
    return undecided(f"{text} Too few runs to tell the two apart.", **shared)


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
