"""Where training starts."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from paritylab.claims import HG1, Trial, claim, instead, note, within
from paritylab.learning import Heads, Population, learn
from paritylab.models import Zigzag
from paritylab.problem import random_parities
from paritylab.statistics import Mean

#: A mean of 1 is known to this.
NEAR = 0.125


@claim(
    "hg1-start-risk",
    HG1("Theorem 5"),
    quick={"sizes": (8, 12), "runs": 32},
    full={"sizes": (8, 12, 16, 20, 24), "runs": 400},
    more="runs",
    certificate="hg1-start-risk",
    planted=(
        "one head at n = 8, tau = 1 whose readout is smoothed by b = 0.11",
        {"sizes": (8,), "runs": 400, "heads": (1,), "temperatures": ("1",), "b": 0.11},
        "holds",
    ),
)
def start_risk(
    trial: Trial,
    sizes: Sequence[int] = (8, 20),
    runs: int = 64,
    *,
    heads: Sequence[int] = (1, 2, 3),
    temperatures: Sequence[str] = ("1/n", "1"),
    b: float = 0.0,
) -> Iterator[Any]:
    """The mean risk at the start is 1, readout without smoothing (b = 0).

    Since the loss at initialisation is 1: with k = 1, 2, 3 heads at random angles and random sets B
    the mean squared-hinge risk before the first step is 1. Tried at the proof's temperature 1/n
    and at the softest one allowed, tau = 1; "1" is an interval of the mean between 0.875 and 1.125.
    """
    least, lowest = [], []
    for tau, k, n in trial.track(list(product(temperatures, heads, sizes))):
        # Without a step the learner's result is the random start with its exact risk.
        learner = Heads.paper(readout=Zigzag(k, b), tau=tau, steps=0)
        data = Population(random_parities(n, k, runs, key=trial.seed))
        risks = learn(learner, data, key=trial.seed).risk
        mean = Mean.of(risks)
        label = f"mean risk at the start, n = {n}, k = {k}, tau = {tau}"
        yield within(label, mean, 1 - NEAR, 1 + NEAR)
        least.append(float(risks.min()))
        lowest.append(mean.low)
    yield note("smallest risk of a single start, all sizes", min(least))
    yield instead(
        f"At b = {b:g} the mean risk at the start is at least {min(lowest):.2f} at every size and "
        "temperature tried."
    )
