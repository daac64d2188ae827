"""The public code's settings: how often they find the set, at which temperature, from batches."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from paritylab.claims import (
    OURS,
    Bars,
    Judged,
    Line,
    Lines,
    Mark,
    Trial,
    claim,
    holds,
    refuted,
    undecided,
)
from paritylab.learning import Fresh, Heads, Population, learn, temperature
from paritylab.problem import random_parities
from paritylab.statistics import Rate

#: A rate that decides has a 95 % interval at most this wide.
WIDE = 0.25


def _is_sharp(rate: Rate) -> bool:
    return rate.high - rate.low <= WIDE


class CodeCell(NamedTuple):
    """found: heads end on exactly B. solved: squared-hinge risk below 0.05, the paper's measure."""

    n: int
    k: int
    found: Rate
    solved: Rate

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"


@claim(
    "lab-code",
    source=OURS,
    title="The public code's training finds the set in a part of the runs",
    statement="With the settings of HG1's public code (tau = n/4, Adam, squared mean hinge, 2000 "
    "epochs, here with exact gradients) k heads from random directions end on exactly B in more "
    "than 10 % and less than 90 % of runs, and at a squared hinge below 0.05 in less than 90 %, "
    "for n ≤ 20 and k = 2, 3.",
    quick={"cells": ((10, 2, 60),)},
    full={"cells": ((12, 2, 400), (16, 3, 400), (20, 3, 400))},
    settings={
        "tau": "n/4",
        "loss": "mean_hinge_squared",
        "optimiser": "adam 0.1 (0.2 at 20)",
        "steps": 2000,
    },
    seconds=(7, 30, 600),
)
def code(
    trial: Trial, cells: Sequence[tuple[int, int, int]] = ((12, 2, 64), (16, 3, 64))
) -> list[CodeCell]:
    done = []
    for n, k, runs in trial.track(cells):
        data = Population(random_parities(n, k, runs, key=trial.seed))
        trained = learn(Heads.code(), data, key=trial.seed)
        done.append(CodeCell(n, k, trained.rate(), trained.rate("solved")))
    return done


@code.judge
def _code(cells: list[CodeCell]) -> Judged:
    listed = "; ".join(
        f"{c.found} of {c.found.runs} at {c} (squared hinge below 0.05: {c.solved})" for c in cells
    )
    text = f"Heads end on exactly B in {listed}."
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "runs": sum(c.found.runs for c in cells),
        "measured": {
            "share of runs with heads on exactly B": {str(c): c.found.value for c in cells},
            "share of runs with squared hinge below 0.05": {str(c): c.solved.value for c in cells},
        },
        "predicted": {"share of runs with heads on exactly B": "between 0.1 and 0.9"},
    }
    gaps = {c: max(c.found.low - 0.9, c.solved.low - 0.9, 0.1 - c.found.high) for c in cells}
    odd = max(gaps, key=lambda c: gaps[c])
    if gaps[odd] > 0:
        return refuted(
            text,
            instead=f"At {odd} {odd.found} of runs find B and {odd.solved} reach 0.05.",
            margin=gaps[odd],
            interval=odd.found.interval,
            **shared,
        )
    room = {c: min(c.found.low - 0.1, 0.9 - c.found.high, 0.9 - c.solved.high) for c in cells}
    near = min(room, key=lambda c: room[c])
    shared["interval"] = near.found.interval
    if room[near] > 0 and all(_is_sharp(c.found) and _is_sharp(c.solved) for c in cells):
        return holds(text, margin=room[near], **shared)
    return undecided(f"{text} An interval is too wide or reaches a bound.", **shared)


@code.figure
def _code_figure(cells: list[CodeCell]) -> Bars:
    rates = {f"{c}: heads on exactly B": c.found for c in cells}
    rates |= {f"{c}: squared hinge below 0.05": c.solved for c in cells}
    return Bars.of_rates(
        dict(sorted(rates.items())),
        y="share of runs",
        caption="The public code's settings over random starts and sets, with 95 % intervals.",
    )


class Temperatures(NamedTuple):
    """Shares of runs that find B, by temperature. mean: squared mean hinge. plain: squared hinge.

    taus: formulas in n. solved: squared hinge below 0.05 after training on the squared mean hinge.
    """

    n: int
    k: int
    taus: list[str]
    mean: dict[str, Rate]
    plain: dict[str, Rate]
    solved: dict[str, Rate]


