"""Sign descent with z^k: rows that suffice."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from paritylab.claims import KOU, Trial, at_least, at_most, claim, note
from paritylab.claims.half_points import HalfPoints
from paritylab.learning import Fresh, SignDescent, learn
from paritylab.problem import random_parities
from paritylab.statistics import Rate

#: Rows a step over n^(k-1) by k, in steps of 1.5.
FACTORS = {
    2: tuple(4 * 1.5**power for power in range(6)),
    3: tuple(1.3 * 1.5**power for power in range(7)),
    4: tuple(2.0**power for power in range(6)),
}


@claim(
    "kou-samples",
    KOU("Abstract", reading="abstract"),
    quick={"sizes": {2: (28, 84)}, "factors": {2: (4, 9, 20, 30)}, "runs": 12},
    full={
        "sizes": {2: (16, 32, 64, 128, 256), 3: (12, 17, 24, 34, 48), 4: (12, 16, 20)},
        "runs": 40,
    },
    more="runs",
    planted=("labels without a rule: half of them are flipped", {"noise": 0.4999}, "refuted"),
)
def samples(
    trial: Trial,
    sizes: Mapping[int, Sequence[int]] = {2: (28, 56, 112), 3: (10, 16, 26)},
    factors: Mapping[int, Sequence[float]] = FACTORS,
    runs: int = 24,
    *,
    noise: float = 0.0,
) -> Iterator[Any]:
    """Rows of order n^(k-1) suffice for sign descent, k = 2 and 3.

    Sign descent on a net of 2^Θ(k) neurons learns k-parity from Õ(n^(k-1)) samples. Here: with
    30n rows a step at k = 2 and 15n² at k = 3, 40 steps, most runs are right at every n, and the
    rows that half of them need grow no faster than n^(k-1)·ln n. The net has 8·2^k neurons z^k with
    fixed outputs ±1; the rate 0.1 is ours, the decay 1 and the dead zone 0.1·k! are recalled (the
    full text is not at hand). Rows are tried in steps of 1.5; the intervals of the exponents do not
    count that step.
    """
    for k, each in sizes.items():
        needed = HalfPoints()
        power = "n" if k == 2 else f"n^{k - 1}"
        for n in trial.track(each):
            targets = random_parities(n, k, runs, key=trial.seed, noise=noise)
            grid = [round(factor * n ** (k - 1)) for factor in factors[k]]
            flags = [
                learn(SignDescent(8 * 2**k), Fresh(targets, rows), key=trial.seed).solved
                for rows in grid
            ]
            half = needed.add(n, np.array(grid) / np.log(n), flags)
            label = f"runs right with {factors[k][-1]:.2g}{power} rows a step, n = {n}, k = {k}"
            yield at_least(label, Rate.of(flags[-1]), 0.5)
            label = f"rows a step for half of the runs over ln n, n = {n}, k = {k}"
            yield note(label, half)
        label = f"exponent in n of the rows that half of the runs need over ln n, k = {k}"
        yield at_most(label, needed.law(), k - 1)
