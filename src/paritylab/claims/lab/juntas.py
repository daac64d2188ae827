"""Which functions of a few hidden bits annealed heads find."""

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np

from paritylab.claims import OURS, Bars, Trial, at_least, at_most, claim, difference, finding, note
from paritylab.learning import Annealed, Heads, OneStep, Population, learn
from paritylab.problem import Junta
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate, pooled

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


#: A function with a larger top coefficient may be found less often by this share of runs.
AGAINST = 1 / 3


class Symmetric(NamedTuple):
    """A symmetric function up to sign. degree: its lowest. top: |f̂(B)|. found: runs that name B."""

    name: str
    degree: int
    top: float
    found: Rate


def symmetric_functions(k: int) -> list[tuple[int, ...]]:
    """Values at 0, 1, …, k ones of all symmetric ±1 functions up to sign, without the constant."""
    return [(1, *values) for values in product((1, -1), repeat=k) if -1 in values]


@claim(
    "lab-juntas",
    OURS,
    quick={"n": 12, "runs": 20, "steps": 300},
    full={"n": 20, "runs": 64, "steps": 1500, "fitted": True},
    more="runs",
    planted=(
        "one step, which names the bits of AND and OR too",
        {"learner": OneStep(), "n": 16, "runs": 24},
        "refuted",
    ),
)
def juntas(
    trial: Trial,
    n: int = 16,
    runs: int = 24,
    steps: int = 600,
    fitted: bool = False,
    *,
    learner: Any = None,
) -> Iterator[Any]:
    """Annealed heads find a function of 2 or 3 bits by its top coefficient, not its lowest degree.

    Annealed heads read out by cos(πs) and trained on exact gradients find the bits of a symmetric
    function f of 2 or 3 bits by its top Fourier coefficient: in over 75 % of runs from |f̂(B)| = 3/4
    on, in under 50 % up to 1/4, and where it is larger never less often by a third. The lowest
    degree of f does not order them: some function is found less often than another whose lowest
    degree is higher. At full effort also with a readout of straight lines through f's own values.
    """
    functions = [values for k in (2, 3) for values in symmetric_functions(k)]
    generator = np.random.default_rng(trial.seed)
    seen = []
    for number, values in enumerate(trial.track(functions)):
        targets = [_drawn(generator, n, values) for _ in range(runs)]
        first, name, key = targets[0], NAMES[values], seed_of(trial.seed, number, 100)
        found = learn(learner or Annealed(steps=steps), Population(targets), key=key).rate()
        top = abs(first.fourier().get(first.subset, 0.0))
        seen.append(Symmetric(name, first.degree, top, found))
        label = f"runs that name B, {name}, |f̂(B)| = {top:g}, lowest degree {first.degree}"
        yield note(label, found)
        if fitted:
            rate = learn(Heads.code(), Population(targets), key=key).rate()
            yield note(f"runs that name B with the fitted readout, {name}", rate)
    high = pooled(each.found for each in seen if each.top >= 0.75)
    low = pooled(each.found for each in seen if each.top <= 0.25)
    yield at_least(f"runs that name B where |f̂(B)| ≥ 3/4, n = {n}", high, 0.75)
    yield at_most(f"runs that name B where |f̂(B)| ≤ 1/4, n = {n}", low, 0.5)
    by_top = [(a, b) for a, b in permutations(seen, 2) if a.top > b.top]
    worse, better = max(by_top, key=lambda p: p[1].found.value - p[0].found.value)
    yield at_most(
        f"share of runs on {better.name} ({better.top:g}) less that on {worse.name} "
        f"({worse.top:g}), the pair most against the order",
        difference(better.found, worse.found),
        AGAINST,
    )
    by_degree = [(a, b) for a, b in permutations(seen, 2) if a.degree < b.degree]
    less, more = max(
        by_degree, key=lambda p: (p[1].found.low - p[0].found.high, p[1].degree - p[0].degree)
    )
    lead = difference(more.found, less.found)
    yield at_least(
        f"share of runs on {more.name} (degree {more.degree}) less that on {less.name} "
        f"({less.degree})",
        lead,
        0,
    )
    text = f"Annealed heads name B in {high.count} runs where |f̂(B)| ≥ 3/4"
    yield finding(f"{text}, in {low.count} where it is at most 1/4, n = {n}.", "holds")
    yield Bars.of_rates(
        {f"{each.name} ({each.top:g})": each.found for each in sorted(seen, key=lambda s: -s.top)},
        y="share of runs that name B",
        caption="Symmetric functions of 2 and 3 bits, largest top coefficient (in brackets) first.",
    )


def _drawn(generator: np.random.Generator, n: int, values: tuple[int, ...]) -> Junta:
    """The function on a random set."""
    subset = generator.choice(n, size=len(values) - 1, replace=False).tolist()
    return Junta.of(n, subset, lambda x: values[int(x.sum())])