SOFT, SHARP = "n/4", "1/n"


@claim(
    "lab-fixed-tau",
    source=OURS,
    title="A soft start helps: tau = n/4 finds the set more often than tau = 1/n",
    statement="HG1 leaves open whether heads learn at a temperature that does not vanish like 1/n. "
    "Ours: after 2000 steps of Adam 0.1 on the squared mean hinge more runs have their heads on "
    "exactly B at tau = n/4 than at tau = 1/n, and more have a squared hinge below 0.05.",
    quick={"size": (10, 2), "runs": 128, "taus": (SHARP, SOFT)},
    full={
        "size": (16, 3),
        "runs": 400,
        "taus": ("1/n^2", "0.3/n", SHARP, "3/n", "1", "n/8", SOFT, "n/2", "n"),
    },
    settings={"optimiser": "adam 0.1", "steps": 2000},
    seconds=(30, 55, 600),
)
def fixed_tau(
    trial: Trial,
    size: tuple[int, int] = (12, 2),
    runs: int = 100,
    taus: Sequence[str] = (SHARP, "1", SOFT),
) -> Temperatures:
    n, k = size
    data = Population(random_parities(n, k, runs, key=trial.seed))
    found = Temperatures(n, k, list(taus), {}, {}, {})
    common: dict[str, Any] = {"steps": 2000, "optimiser": "adam", "eta": 0.1}
    for tau in trial.track(taus):
        done = learn(Heads.code(tau=tau, **common), data, key=trial.seed)
        found.mean[tau], found.solved[tau] = done.rate(), done.rate("solved")
        found.plain[tau] = learn(Heads.paper(tau=tau, **common), data, key=trial.seed).rate()
    return found


@fixed_tau.judge
def _fixed_tau(t: Temperatures) -> Judged:
    soft, sharp = t.mean[SOFT], t.mean[SHARP]
    best = max(t.mean.values(), key=lambda rate: rate.value)
    alike = [tau for tau in t.taus if t.mean[tau].high >= best.low]
    other = max(t.taus, key=lambda tau: t.plain[tau].value)
    text = (
        f"Trained on the squared mean hinge, {soft} of {soft.runs} runs find B at tau = {SOFT} and "
        f"{sharp} at tau = {SHARP} (n = {t.n}, k = {t.k}; squared hinge below 0.05: "
        f"{t.solved[SOFT]} and {t.solved[SHARP]}). Intervals that meet the best one's: tau = "
        f"{', '.join(alike)}. Trained on the squared hinge, the best of {len(t.taus)} temperatures "
        f"is tau = {other} with {t.plain[other]}."
    )
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "interval": soft.interval,
        "runs": 2 * soft.runs * len(t.taus),
        "measured": {
            "share of runs that find B, squared mean hinge": _values(t.mean),
            "share of runs that find B, squared hinge": _values(t.plain),
            "share with squared hinge below 0.05, squared mean hinge": _values(t.solved),
        },
        "predicted": {"more runs find B at": f"tau = {SOFT}"},
    }
    pairs = [(soft, sharp), (t.solved[SOFT], t.solved[SHARP])]
    if not all(_is_sharp(rate) for pair in pairs for rate in pair):
        return undecided(f"{text} The intervals are too wide to decide.", **shared)
    ahead = min(more.low - less.high for more, less in pairs)
    behind = max(less.low - more.high for more, less in pairs)
    if ahead > 0:
        return holds(text, margin=ahead, **shared)
    if behind > 0:
        instead = (
            f"At tau = {SHARP} {sharp} of runs find B and {t.solved[SHARP]} reach 0.05, at tau = "
            f"{SOFT} {soft} and {t.solved[SOFT]}."
        )
        return refuted(text, instead=instead, margin=behind, **shared)
    return undecided(f"{text} Two intervals meet.", **shared)


def _values(rates: dict[str, Rate]) -> dict[str, float]:
    return {f"tau = {tau}": rate.value for tau, rate in rates.items()}


