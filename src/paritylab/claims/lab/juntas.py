"""Which functions of a few hidden bits annealed heads find."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from typing import Any, TypeVar

import numpy as np

from paritylab.claims import (
    OURS,
    Bars,
    Judged,
    Trial,
    claim,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning import Annealed, Heads, OneStep, Population, learn
from paritylab.problem import Junta
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate

#: Functions whose values at 0, 1, … ones have a name of their own.
NAMES = {
    (1, 1, -1): "AND of 2",
    (1, -1, 1): "parity of 2",
    (1, -1, -1): "OR of 2",
    (1, 1, 1, -1): "AND of 3",
    (1, 1, -1, 1): "exactly 2 of 3",
    (1, 1, -1, -1): "majority of 3",
    (1, -1, 1, 1): "exactly 1 of 3",
    (1, -1, 1, -1): "parity of 3",
    (1, -1, -1, 1): "not all equal of 3",
    (1, -1, -1, -1): "OR of 3",
}

#: Top coefficients from which on, and up to which, the claim makes a promise.
HIGH, LOW = 0.75, 0.25
#: Shares of runs that count as nearly all and as few.
MOST, FEW = 0.75, 0.5


@record()
class Symmetric:
    """A symmetric function of k bits, up to sign. top: |f̂(B)|. found: runs that name B exactly."""

    name: str
    degree: int = shown("lowest Fourier degree")
    leap: int = shown("leap")
    top: float = shown("|f̂(B)|")
    found: Rate = shown("runs in which annealed heads name B", predicted="in the order of |f̂(B)|")

    def __str__(self) -> str:
        return self.name


@record()
class Found:
    """fitted: runs that name B with the readout through f's values, by function; maybe not run."""

    functions: list[Symmetric]
    fitted: dict[str, Rate] = shown("runs that name B with the fitted readout")


def symmetric_functions(k: int) -> list[tuple[int, ...]]:
    """Values at 0, 1, …, k ones of all symmetric ±1 functions up to sign, without the constant."""
    return [(1, *values) for values in product((1, -1), repeat=k) if -1 in values]


@claim(
    "lab-juntas",
    source=OURS,
    title="Heads find a function by its top coefficient, not its lowest degree",
    statement="Annealed heads read out by cos(πs) find the bits of a symmetric function f of 2 or "
    "3 bits by its top Fourier coefficient: in nearly all runs from |f̂(B)| = 3/4 on, in few up to "
    "1/4. The lowest degree of f does not order them: some function is found less often than "
    "another whose lowest degree is higher.",
    quick={"n": 12, "runs": 12, "steps": 300},
    full={"n": 20, "runs": 64, "steps": 1500, "fitted": True},
    settings={"k": (2, 3), "data": "population", "fitted readout": "lines through f's values"},
    seconds=(8, 11, 200),
)
def juntas(
    trial: Trial,
    n: int = 16,
    runs: int = 24,
    steps: int = 600,
    fitted: bool = False,
    *,
    learner: Any = None,
) -> Found:
    functions = [values for k in (2, 3) for values in symmetric_functions(k)]
    generator = np.random.default_rng(trial.seed)
    rows, fits = [], {}
    for number, values in enumerate(trial.track(functions)):
        targets = [_drawn(generator, n, values) for _ in range(runs)]
        first, name, key = targets[0], NAMES[values], seed_of(trial.seed, number, 100)
        found = learn(learner or Annealed(steps=steps), Population(targets), key=key).rate()
        top = abs(first.fourier().get(first.subset, 0.0))
        rows.append(Symmetric(name, first.degree, first.leap, top, found))
        if fitted:
            fits[name] = learn(Heads.code(), Population(targets), key=key).rate()
    return Found(rows, fits)


def _drawn(generator: np.random.Generator, n: int, values: tuple[int, ...]) -> Junta:
    """The function on a random set."""
    subset = generator.choice(n, size=len(values) - 1, replace=False).tolist()
    return Junta.of(n, subset, lambda x: values[int(x.sum())])


Row = TypeVar("Row")


def inversions(
    rows: Sequence[Row], order: Callable[[Row], float], rate: Callable[[Row], Rate]
) -> list[tuple[Row, Row]]:
    """Pairs (a, b) where a comes first in the order but its interval lies wholly below b's."""
    both = [pair for a, b in combinations(rows, 2) for pair in ((a, b), (b, a))]
    return [(a, b) for a, b in both if order(a) > order(b) and rate(a).high < rate(b).low]


def pooled(rates: Iterable[Rate]) -> Rate:
    """All runs as one rate.

    >>> print(pooled([Rate(1, 4), Rate(3, 4)]).count)
    4 of 8
    """
    parts = list(rates)
    return Rate(sum(each.successes for each in parts), sum(each.runs for each in parts))


@juntas.planted("one step, which names the bits of AND and OR too", turns="refuted")
def _one_step(trial: Trial) -> Found:
    return juntas.measure(trial, learner=OneStep())


@juntas.judge
def _juntas(f: Found) -> Judged:
    high = pooled(each.found for each in f.functions if each.top >= HIGH)
    low = pooled(each.found for each in f.functions if each.top <= LOW)
    seen = (
        f"Annealed heads name B in {high} runs on functions with |f̂(B)| ≥ {HIGH:g} and in {low} on "
        f"those with |f̂(B)| ≤ {LOW:g}"
    )
    by_top = inversions(f.functions, lambda each: each.top, lambda each: each.found)
    by_degree = inversions(f.functions, lambda each: -each.degree, lambda each: each.found)
    if by_top or high.high < MOST or low.low > FEW:
        turned = [f"{a} is found less often than {b}" for a, b in by_top[:1]]
        instead = "The top coefficient does not decide what annealed heads find"
        return refuted(f"{seen}.", instead=f"{'; '.join([instead, *turned])}.")
    if not by_degree or high.low < MOST or low.high > FEW:
        return undecided(f"{seen}; {len(by_degree)} pairs contradict the degree.")
    gaps = {(a, b): b.found.low - a.found.high for a, b in by_degree}
    less, more = max(gaps, key=lambda pair: (gaps[pair], pair[1].degree - pair[0].degree))
    text = (
        f"{seen}. {less} (lowest degree {less.degree}) is found in {less.found} runs, {more} "
        f"(lowest degree {more.degree}) in {more.found}."
    )
    return holds(text, margin=min(high.low - MOST, FEW - low.high, gaps[less, more]))


@juntas.figure
def _juntas_figure(f: Found) -> Bars:
    rows = sorted(f.functions, key=lambda each: -each.top)
    rates = {f"{each} ({each.top:g})": each.found for each in rows}
    return Bars.of_rates(
        rates,
        y="share of runs that name B",
        caption="Symmetric functions of 2 and 3 bits, largest top coefficient (in brackets) first.",
    )
