"""Rows whose hidden bits share a sign: what they make learnable, and how many are needed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paritylab.claims import (
    DM,
    Bars,
    Judged,
    Trial,
    claim,
    corrected,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Fresh, HingeNet, Runs, learn
from paritylab.problem import random_parities
from paritylab.statistics import Rate

#: Accuracy from which on a net has learned. A rule that is right wherever the hidden bits share a
#: sign, and no better than chance elsewhere, reaches 3/4 of the even mixture.
LEARNED = 0.85

#: Rows per step.
BATCH = 64

#: Steps of the curriculum, biased rows in the first 2 % of them.
FIRST_STEPS = 1000

SETTINGS = {
    "batch": BATCH,
    "width": 128,
    "net": "clipped ReLU, antisymmetric start, hinge + L2 (recalled; full text not at hand)",
    "rate, decay, start, thresholds": "0.5, 0.001, signs·0.1/√n, uniform in ±1 (ours)",
    "gradients": "fresh rows in place of the population",
    "learned": f"accuracy of at least {LEARNED}",
}


@record()
class Arms:
    """All arms share their targets."""

    rates: Mapping[str, Rate] = shown("runs that learned")
    accuracy: Mapping[str, float] = shown("mean accuracy")
    size: tuple[int, int]
    steps: int


MIXED, UNIFORM = "mixture", "uniform inputs"
FROZEN, FROZEN_LARGE = "frozen features", "frozen features, start ten times larger"


@claim(
    "dm-mixture",
    source=DM("Abstract and main theorem, as told in HG1, Sections 1 and 3.1"),
    title="Biased inputs let a net learn parity, and no fixed features",
    statement="If half of the inputs are uniform and in the other half all bits of the hidden set "
    "share one sign, gradient descent on one hidden layer learns the parity (k odd), and linear "
    "classifiers on fixed features do not. Control (ours): on uniform inputs the same net is still "
    "at chance after the same steps.",
    quick={"runs": 6},
    full={"n": 100, "runs": 40, "steps": 4000},
    settings=SETTINGS,
    seconds=(4, 7, 120),
)
def mixture(
    trial: Trial,
    n: int = 50,
    k: int = 7,
    runs: int = 12,
    steps: int = 800,
    *,
    mixed: Mapping[str, Any] = {},
) -> Arms:
    arms: dict[str, dict[str, Any]] = {
        MIXED: dict(mixed),
        UNIFORM: {"mixture": 0.0},
        FROZEN: {"frozen": True},
        FROZEN_LARGE: {"frozen": True, "start": 1.0},
    }
    return _arms(trial, n, k, runs, steps, arms)


def _arms(
    trial: Trial, n: int, k: int, runs: int, steps: int, arms: Mapping[str, dict[str, Any]]
) -> Arms:
    """Each arm is judged on inputs like those it was trained on."""
    data = Fresh(random_parities(n, k, runs, key=trial.seed), BATCH)
    found: dict[str, Runs] = {}
    for name in trial.track(arms):
        learner = HingeNet.daniely_malach(**{"steps": steps, **arms[name]})
        found[name] = learn(learner, data, key=trial.seed)
    right = {name: each.stats["mixed"] for name, each in found.items()}
    return Arms(
        {name: Rate.of(values >= LEARNED) for name, values in right.items()},
        {name: float(np.mean(values)) for name, values in right.items()},
        (n, k),
        steps,
    )


@mixture.judge
def _mixture(a: Arms) -> Judged:
    text = (
        f"After {a.steps} steps at n = {a.size[0]}, k = {a.size[1]}, runs with accuracy of at "
        f"least {LEARNED:g} on inputs like those trained on: {_told(a)}."
    )
    mixed, uniform = a.rates[MIXED], a.rates[UNIFORM]
    frozen = max((a.rates[FROZEN], a.rates[FROZEN_LARGE]), key=lambda rate: rate.value)
    if frozen.low > 0.5:
        instead = f"Fixed features learn it as well, in {frozen} runs."
        return refuted(text, instead=instead, margin=frozen.low - 0.5, interval=mixed)
    if mixed.high < 0.5:
        instead = f"This net learns the mixture in {mixed} runs only."
        return refuted(text, instead=instead, margin=0.5 - mixed.high, interval=mixed)
    if mixed.low > 0.5 and uniform.low > 0.5:
        instead = f"The biased half is not needed: uniform inputs are learned in {uniform} runs."
        return corrected(text, instead=instead, margin=uniform.low - 0.5, interval=mixed)
    highest = max(uniform.high, frozen.high)
    if mixed.low > 0.5 and highest < 0.5:
        return holds(text, margin=min(mixed.low - 0.5, 0.5 - highest), interval=mixed)
    return undecided(f"{text} A rate is too near one half.", interval=mixed)


def _told(a: Arms) -> str:
    parts = [
        f"{name}: {rate}, mean accuracy {a.accuracy[name]:.2f}" for name, rate in a.rates.items()
    ]
    return "; ".join(parts)


@mixture.planted("the net on the mixture has a frozen hidden layer too", turns="refuted")
def _(trial: Trial) -> Any:
    return mixture.measure(trial, runs=6, mixed={"frozen": True})


@mixture.figure
def _mixture_figure(a: Arms) -> Bars:
    return Bars.of_rates(
        a.rates,
        y="share of runs that learned",
        caption=f"Daniely and Malach's net, n = {a.size[0]}, k = {a.size[1]}.",
    )


@record()
class ShareCell:
    """Runs with a share alpha of biased rows, on `rows` rows a step; first: all of them first."""

    alpha: float
    steps: int
    rows: int
    learned: Rate = shown("runs that learned")
    accuracy: float = shown("mean accuracy")
    first: bool = False

    def __str__(self) -> str:
        share = FIRST if self.first else f"α = {self.alpha:g}"
        return f"{share}, {self.steps:,} steps of {self.rows} rows"


FIRST = "biased rows first, then uniform"


@record()
class Shares:
    """cells: the effort may grow as the share falls; α = 0 has the largest of them."""

    n: int
    k: int
    cells: list[ShareCell]


@claim(
    "dm-weight",
    source=DM(
        "the mixture's weight: Malach et al. 2103.01210; order: Abbe et al. 2306.16921",
        reading="text",
    ),
    title="Any share of biased rows is enough, given enough rows, and so is seeing them first",
    statement="With any share α > 0 of inputs whose hidden bits share a sign the net learns the "
    "parity once it has seen enough rows, with α = 0 it does not with as many; a curriculum of "
    "biased rows first and uniform ones after serves as well.",
    quick={"runs": 6, "cells": ((0.0, 1000, 64), (0.2, 1000, 64))},
    full={
        "n": 128,
        "runs": 24,
        "cells": (
            (0.0, 12_000, 256),
            (0.5, 12_000, 64),
            (0.1, 12_000, 64),
            (0.03, 12_000, 64),
            (0.01, 12_000, 256),
        ),
    },
    settings={
        **SETTINGS,
        "batch": "as named",
        "width": 64,
        "biased rows first": f"2 % of {FIRST_STEPS:,} steps of {BATCH} rows, then uniform ones",
        # E[y·x_j] = α on B is α·√(rows·steps) standard errors from 0.
        "rows": "of order 1/α² in all, where the first effort is not enough",
    },
    seconds=(4, 25, 600),
)
def weight(
    trial: Trial,
    n: int = 50,
    k: int = 7,
    runs: int = 12,
    cells: Sequence[tuple[float, int, int]] = (
        (0.0, 4000, 256),
        (0.1, 1000, 64),
        (0.1, 4000, 64),
        (0.03, 1000, 64),
        (0.03, 4000, 256),
        (0.01, 1000, 64),
        (0.01, 4000, 256),
    ),
    *,
    changes: Mapping[str, Any] = {},
) -> Shares:
    targets = random_parities(n, k, runs, key=trial.seed)
    made: list[ShareCell] = []
    for alpha, steps, rows in trial.track([*cells, (0.0, FIRST_STEPS, BATCH)]):
        first = len(made) == len(cells)
        how = {"mixture": alpha, "shared_first": 0.02 if first else 0.0, **changes}
        learner = HingeNet.daniely_malach(width=64, steps=steps, **how)
        right = learn(learner, Fresh(targets, rows), key=trial.seed).stats["mixed"]
        mean = float(np.mean(right))
        made.append(ShareCell(alpha, steps, rows, Rate.of(right >= LEARNED), mean, first))
    return Shares(n, k, made)


@weight.judge
def _weight(s: Shares) -> Judged:
    told = "; ".join(f"{cell.learned} at {cell}" for cell in s.cells)
    text = f"Learned at n = {s.n}, k = {s.k}: {told}."
    never = next(cell for cell in s.cells if cell.alpha == 0 and not cell.first)
    best: dict[Any, ShareCell] = {}
    for cell in s.cells:
        key = FIRST if cell.first else cell.alpha
        if cell is not never and (key not in best or cell.learned.low > best[key].learned.low):
            best[key] = cell
    worst = min(best.values(), key=lambda cell: cell.learned.low)
    if worst.learned.high < 0.5:
        instead = f"With the most rows tried {worst} succeeds in {worst.learned} runs only."
        margin = 0.5 - worst.learned.high
        return refuted(text, instead=instead, margin=margin, interval=worst.learned)
    if worst.learned.low > 0.5 and never.learned.low > 0.5:
        instead = f"The net learns without biased rows too, in {never.learned} runs."
        margin = never.learned.low - 0.5
        return corrected(text, instead=instead, margin=margin, interval=never.learned)
    if worst.learned.low > 0.5 and never.learned.high < 0.5:
        short = [cell for cell in s.cells if cell is not never and cell.learned.high < 0.5]
        if short:
            text += (
                " At a fixed number of rows there is a share that is too small "
                f"({'; '.join(map(str, short))}); more rows make up for it."
            )
        margin = min(worst.learned.low - 0.5, 0.5 - never.learned.high)
        return holds(text, margin=margin, interval=worst.learned)
    return undecided(f"{text} A rate is too near one half.", interval=worst.learned)


@weight.planted("the hidden layer is frozen, so no share is enough", turns="refuted")
def _(trial: Trial) -> Any:
    cells = ((0.0, 1000, 64), (0.2, 1000, 64))
    return weight.measure(trial, runs=6, cells=cells, changes={"frozen": True})


@weight.figure
def _weight_figure(s: Shares) -> Bars:
    return Bars.of_rates(
        {str(cell): cell.learned for cell in s.cells},
        y="share of runs that learned",
        caption="Share α of rows whose hidden bits share a sign, and a curriculum.",
    )
