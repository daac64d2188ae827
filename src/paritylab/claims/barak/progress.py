"""Online SGD: what the weights show before the loss moves, and what their movement does not."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paritylab.claims import BARAK, Line, Lines, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control, instead, note, repair
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
#: Noise of the control's labels, which leaves no rule to learn.
NO_RULE = 0.4999
UNKNOWN = Mean(math.nan, math.nan, math.nan, 0)


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
        """The first run that learned, to be shown."""
        return int(self.learned[0]) if len(self.learned) else 0


def _traced(learner: HingeNet, targets: Sequence[Parity], seed: int) -> _Plateaus:
    every = max(learner.steps // 80, 5)
    return _Plateaus(targets, learn(learner, Fresh(targets, BATCH), key=seed, trace=every))


def _mean(values: np.ndarray) -> Mean:
    """The mean with its interval; of fewer than two runs nothing is known."""
    return Mean.of(values) if len(values) > 1 else UNKNOWN


def _geometric(ratios: np.ndarray) -> Mean:
    """Geometric mean, its interval taken in logarithms."""
    logs = _mean(np.log(ratios))
    return Mean(math.exp(logs.value), math.exp(logs.low), math.exp(logs.high), logs.runs)


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else math.nan


@claim(
    "barak-progress",
    BARAK("Abstract", reading="abstract"),
    quick={"runs": 24},
    full={"n": 50, "width": 1000, "runs": 40, "steps": 6000},
    more="runs",
    planted=(
        "a look when the loss has moved: the accuracy shows it too",
        {"runs": 12, "share": 1.0},
        "refuted",
    ),
)
def progress(
    trial: Trial,
    n: int = 40,
    width: int = 128,
    runs: int = 40,
    steps: int = 2000,
    *,
    share: float = 0.75,
) -> Iterator[Any]:
    """The weights of k = 3 hidden bits grow while the accuracy is still at chance.

    Online SGD makes continual progress that loss and accuracy do not show. Here: when three
    quarters of the plateau have passed, the accuracy is still at chance, at most 0.55 on average,
    and the weights that leave the hidden bits B are larger in mean square than the others. The
    plateau of a run ends when its accuracy passes 0.6. Batches of 32 rows, the rate 0.1 and the
    decay 0.01 are known second-hand.
    """
    targets = random_parities(n, 3, runs, key=trial.seed)
    plateaus = _traced(HingeNet.barak(width=width, steps=steps), targets, trial.seed)
    squares, at = plateaus.trace["squares"], plateaus.at(share)
    on, off = (
        np.mean(squares, axis=2, where=part[:, None, :])
        for part in (plateaus.hidden, ~plateaus.hidden)
    )
    yield control(at_least(f"runs whose accuracy passes {MOVED:g}, n = {n}", plateaus.rate, 0.5))
    yield note(
        "step at which it does, the end of the plateau, median",
        _median(plateaus.step[plateaus.start]),
    )
    ratio = _geometric((on / off)[at])
    yield at_least(f"mean square weight on B over off B at ¾ of the plateau, n = {n}", ratio, 1)
    accuracy = _mean(plateaus.accuracy[at])
    yield at_most(f"mean accuracy at ¾ of the plateau, n = {n}", accuracy, CHANCE)
    first, shown = plateaus.first, plateaus.step
    yield Lines(
        [
            Line("accuracy", shown, plateaus.accuracy[first]),
            Line("root mean square weight on B", shown, np.sqrt(on[first])),
            Line("off B", shown, np.sqrt(off[first]), style="--"),
        ],
        x="step",
        y="accuracy, or weight",
        caption="One run of online SGD: the weights on B part from the others before the accuracy.",
    )


@claim(
    "barak-probe",
    BARAK("progress probe ‖w_t - w_0‖_∞"),
    quick={"runs": 20},
    full={"n": 50, "width": 1000, "runs": 40, "steps": 6000},
    more="runs",
    planted=(
        "a control at a tenth of the rate, which noise moves less",
        {"runs": 12, "steps": 2000, "control_rate": 0.01},
        "holds",
    ),
)
def probe(
    trial: Trial,
    n: int = 40,
    width: int = 128,
    runs: int = 60,
    steps: int = 2000,
    *,
    control_rate: float = 0.1,
) -> Iterator[Any]:
    """The largest movement of a weight grows before the loss moves, without a rule as well, k = 3.

    The movement ‖w_t - w_0‖_∞ of the first layer reveals the progress of online SGD long before the
    loss moves. Here: at half of the time it must be more than 1.1 times as large as in the same
    runs on labels without a rule. The loss has moved when the accuracy passes 0.6. Batches of 32
    rows, the rate 0.1 and the decay 0.01 are known second-hand.
    """
    targets = random_parities(n, 3, runs, key=trial.seed)
    learner = HingeNet.barak(width=width, steps=steps)
    plateaus = _traced(learner, targets, trial.seed)
    trial.report(0.5)
    without = [replace(target, noise=NO_RULE) for target in targets]
    unruled = _traced(replace(learner, eta=control_rate), without, trial.seed).trace["moved"]
    moved, learned, start = plateaus.trace["moved"], plateaus.learned, plateaus.start
    at = plateaus.at(0.5)
    beyond = moved[learned] > 1.5 * np.maximum(unruled[learned], 1e-12)
    parted = np.where(beyond.any(axis=1), beyond.argmax(axis=1), math.inf) / np.maximum(start, 1)
    yield control(at_least(f"runs whose accuracy passes {MOVED:g}, n = {n}", plateaus.rate, 0.5))
    yield note(
        "step at which it does, the end of the plateau, median", _median(plateaus.step[start])
    )
    ratio = _geometric(moved[at] / np.maximum(unruled[at], 1e-12))
    label = f"‖w_t - w_0‖_∞ at half of the plateau over that without a rule, n = {n}"
    yield at_least(label, ratio, TELLS)
    half_way = _median(moved[at] / moved[learned, start])
    yield repair(at_least("‖w_t - w_0‖_∞ there over its value at the end, median", half_way, 0.1))
    yield note("share of the plateau at which it is 1.5 times that without", _median(parted))
    yield instead(
        "The weights move long before the loss, but as far as on labels without a rule: this probe "
        "shows the noise of SGD, not progress, until shortly before the loss moves."
    )
    first, shown = plateaus.first, plateaus.step
    yield Lines(
        [
            Line("accuracy", shown, plateaus.accuracy[first]),
            Line("‖w_t - w_0‖_∞", shown, moved[first]),
            Line("the same, labels without a rule", shown, unruled[first], style="--"),
        ],
        x="step",
        y="accuracy, or movement",
        caption="One run of online SGD: the probe follows the control until the loss moves.",
    )