@fixed_tau.figure
def _fixed_tau_figure(t: Temperatures) -> Lines:
    sizes = [temperature(tau, t.n) for tau in t.taus]
    return Lines(
        [
            Line.of_rates("squared mean hinge", sizes, t.mean.values()),
            Line.of_rates("squared hinge", sizes, t.plain.values()),
        ],
        x="tau",
        y="share of runs that find B",
        log="x",
        marks=[Mark(1 / t.n, "tau = 1/n", axis="x")],
        caption=f"Success against temperature, n = {t.n}, k = {t.k}, Adam 0.1, 95 % intervals.",
    )


class Batches(NamedTuple):
    """Shares of runs that find B. rates: by rows per batch. exact: with the exact gradient.

    blind: batches of BATCH rows whose labels are coin flips but for one in 500. solved: squared
    hinge below 0.05 with batches of BATCH rows.
    """

    n: int
    k: int
    rates: dict[int, Rate]
    exact: Rate
    blind: Rate
    solved: Rate


BATCH, BLIND = 64, 0.499


@claim(
    "lab-sgd",
    source=OURS,
    title="Minibatches of 64 rows find the set about as often as the exact gradient",
    statement="HG1 analyses descent on the expected risk. Ours: with the public code's settings "
    "and 64 fresh rows per step the 2k trained numbers end on exactly B in more than half as many "
    "runs as with the exact gradient, and in more runs than with labels that are coin flips.",
    quick={"size": (10, 2), "runs": 128, "rows": (BATCH,)},
    full={"size": (16, 3), "runs": 400, "rows": (16, BATCH, 256, 1024, 4096)},
    settings={"optimiser": "adam 0.1", "tau": "n/4", "loss": "mean_hinge_squared", "steps": 2000},
    seconds=(20, 20, 400),
)
def sgd(
    trial: Trial,
    size: tuple[int, int] = (12, 2),
    runs: int = 100,
    rows: Sequence[int] = (16, BATCH),
) -> Batches:
    seed, learner = trial.seed, Heads.code()
    targets = random_parities(*size, runs, key=seed)
    blind = random_parities(*size, runs, key=seed, noise=BLIND)
    exact = learn(learner, Population(targets), key=seed).rate()
    done = {each: learn(learner, Fresh(targets, each), key=seed) for each in trial.track(rows)}
    control = learn(learner, Fresh(blind, BATCH), key=seed).rate()
    rates = {each: trained.rate() for each, trained in done.items()}
    return Batches(*size, rates, exact, control, done[BATCH].rate("solved"))


@sgd.judge
def _sgd(b: Batches) -> Judged:
    rate = b.rates[BATCH]
    least, most = rate.low / max(b.exact.high, 1e-9), rate.high / max(b.exact.low, 1e-9)
    text = (
        f"With {BATCH} fresh rows per step {rate} of {rate.runs} runs find B (squared hinge below "
        f"0.05: {b.solved}), with the exact gradient {b.exact}, with coin-flip labels {b.blind} "
        f"(n = {b.n}, k = {b.k}, {2 * b.k} trained numbers)."
    )
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "interval": rate.interval,
        "runs": rate.runs * (len(b.rates) + 2),
        "measured": {
            "share of runs that find B": {f"{n} rows": r.value for n, r in b.rates.items()},
            "exact gradient": b.exact.value,
            "coin-flip labels": b.blind.value,
            "squared hinge below 0.05": b.solved.value,
            "trained numbers": 2 * b.k,
        },
        "predicted": {"over the exact gradient's share": "> 0.5"},
    }
    if most < 0.5 or rate.high < b.blind.low:
        instead = f"Batches of {BATCH} rows find B at most {most:.2f} times as often as exact."
        margin = max(0.5 - most, b.blind.low - rate.high)
        return refuted(text, instead=instead, margin=margin, **shared)
    margin = min(least - 0.5, rate.low - b.blind.high)
    if margin > 0 and all(_is_sharp(each) for each in (rate, b.exact, b.blind)):
        return holds(text, margin=margin, **shared)
    return undecided(f"{text} The intervals do not decide.", **shared)


@sgd.figure
def _sgd_figure(b: Batches) -> Lines:
    return Lines(
        [Line.of_rates("fresh batches", list(b.rates), b.rates.values())],
        x="rows per batch",
        y="share of runs that find B",
        log="x",
        marks=[Mark(b.exact.value, "exact gradient"), Mark(b.blind.value, "coin-flip labels")],
        caption="Success of minibatch training with 95 % intervals.",
    )
