"""Heads frozen at random and a trained net on top: the risk against n."""

from collections.abc import Iterator, Sequence
from typing import Any

from paritylab.claims import HG1, Trial, at_least, claim, control, note
from paritylab.learning import AllInputs, learn
from paritylab.learning.hardness.frozen import FrozenAttention
from paritylab.problem import random_parities
from paritylab.statistics import Mean

#: A mean risk above this is near chance, which is 1.
NEAR_CHANCE = 0.9
HIDDEN_BITS = 3


@claim(
    "hg1-frozen-risk",
    HG1("Remark 12, as an experiment"),
    quick={"sizes": (6, 12), "runs": 10, "steps": 300},
    full={"sizes": (6, 8, 10, 12, 14), "runs": 40, "steps": 3000},
    more="runs",
    planted=(
        "as few bits as frozen heads, which then tell them apart",
        {"sizes": (3,)},
        "refuted",
    ),
)
def frozen_risk(
    trial: Trial, sizes: Sequence[int] = (6, 8, 10, 12), runs: int = 12, steps: int = 600
) -> Iterator[Any]:
    """Three frozen random heads leave a trained net at chance once n is large, n = 6 to 12.

    With heads that stay at random directions a trained FFNN-1 does no better than chance, risk 1,
    once n is large: its mean risk at the largest n tried is above 0.9. There are three heads at
    temperature 0.3 and k = 3 hidden bits; the net has 32 neurons and is trained by Adam with step
    0.02 on all inputs.
    """
    risks = {}
    for n in trial.track(sizes):
        data = AllInputs(random_parities(n, HIDDEN_BITS, runs, key=trial.seed))
        done = learn(FrozenAttention(heads=HIDDEN_BITS, steps=steps), data, key=trial.seed)
        risks[n] = Mean.of(done.risk)
        if n != sizes[-1]:
            yield note(f"mean risk after training, n = {n}", risks[n])
        yield note(f"smallest risk of a run, n = {n}", done.risk.min())
    first, last = sizes[0], sizes[-1]
    yield at_least(f"mean risk after training, n = {last}", risks[last], NEAR_CHANCE)
    # Without a rise from the smallest n the largest would say nothing about "once n is large".
    rise = risks[last].value - risks[first].value
    yield control(at_least(f"rise of the mean risk from n = {first} to n = {last}", rise, 0))
