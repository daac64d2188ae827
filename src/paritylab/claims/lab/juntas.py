"""Which functions of a few hidden bits annealed heads find."""

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import OURS, Bars, Judged, Trial, claim, holds, refuted, undecided
from paritylab.learning import Annealed, Heads, Population, learn
from paritylab.problem import Junta
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


class Found(NamedTuple):
    """What annealed heads find, one entry per symmetric function of k bits, up to sign.

    names, degree, leap: the function, its lowest Fourier degree, its leap. top: |f̂(B)|. found: runs
    that name B exactly. fitted: the same for heads trained with the readout through f's values,
    empty if not run. runs: per function.
    """

    names: Sequence[str]
    degree: np.ndarray
    leap: np.ndarray
    top: np.ndarray
    found: np.ndarray
    fitted: np.ndarray
    runs: int


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
    trial: Trial, n: int = 16, runs: int = 24, steps: int = 600, fitted: bool = False
) -> Found:
    functions = [values for k in (2, 3) for values in symmetric_functions(k)]
    generator = np.random.default_rng(trial.seed)
    rows, fits = [], []
    for number, values in enumerate(trial.track(functions)):
        targets = [_drawn(generator, n, values) for _ in range(runs)]
        key = 100 * trial.seed + number
        annealed = learn(Annealed(steps=steps), Population(targets), key=key)
        first = targets[0]
        top = abs(first.fourier().get(first.subset, 0.0))
        rows.append((first.degree, first.leap, top, int(annealed.recovered.sum())))
        if fitted:
            trained = learn(Heads.code(), Population(targets), key=key)
            fits.append(int(trained.recovered.sum()))
    degree, leap, tops, found = (np.array(column) for column in zip(*rows, strict=True))
    names = [NAMES[values] for values in functions]
    return Found(names, degree, leap, tops, found, np.array(fits, dtype=int), runs)


def _drawn(generator: np.random.Generator, n: int, values: tuple[int, ...]) -> Junta:
    """The function on a random set."""
    subset = generator.choice(n, size=len(values) - 1, replace=False).tolist()
    return Junta.of(n, subset, lambda x: values[int(x.sum())])


def inversions(order: np.ndarray, rates: Sequence[Rate]) -> list[tuple[int, int]]:
    """Pairs (i, j) where i comes first in the order but its interval lies wholly below j's."""
    pairs = combinations(range(len(rates)), 2)
    both = [pair for i, j in pairs for pair in ((i, j), (j, i))]
    return [(i, j) for i, j in both if order[i] > order[j] and rates[i].high < rates[j].low]


@juntas.judge
def _juntas(f: Found) -> Judged:
    rates = [Rate(int(count), f.runs) for count in f.found]
    groups = {"high": f.top >= HIGH, "low": f.top <= LOW}
    pooled = {
        name: Rate(int(f.found[chosen].sum()), f.runs * int(chosen.sum()))
        for name, chosen in groups.items()
    }
    high, low = pooled["high"], pooled["low"]
    shared: dict[str, Any] = {
        "evidence": "sampled",
        "runs": f.runs * len(rates),
        "measured": _numbers(f, rates),
        "predicted": {"order of the rates": "that of |f̂(B)|"},
    }
    seen = (
        f"Annealed heads name B in {high} of runs on functions with |f̂(B)| ≥ {HIGH:g} and in {low} "
        f"on those with |f̂(B)| ≤ {LOW:g}"
    )
    by_top, by_degree = inversions(f.top, rates), inversions(-f.degree, rates)
    if by_top or high.high < MOST or low.low > FEW:
        turned = [f"{f.names[i]} is found less often than {f.names[j]}" for i, j in by_top[:1]]
        instead = "The top coefficient does not decide what annealed heads find"
        return refuted(f"{seen}.", instead=f"{'; '.join([instead, *turned])}.", **shared)
    if not by_degree or high.low < MOST or low.high > FEW:
        return undecided(f"{seen}; {len(by_degree)} pairs contradict the degree.", **shared)
    gaps = {(i, j): rates[j].low - rates[i].high for i, j in by_degree}
    i, j = max(gaps, key=lambda pair: (gaps[pair], f.degree[pair[1]] - f.degree[pair[0]]))
    text = (
        f"{seen}. {f.names[i]} (lowest degree {f.degree[i]}) is found in {rates[i]} of runs, "
        f"{f.names[j]} (lowest degree {f.degree[j]}) in {rates[j]}."
    )
    margin = min(high.low - MOST, FEW - low.high, gaps[i, j])
    return holds(text, margin=margin, **shared)


def _numbers(f: Found, rates: Sequence[Rate]) -> dict[str, Any]:
    """The table of functions, by names a reader knows."""
    table: dict[str, Any] = {}
    for i, name in enumerate(f.names):
        facts = f"lowest degree {f.degree[i]}, leap {f.leap[i]}, |f̂(B)| {f.top[i]:g}"
        table[f"{name} ({facts})"] = str(rates[i])
        if len(f.fitted):
            table[f"{name}, fitted readout"] = str(Rate(int(f.fitted[i]), f.runs))
    return table


@juntas.figure
def _juntas_figure(f: Found) -> Bars:
    order = np.argsort(-f.top, kind="stable")
    rates = {f"{f.names[i]} ({f.top[i]:g})": Rate(int(f.found[i]), f.runs) for i in order}
    return Bars.of_rates(
        rates,
        y="share of runs that name B",
        caption="Symmetric functions of 2 and 3 bits, largest top coefficient (in brackets) first.",
    )
