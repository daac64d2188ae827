"""Online SGD: what the first gradient ranks, what weights show before the loss moves, what not."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from paritylab.claims import BARAK, Line, Lines, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control, instead, note, repair
from paritylab.learning import Fresh, HingeNet, Runs, learn
from paritylab.learning.neighbours.strings import draw_strings, generator_of
from paritylab.learning.runs import run_keys
from paritylab.problem import Parity, random_parities
from paritylab.statistics import Mean, Rate
from paritylab.theory.neighbours import fourier_gap, rows_to_rank_by_majority

#: Rows held at once.
PIECE = 1 << 16


def first_gradient(target: Parity, rows: int, key: jax.Array) -> tuple[np.ndarray, tuple[int, ...]]:
    """ĝ_j = mean of y·x_j·1[wᵀx > 0] over fresh rows, w of random signs, and its k largest |ĝ_j|.

    With ŷ = 0 at the start this is minus the gradient of hinge and correlation loss in w, up to the
    output weight. Its mean is half of majority's Fourier coefficient times a sign. n: odd.
    """
    generator = generator_of(key, 0)
    weights = generator.choice(np.array([-1.0, 1.0], np.float32), target.n)
    total = np.zeros(target.n)
    for begin in range(0, rows, PIECE):
        packed, labels = draw_strings(generator, target, (min(PIECE, rows - begin),))
        signs = 1 - 2 * np.unpackbits(packed, axis=-1, count=target.n).astype(np.float32)
        total += (labels * (signs @ weights > 0)) @ signs
    order = np.argsort(-np.abs(total), kind="stable")[: target.k]
    return total / rows, tuple(sorted(order.tolist()))


def names_the_set(targets: Sequence[Parity], rows: int, keys: jax.Array) -> np.ndarray:
    """Flags: the k largest entries of each target's first gradient are exactly B."""
    pairs = zip(targets, keys, strict=True)
    return np.array([first_gradient(t, rows, key)[1] == t.subset for t, key in pairs])


#: Rows over those derived for half of the batches; a ReLU neuron is silent on half of its rows,
#: which halves mean and variance of its gradient, so it needs twice majority's rows.
PLENTY, HALF_SEEN = 4, 2


@claim(
    "barak-fourier-gap",
    BARAK("Fourier gap of majority, k even and n odd"),
    quick={"most": 101, "cells": ((33, 2), (129, 2)), "runs": 12},
    full={"most": 2001, "cells": ((513, 2), (21, 4), (33, 4), (49, 4)), "runs": 60},
    more="runs",
    planted=("a fiftieth of the rows", {"most": 51, "plenty": PLENTY / 50}, "refuted"),
)
def gap(
    trial: Trial,
    most: int = 301,
    cells: Sequence[tuple[int, int]] = ((33, 2), (129, 2), (13, 4), (17, 4)),
    runs: int = 14,
    *,
    plenty: float = PLENTY,
) -> Iterator[Any]:
    """Majority's Fourier gap ranks the hidden set from one batch, k = 2 and 4.

    For k even and n odd, n ≥ 2k, majority's coefficients obey |ξ_{k-1}| = ((n-k)/(k-1))·|ξ_{k+1}|,
    and their gap is at least 0.03·(n-1)^(-(k-1)/2); so one batch of order n^(k-1)·ln n rows puts
    the hidden set on top of a ReLU neuron's first gradient at random sign weights. Here a batch has
    4 times the rows derived for half of the batches. n ≥ 2k is our condition: the gap is 0 at
    n = 2k - 1 and negative below.
    """
    pairs = [(n, k) for n in range(5, most + 1, 2) for k in range(2, n // 2 + 1, 2)]
    gaps = [fourier_gap(n, k) for n, k in pairs]
    errors = [
        abs(g.on * (k - 1) / ((n - k) * g.off) - 1) for g, (n, k) in zip(gaps, pairs, strict=True)
    ]
    ratios = np.array([(g.on - g.off) / g.bound for g in gaps])
    n, k = pairs[int(ratios.argmin())]
    yield at_most(f"ratio of the coefficients, relative error, n ≤ {most}", max(errors), 1e-9)
    least = f"least gap over the bound, n ≤ {most} (at n = {n}, k = {k})"
    yield at_least(least, float(ratios.min()), 1)
    for n, k in trial.track(cells):
        rows = math.ceil(plenty * HALF_SEEN * rows_to_rank_by_majority(n, k))
        targets = random_parities(n, k, runs, key=trial.seed)
        named = Rate.of(names_the_set(targets, rows, run_keys(trial.seed, 0, runs)))
        yield at_least(f"batches of {rows:,} rows that rank B, n = {n}, k = {k}", named, 0.5)
        factor = rows / (n ** (k - 1) * math.log(n))
        yield note(f"those rows over n^(k-1)·ln n, n = {n}, k = {k}", factor)


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
