"""Rows whose hidden bits share a sign: what they make learnable, and how many are needed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paritylab.claims import DM, Trial, at_least, at_most, claim, control
from paritylab.experiments.dm_mixture import train_on_mixture
from paritylab.problem import random_parities

#: Rows per step, where no other number is named.
BATCH = 64

#: Steps of the curriculum; the first 2 % of them see biased rows.
FIRST_STEPS = 1000

#: The share of biased rows, steps, rows per step. E[y·x_j] = α on B is α·√(rows·steps) standard
#: errors from 0, so about 1/α² rows are needed in all.
Cells = Sequence[tuple[float, int, int]]


@claim(
    "dm-mixture",
    DM("Abstract, as told in HG1; shares: Malach et al. 2103.01210; order: Abbe et al. 2306.16921"),
    quick={"runs": 6, "cells": ((0.0, 1000, 64), (0.2, 1000, 64))},
    full={
        "n": 100,
        "runs": 40,
        "steps": 4000,
        "cells": (
            (0.0, 12_000, 256),
            (0.1, 12_000, 64),
            (0.03, 12_000, 64),
            (0.01, 12_000, 256),
        ),
    },
    more="runs",
    planted=(
        "the net has a frozen hidden layer on the mixtures too, so no share is enough",
        {"mixed": {"frozen": True}},
        "refuted",
    ),
)
def mixture(
    trial: Trial,
    n: int = 50,
    k: int = 7,
    runs: int = 12,
    steps: int = 800,
    cells: Cells = (
        (0.0, 4000, 256),
        (0.1, 4000, 64),
        (0.03, 4000, 256),
        (0.01, 4000, 256),
    ),
    *,
    mixed: Mapping[str, Any] = {},
) -> Iterator[Any]:
    """Biased inputs, down to 1 % of them, let a net learn parity, and no fixed features.

    If half of the inputs are uniform and in the other half all bits of the hidden set share one
    sign, gradient descent on one hidden layer of 128 neurons learns the parity (k odd), and linear
    classifiers on fixed features do not. With any share α > 0 of such inputs a net of 64 neurons
    learns it once it has seen enough rows, about 1/α² in all; with α = 0 it does not with as many.
    A curriculum of biased rows in the first 2 % of 1,000 steps of 64 rows and uniform ones after
    serves as well. A run has learned if its accuracy is at least 0.85. Control (ours): on uniform
    inputs the first net is still at chance after the same steps. The net has clipped ReLUs, an
    antisymmetric start and a hinge loss with L2 decay (recalled; the full text is not at hand).
    Rate 0.5, decay 0.001, starts of ±0.1/√n, thresholds uniform in ±1 and 64 fresh rows per step in
    place of the population are ours.
    """
    targets = random_parities(n, k, runs, key=trial.seed)
    arms: dict[str, Mapping[str, Any]] = {
        "half of the inputs biased": mixed,
        "uniform inputs": {"mixture": 0.0},
        "half biased, frozen features": {"frozen": True},
        "half biased, frozen features ten times larger": {"frozen": True, "start": 1.0},
    }
    for name, changes in arms.items():
        found = train_on_mixture(targets, BATCH, trial.seed, **{"steps": steps, **changes})
        label = f"runs that learn, {name}, n = {n}, k = {k}"
        asked = (at_least if changes is mixed else at_most)(label, found, 0.5)
        yield control(asked) if name == "uniform inputs" else asked
    for at, (share, several, rows) in enumerate(trial.track([*cells, (0.0, FIRST_STEPS, BATCH)])):
        first = at == len(cells)
        how = {"mixture": share, "shared_first": 0.02 if first else 0.0, **mixed}
        found = train_on_mixture(targets, rows, trial.seed, width=64, steps=several, **how)
        name = "biased rows first" if first else f"α = {share:g}"
        label = f"runs that learn, {name}, {several:,} steps of {rows} rows"
        yield (at_least if share or first else at_most)(label, found, 0.5)
