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
    source=DM("Abstract and main theorem (second-hand: HG1, Sections 1 and 3.1)"),
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
def mixture(trial: Trial, n: int = 50, k: int = 7, runs: int = 12, steps: int = 800) -> Arms:
    arms: dict[str, dict[str, Any]] = {
        MIXED: {},
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
    text = f"After {a.steps} steps at n = {a.size[0]}, k = {a.size[1]}: {_told(a)}."
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
    parts = [f"{name} {rate}, accuracy {a.accuracy[name]:.2f}" for name, rate in a.rates.items()]
    return "; ".join(parts)


@mixture.figure
def _mixture_figure(a: Arms) -> Bars:
    return Bars.of_rates(
        a.rates,
        y="share of runs that learned",
        caption=f"Daniely and Malach's net, n = {a.size[0]}, k = {a.size[1]}.",
    )


FIRST = "biased rows first, then uniform"


@claim(
    "dm-weight",
    source=DM("the mixture's weight: Malach et al. 2103.01210 (read); order: 2306.16921 (read)"),
    title="A small share of biased rows is enough, and so is seeing them first",
    statement="With any share α > 0 of inputs whose hidden bits share a sign the net learns the "
    "parity, with α = 0 it does not within the same steps; a curriculum of biased rows first and "
    "uniform ones after serves as well.",
    quick={"runs": 6, "shares": (0.0, 0.2)},
    full={"n": 128, "runs": 24, "steps": 12_000, "shares": (0.0, 0.02, 0.1, 0.5)},
    settings={**SETTINGS, "biased rows first": "2 % of the steps, then uniform rows only"},
    seconds=(4, 8, 300),
)
def weight(
    trial: Trial,
    n: int = 50,
    k: int = 7,
    runs: int = 12,
    steps: int = 1000,
    shares: Sequence[float] = (0.0, 0.1, 0.3),
) -> Arms:
    arms: dict[str, dict[str, Any]] = {f"α = {share:g}": {"mixture": share} for share in shares}
    arms[FIRST] = {"mixture": 0.0, "shared_first": 0.02}
    return _arms(trial, n, k, runs, steps, arms)


@weight.judge
def _weight(a: Arms) -> Judged:
    text = f"After {a.steps} steps at n = {a.size[0]}, k = {a.size[1]}: {_told(a)}."
    never = a.rates["α = 0"]
    learning = {name: rate for name, rate in a.rates.items() if name != "α = 0"}
    worst = min(learning, key=lambda name: learning[name].high)
    lowest = min(rate.low for rate in learning.values())
    if learning[worst].high < 0.5:
        instead = f"Within these steps {worst} succeeds in {learning[worst]} runs only."
        return refuted(
            text, instead=instead, margin=0.5 - learning[worst].high, interval=learning[worst]
        )
    if lowest > 0.5 and never.low > 0.5:
        instead = f"The net learns without biased rows too, in {never} runs."
        return corrected(text, instead=instead, margin=never.low - 0.5, interval=learning[worst])
    if lowest > 0.5 and never.high < 0.5:
        return holds(text, margin=min(lowest - 0.5, 0.5 - never.high), interval=learning[worst])
    return undecided(f"{text} A rate is too near one half.", interval=learning[worst])


@weight.figure
def _weight_figure(a: Arms) -> Bars:
    return Bars.of_rates(
        a.rates,
        y="share of runs that learned",
        caption="Share α of rows whose hidden bits share a sign, and a curriculum.",
    )
