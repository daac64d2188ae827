"""The one XOR step: positions that make it exact."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import OURS, Trial, at_least, at_most, claim, note
from paritylab.learning.xor.stream import streamed_step
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate

GAINS = np.array([40.0, 80.0, 160.0, 320.0])
#: What counts as exact: the largest |ŷ - y| over every input.
EXACT = 1e-3


def plain_signs(*sizes: Any, balanced: bool, **rest: Any) -> Any:
    """A step that ignores that balanced positions are asked for."""
    return streamed_step(*sizes, balanced=False, **rest)


@claim(
    "lab-xor-balanced",
    OURS,
    quick={"sizes": (64, 1024)},
    full={"sizes": (64, 256, 1024, 16_384, 65_536), "draws": 50},
    more="draws",
    planted=("positions that are called balanced and are not", {"step": plain_signs}, "refuted"),
)
def balanced(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024, 16_384),
    draws: int = 20,
    *,
    step: Callable[..., Any] = streamed_step,
) -> Iterator[Any]:
    """Balanced positions make the XOR step exact at every even n, from gain 40 on.

    Positions are m = 20 ln n signs for each of n bits, n even. If every coordinate is +1 as often
    as -1, the two hidden bits get equal weights, and at any gain from 40 to 320 one step is within
    0.001 of the label on every input for at least 95 % of targets, already at n = 64: a band of
    temperatures without a cold end. Each draw of positions is tried with 10 hidden pairs.
    """
    seeds, imbalance = [seed_of(trial.seed, draw) for draw in range(draws)], 0.0
    for n in trial.track(sizes):
        even, plain = (
            [
                step(n, int(np.ceil(20 * np.log(n))), GAINS, pairs=10, balanced=each, seed=seed)
                for seed in seeds
            ]
            for each in (True, False)
        )
        exact = np.concatenate([(done.error < EXACT).all(axis=0) for done in even])
        label = f"targets within 0.001 from gain 40 on, balanced, n = {n}"
        yield at_least(label, Rate.of(exact), 0.95)
        imbalance = max(imbalance, *(float(done.imbalance.max()) for done in even))
        last = Rate.of(np.concatenate([done.error[-1] < EXACT for done in plain]))
        yield note(f"targets within 0.001 at gain 320, plain signs, n = {n}", last)
    yield at_most("largest difference of the two weights, balanced positions", imbalance, 1e-9)
