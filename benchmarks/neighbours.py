"""Neighbours on equal terms: the same targets and seeds, rows and steps until success.

python benchmarks/neighbours.py [--runs 10] [--print]

Writes docs/runs/neighbours.md, which `make docs` puts into docs/neighbours.md.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
from harness import DOCS, markdown

from paritylab import (
    Annealed,
    Auto,
    Fresh,
    HingeNet,
    Population,
    Rate,
    Sample,
    learn,
    random_parities,
)
from paritylab.learning import SignDescent

#: Accuracy on 1,024 strings from which on a net counts as right.
RIGHT = 0.95
SIZES = ((20, 3), (50, 3))
HEADS = ("system", "its authors say", "preset", "n, k", "runs right", "rows", "steps", "s per run")


class System(NamedTuple):
    """name, what its authors say, and the preset that runs."""

    name: str
    says: str
    preset: str


ONLINE = {
    System("Barak et al., online SGD", "n^O(k) steps (read)", "`HingeNet.barak()`"): (
        lambda n: HingeNet.barak(steps=60 * n + 1500),
        32,
    ),
    System(
        "Daniely & Malach, half biased inputs",
        "poly(n, k) steps; k odd (second-hand)",
        "`HingeNet.daniely_malach()`; sizes ours",
    ): (lambda n: HingeNet.daniely_malach(steps=4000), 64),
    System("the same net, uniform inputs", "–", "`mixture=0`"): (
        lambda n: HingeNet.daniely_malach(steps=4000, mixture=0.0),
        64,
    ),
    System(
        "the same net, biased rows first", "easier than uniform (read)", "`shared_first=0.02`"
    ): (
        lambda n: HingeNet.daniely_malach(steps=4000, mixture=0.0, shared_first=0.02),
        64,
    ),
    System("the same net, frozen features", "fails (second-hand)", "`frozen=True, start=1`"): (
        lambda n: HingeNet.daniely_malach(steps=4000, frozen=True, start=1.0),
        64,
    ),
}


def online(system: System, make, batch: int, n: int, k: int, runs: int) -> tuple[str, ...]:
    """Nets that see new rows at every step: when their accuracy first is right."""
    learner, every = make(n), 50
    data = Fresh(random_parities(n, k, runs), batch)
    start = time.process_time()
    accuracy = learn(learner, data, trace=every).trace["accuracy"]
    seconds = time.process_time() - start
    right = accuracy >= RIGHT
    when = np.where(right.any(axis=1), right.argmax(axis=1) * every, np.inf)
    steps = float(np.median(when))
    return _row(system, n, k, Rate.of(right.any(axis=1)), batch * steps, steps, seconds, runs)


def by_rows(system: System, make, data_of, flag: str, steps, grid, n, k, runs) -> tuple[str, ...]:
    """Learners of a fixed number of rows: the fewest tried with which nine of ten runs succeed."""
    targets = random_parities(n, k, runs)
    for rows in grid:
        start = time.process_time()
        found = learn(make(n), data_of(targets, rows))
        seconds = time.process_time() - start
        rate = Rate.of(getattr(found, flag))
        if rate.value >= 0.9:
            break
    seen = rows * (steps if data_of is Fresh else 1) if rate.value >= 0.9 else np.inf
    return _row(system, n, k, rate, seen, steps or np.nan, seconds, runs)


def exact(system: System, n: int, k: int, runs: int) -> tuple[str, ...]:
    start = time.process_time()
    found = learn(Annealed(), Population(random_parities(n, k, runs)))
    seconds = time.process_time() - start
    return _row(system, n, k, Rate.of(found.recovered), np.nan, 1500, seconds, runs)


def _row(system, n, k, rate, rows, steps, seconds, runs) -> tuple[str, ...]:
    numbers = (_number(float(rows)), _number(float(steps)), f"{seconds / runs:.2g}")
    return (*system, f"{n}, {k}", str(rate), *numbers)


def _number(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:,.0f}" if np.isfinite(value) else "not reached"


def measure(runs: int):
    """Every system at every size, as soon as it is finished."""
    for n, k in SIZES:
        for system, (make, batch) in ONLINE.items():
            yield online(system, make, batch, n, k, runs)
        kou = System("Kou et al., sign descent", "Õ(n^(k-1)) rows (read)", "`SignDescent.kou()`")
        grid = [round(n ** (k - 1) * 2.0**power) for power in range(-3, 7)]
        call = lambda n: SignDescent.kou()  # noqa: E731
        yield by_rows(kou, call, Fresh, "solved", 40, grid, n, k, runs)
        heads = System("annealed heads (ours)", "–", "`Annealed()` on exact gradients")
        yield exact(heads, n, k, runs)
        grid = [64, 256, 1024, 4096]
        on_rows = heads._replace(preset="`Annealed()`, up to 4,096 rows drawn once")
        yield by_rows(on_rows, lambda n: Annealed(), Sample, "recovered", 1500, grid, n, k, runs)
        grid = [round(8 * 2 ** (power / 2)) for power in range(14)]
        auto = System("best classical solver (ours)", "–", "`Auto()`")
        yield by_rows(auto, lambda n: Auto(), Sample, "recovered", 0, grid, n, k, runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--print", action="store_true", help="print, write nothing")
    given = parser.parse_args()
    rows = []
    for row in measure(given.runs):
        rows.append(row)
        print(*row, sep=" | ", flush=True)
    if not given.print:
        (DOCS / "runs" / "neighbours.md").write_text(markdown(HEADS, rows) + "\n")


if __name__ == "__main__":
    main()
