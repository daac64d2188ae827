"""Which functions of a few hidden bits one attention step and a net find."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import OURS, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control
from paritylab.experiments.functions import FUNCTIONS, count_steps_of_net, draw_targets
from paritylab.figures import Heatmap
from paritylab.learning import OneStep, Population, learn
from paritylab.statistics import Rate, difference
from paritylab.theory.juntas import pulls

#: No gain changes which bits a step names.
STEP = OneStep(gain=1.0)

#: The functions that one compiled program per learner serves.
OF_THREE = tuple(name for name, (k, _) in FUNCTIONS.items() if k == 3)


class Found(NamedTuple):
    """One function. named: runs in which one normalised step names B. steps: until the net is
    right, one entry per run, infinite if it is not within its budget; None for real values."""

    name: str
    k: int
    leap: int
    named: Rate
    steps: np.ndarray | None


@claim(
    "lab-functions",
    OURS,
    quick={"runs": 16, "net": 300},
    full={"names": tuple(FUNCTIONS), "runs": 40, "net": 4000},
    more="runs",
    planted=(
        "a step on positions of width 1",
        {"names": OF_THREE[:2], "net": 20, "learner": OneStep(width=1)},
        "refuted",
    ),
)
def functions(
    trial: Trial,
    names: Sequence[str] = OF_THREE,
    n: int = 16,
    runs: int = 20,
    net: int = 600,
    *,
    learner: OneStep = STEP,
) -> Iterator[Any]:
    """The sets that one attention step sees, not degree or leap, tell what it finds of 3 bits.

    Heads read out by cos(πs) see only Fourier sets of size k, k - 2, … of a function of k hidden
    bits. One normalised step names the bits where the visible sets of lowest degree pull every one
    of them, and not otherwise. Leap does not order what it finds: some function is found less often
    than another of higher leap. A ReLU net of 64 neurons trained by SGD on batches of 32 fresh rows
    is ordered by leap: of two functions of equally many bits the one of lower leap is learnt, to
    95 % accuracy, in fewer steps.
    """
    seen = []
    for name in trial.track(names):
        targets = draw_targets(name, n, runs, trial.seed)
        first = targets[0]
        named = learn(learner, Population(targets), key=trial.seed).rate()
        pulled = min(pulls(first).values()) > 0
        kind = f"leap {first.leap}, {'' if pulled else 'not '}pulled"
        label = f"one step names B, n = {n}, {name} ({kind})"
        yield at_least(label, named, 0.5) if pulled else at_most(label, named, 0.5)
        steps = count_steps_of_net(targets, net, trial.seed)
        seen.append(Found(name, first.k, first.leap, named, steps))
    by_leap = [(a, b) for a, b in permutations(seen, 2) if a.leap < b.leap]
    less, more = max(by_leap, key=lambda pair: pair[1].named.low - pair[0].named.high)
    lead = difference(more.named, less.named)
    label = f"one step, share on {more.name} (leap {more.leap}) less {less.name} ({less.leap})"
    yield at_least(label, lead, 0)
    races = 0
    for a, b in by_leap:
        if a.k != b.k or a.steps is None or b.steps is None:
            continue
        races += 1
        sooner = Rate.of(a.steps < b.steps)
        label = f"nets that learn {a.name} (leap {a.leap}) before {b.name} ({b.leap})"
        yield at_least(label, sooner, 0.5)
    yield control(at_least("pairs of different leap that the net learns", races, 1))
    yield _figure(seen)


def _figure(seen: Sequence[Found]) -> Heatmap:
    """Functions × learners as colours."""
    values = [
        (each.named.value, np.nan if each.steps is None else float(np.isfinite(each.steps).mean()))
        for each in seen
    ]
    return Heatmap(
        values,
        x="learner",
        y="function · leap",
        colour="share of runs",
        x_names=["one step", "net"],
        y_names=[f"{each.name} · {each.leap}" for each in seen],
        caption="Share of runs that find a function (one step: names B; ReLU net: right within its "
        "steps). White: not defined.",
    )
