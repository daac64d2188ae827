"""A claim of your own: paritylab check --file examples/new_claim.py

It asks whether two heads on the circle still learn when a tenth of the labels is flipped.
"""

from typing import NamedTuple

from paritylab import (
    Bars,
    Efforts,
    Heads,
    Judged,
    Population,
    Rate,
    Trial,
    claim,
    holds,
    learn,
    random_parities,
    refuted,
    undecided,
)


class Rates(NamedTuple):
    """How often B is found, without noise and with it."""

    clean: Rate
    noisy: Rate


@claim(
    "my-noise",
    title="Flipped labels slow two heads down but do not stop them",
    statement="With 10 % flipped labels the public code's training still finds B in 1 of 3 runs.",
    efforts=Efforts(
        quick={"runs": 60, "steps": 400},
        default={"runs": 100, "steps": 600},
        full={"runs": 400, "steps": 2000},
    ),
    settings={"n": 10, "k": 2, "noise": 0.1},
    seconds=(3, 5, 60),
)
def my_noise(trial: Trial, runs: int, steps: int) -> Rates:
    rates = []
    for noise in trial.track((0.0, 0.1)):
        data = Population(random_parities(n=10, k=2, runs=runs, key=trial.seed, noise=noise))
        rates.append(learn(Heads.code(steps=steps), data, key=trial.seed).rate())
    return Rates(*rates)


@my_noise.judge
def judge(rates: Rates) -> Judged:
    noisy = rates.noisy
    text = f"B is found in {noisy} of runs with noise and in {rates.clean} without."
    shared = {"evidence": "sampled", "interval": noisy.interval, "runs": 2 * noisy.runs}
    if noisy.low > 1 / 3:
        return holds(text, margin=noisy.low - 1 / 3, **shared)
    if noisy.high < 1 / 3:
        instead = f"It finds B in at most {noisy.high:.0%} of runs."
        return refuted(text, instead=instead, margin=1 / 3 - noisy.high, **shared)
    return undecided(f"{text} 1/3 is not excluded.", **shared)


@my_noise.figure
def figure(rates: Rates) -> Bars:
    named = {"no noise": rates.clean, "10 % flipped": rates.noisy}
    return Bars.of_rates(named, y="share of runs that find B")
