"""The public code's settings: how often they find the set, at which temperature, from batches."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

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
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Annealed, Fresh, Heads, Population, Sample, learn, temperature
from paritylab.problem import random_parities
from paritylab.statistics import Rate

#: A rate that decides has a 95 % interval at most this wide.
WIDE = 0.25


def _is_sharp(rate: Rate) -> bool:
    return rate.high - rate.low <= WIDE


@record()
class CodeCell:
    n: int
    k: int
    found: Rate = shown("runs with heads on exactly B", predicted="between 0.1 and 0.9")
    solved: Rate = shown("runs with squared hinge below 0.05", predicted="< 0.9", counts=False)

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"


@record()
class Code:
    cells: list[CodeCell]


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
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((12, 2, 64), (16, 3, 64)),
    *,
    learner: Any = None,
) -> Code:
    done = []
    for n, k, runs in trial.track(cells):
        data = Population(random_parities(n, k, runs, key=trial.seed))
        trained = learn(learner or Heads.code(), data, key=trial.seed)
        done.append(CodeCell(n, k, trained.rate(), trained.rate("solved")))
    return Code(done)


@code.planted("annealed heads, which find nearly every set", turns="refuted")
def _annealed(trial: Trial) -> Code:
    return code.measure(trial, **code.quick, learner=Annealed(steps=400, restarts=5))


@code.judge
def _code(code: Code) -> Judged:
    listed = "; ".join(
        f"{c.found} at {c} (squared hinge below 0.05: {c.solved})" for c in code.cells
    )
    text = f"Heads end on exactly B in {listed}."
    gaps = {c: max(c.found.low - 0.9, c.solved.low - 0.9, 0.1 - c.found.high) for c in code.cells}
    odd = max(gaps, key=lambda c: gaps[c])
    if gaps[odd] > 0:
        instead = f"At {odd} {odd.found} runs find B and {odd.solved} reach 0.05."
        return refuted(text, instead=instead, margin=gaps[odd], interval=odd.found)
    room = {c: min(c.found.low - 0.1, 0.9 - c.found.high, 0.9 - c.solved.high) for c in code.cells}
    near = min(room, key=lambda c: room[c])
    if room[near] > 0 and all(_is_sharp(c.found) and _is_sharp(c.solved) for c in code.cells):
        return holds(text, margin=room[near], interval=near.found)
    return undecided(f"{text} An interval is too wide or reaches a bound.", interval=near.found)


@code.figure
def _code_figure(code: Code) -> Bars:
    rates = {f"{c}: heads on exactly B": c.found for c in code.cells}
    rates |= {f"{c}: squared hinge below 0.05": c.solved for c in code.cells}
    return Bars.of_rates(
        dict(sorted(rates.items())),
        y="share of runs",
        caption="The public code's settings over random starts and sets, with 95 % intervals.",
    )


SOFT, SHARP = "n/4", "1/n"


@record()
class Temperature:
    """Runs that find B at one tau, a formula in n, trained on either loss."""

    tau: str
    mean: Rate = shown("runs that find B, squared mean hinge", predicted=f"most at tau = {SOFT}")
    solved: Rate = shown("runs with squared hinge below 0.05, squared mean hinge", counts=False)
    plain: Rate = shown("runs that find B, squared hinge")

    def __str__(self) -> str:
        return f"tau = {self.tau}"


@record()
class Temperatures:
    n: int
    k: int
    taus: list[Temperature]

    def at(self, tau: str) -> Temperature:
        return next(each for each in self.taus if each.tau == tau)


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
    *,
    code: Callable[..., Any] = Heads.code,
    paper: Callable[..., Any] = Heads.paper,
) -> Temperatures:
    n, k = size
    data = Population(random_parities(n, k, runs, key=trial.seed))
    found = []
    common: dict[str, Any] = {"steps": 2000, "optimiser": "adam", "eta": 0.1}
    for tau in trial.track(taus):
        done = learn(code(tau=tau, **common), data, key=trial.seed)
        plain = learn(paper(tau=tau, **common), data, key=trial.seed).rate()
        found.append(Temperature(tau, done.rate(), done.rate("solved"), plain))
    return Temperatures(n, k, found)


@fixed_tau.planted("heads that learn at tau = 1/n and do not move elsewhere", turns="refuted")
def _sharp_learns(trial: Trial) -> Temperatures:
    def planted(*, tau: str, **_: Any) -> Any:
        return Annealed(steps=400) if tau == SHARP else Heads.code(tau=tau, steps=1)

    return fixed_tau.measure(trial, **fixed_tau.quick, code=planted, paper=planted)


@fixed_tau.judge
def _fixed_tau(t: Temperatures) -> Judged:
    soft, sharp = t.at(SOFT), t.at(SHARP)
    best = max((each.mean for each in t.taus), key=lambda rate: rate.value)
    alike = [each.tau for each in t.taus if each.mean.high >= best.low]
    other = max(t.taus, key=lambda each: each.plain.value)
    text = (
        f"Trained on the squared mean hinge, {soft.mean} runs find B at {soft} and {sharp.mean} at "
        f"{sharp} (n = {t.n}, k = {t.k}; squared hinge below 0.05: {soft.solved} and "
        f"{sharp.solved}). Intervals that meet the best one's: tau = {', '.join(alike)}. Trained "
        f"on the squared hinge, the best of {len(t.taus)} temperatures is {other} with "
        f"{other.plain}."
    )
    pairs = [(soft.mean, sharp.mean), (soft.solved, sharp.solved)]
    if not all(_is_sharp(rate) for pair in pairs for rate in pair):
        return undecided(f"{text} The intervals are too wide to decide.", interval=soft.mean)
    ahead = min(more.low - less.high for more, less in pairs)
    behind = max(less.low - more.high for more, less in pairs)
    if ahead > 0:
        return holds(text, margin=ahead, interval=soft.mean)
    if behind > 0:
        instead = (
            f"At {sharp} {sharp.mean} runs find B and {sharp.solved} reach 0.05, at {soft} "
            f"{soft.mean} and {soft.solved}."
        )
        return refuted(text, instead=instead, margin=behind, interval=soft.mean)
    return undecided(f"{text} Two intervals meet.", interval=soft.mean)


@fixed_tau.figure
def _fixed_tau_figure(t: Temperatures) -> Lines:
    sizes = [temperature(each.tau, t.n) for each in t.taus]
    return Lines(
        [
            Line.of_rates("squared mean hinge", sizes, [each.mean for each in t.taus]),
            Line.of_rates("squared hinge", sizes, [each.plain for each in t.taus]),
        ],
        x="tau",
        y="share of runs that find B",
        log="x",
        marks=[Mark(1 / t.n, "tau = 1/n", axis="x")],
        caption=f"Success against temperature, n = {t.n}, k = {t.k}, Adam 0.1, 95 % intervals.",
    )


BATCH, BLIND = 64, 0.499


@fixed_tau.overview
def _fixed_tau_overview(t: Temperatures) -> Lines:
    soft, sharp = t.at(SOFT), t.at(SHARP)
    title = f"Heads find the set in {soft.mean.percent} at {soft}, {sharp.mean.percent} at {sharp}."
    return replace(_fixed_tau_figure(t), title=title)


@record()
class Batches:
    """rates: by rows per batch. blind: labels that are coin flips but for one in 500."""

    n: int
    k: int
    rates: dict[int, Rate] = shown("runs that find B, by rows per batch")
    exact: Rate = shown("runs that do with the exact gradient")
    blind: Rate = shown(f"runs that do from {BATCH} rows of coin-flip labels")
    solved: Rate = shown(f"runs with squared hinge below 0.05, {BATCH} rows", counts=False)


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
    *,
    learner: Any = None,
    batches: Callable[..., Any] = Fresh,
) -> Batches:
    seed, learner = trial.seed, learner or Heads.code()
    targets = random_parities(*size, runs, key=seed)
    blind = random_parities(*size, runs, key=seed, noise=BLIND)
    exact = learn(learner, Population(targets), key=seed).rate()
    done = {each: learn(learner, batches(targets, each), key=seed) for each in trial.track(rows)}
    control = learn(learner, Fresh(blind, BATCH), key=seed).rate()
    rates = {each: trained.rate() for each, trained in done.items()}
    return Batches(*size, rates, exact, control, done[BATCH].rate("solved"))


@sgd.planted("two rows, drawn once, in place of fresh batches", turns="refuted")
def _two_rows(trial: Trial) -> Batches:
    return sgd.measure(
        trial,
        **sgd.quick,
        learner=Heads.code(steps=400),
        batches=lambda targets, _: Sample(targets, 2),
    )


@sgd.judge
def _sgd(b: Batches) -> Judged:
    rate = b.rates[BATCH]
    least, most = rate.low / max(b.exact.high, 1e-9), rate.high / max(b.exact.low, 1e-9)
    text = (
        f"With {BATCH} fresh rows per step {rate} runs find B (squared hinge below 0.05: "
        f"{b.solved}), with the exact gradient {b.exact}, with coin-flip labels {b.blind} "
        f"(n = {b.n}, k = {b.k}, {2 * b.k} trained numbers)."
    )
    if most < 0.5 or rate.high < b.blind.low:
        instead = f"Batches of {BATCH} rows find B at most {most:.2f} times as often as exact."
        margin = max(0.5 - most, b.blind.low - rate.high)
        return refuted(text, instead=instead, margin=margin, interval=rate)
    margin = min(least - 0.5, rate.low - b.blind.high)
    if margin > 0 and all(_is_sharp(each) for each in (rate, b.exact, b.blind)):
        return holds(text, margin=margin, interval=rate)
    return undecided(f"{text} The intervals do not decide.", interval=rate)


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
