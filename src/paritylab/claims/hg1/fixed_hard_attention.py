"""Frozen attention as an experiment, and frozen hard attention: Corollary 20 and Remark 13."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG1, Trial, at_least, claim, control, note
from paritylab.claims.hg1.fixed_heads import smallest_worst_risk
from paritylab.learning import AllInputs, FrozenAttention, learn
from paritylab.problem import random_parities
from paritylab.statistics import Mean
from paritylab.theory import hg1

#: Below this a difference that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-12


@claim(
    "hg1-cor20",
    HG1("Corollary 20, Remark 13"),
    quick={"sizes": (4, 6), "draws": 100},
    full={"draws": 1000},
    evidence="exact",
    planted=(
        "heads that pass on the mean over tied maxima read many bits",
        {"sizes": (5,), "draws": 4, "average": True},
        "refuted",
    ),
)
def cor20(
    trial: Trial, sizes: Sequence[int] = (4, 6, 8), draws: int = 200, *, average: bool = False
) -> Iterator[Any]:
    """Fixed hard attention of m heads fails with any head on top, n = 4 to 8, m up to n.

    With fixed hard attention there is a set B with risk at least 1 - 2m/2^⌈(n-1)/m⌉ for every
    classification head; the risk is close to chance unless m scales linearly with n. The printed
    bound alone asks for m of order n/log n; linear scaling is tested by a bound of ours,
    1 - min_R min(m/2^R, 2m/2^R/(n-mR)) over R < n/m, which is at least 1 - 2m/n. Tried for m = 1
    to n and every non-empty B; a head picks the first of tied positions.
    """
    cells = [(n, m) for n in sizes for m in range(1, n + 1)]
    found = [
        smallest_worst_risk(*cell, draws=draws, seed=trial.seed, average=average)
        for cell in trial.track(cells)
    ]
    printed = np.array([hg1.fixed_hard_attention(*cell) for cell in cells])
    ranked = np.array([hg1.fixed_hard_attention_ranked(*cell) for cell in cells])
    any_size, each_size = np.transpose(found)
    for what, over in (
        ("largest risk over all B minus the printed bound", any_size - printed),
        ("largest risk over all B of one size minus our bound", each_size - ranked),
    ):
        n, m = cells[int(over.argmin())]
        yield at_least(f"{what}, nearest at n = {n}, m = {m}", over.min(), -ROUNDING)
    yield note("fixed attentions tried", (draws + 3) * len(cells))


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
