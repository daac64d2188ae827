"""Do searches keep their budget, and how much memory do they take?

    python benchmarks/budgets.py [--cases wide rows dense order] [--processor]

Every case runs in its own process. wide: 20,000 and 40,000 columns. rows: a million rows of 200
columns. dense: half of all columns, one wrong label. order: columns up to which all subsets are
transformed, and one more. Seconds are those of `solve`, memory is the peak of the whole process,
the table of one byte a cell included. On a busy machine --processor lets searches read the clock of
their own processor time, so that other work does not count against their budget.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
from planted import planted


class Case(NamedTuple):
    """k = 0: labels by coin. wrong: labels turned round."""

    n: int
    rows: int
    k: int
    noise: float
    budget: float
    method: str = "auto"
    wrong: int = 0


CASES = {
    "wide": [
        Case(20_000, 300, 0, 0.0, 5),
        Case(20_000, 300, 3, 0.05, 5),
        Case(20_000, 2_000, 2, 0.2, 5),
        Case(20_000, 20_300, 0, 0.0, 5),
        Case(20_000, 20_300, 0, 0.0, 30, "elimination"),
        Case(40_000, 300, 0, 0.0, 5),
        Case(40_000, 300, 2, 0.1, 30),
        Case(40_000, 2_000, 0, 0.0, 5),
    ],
    "rows": [
        Case(200, 1_000_000, 0, 0.0, 30),
        Case(200, 1_000_000, 0, 0.0, 5),
        Case(200, 1_000_000, 3, 0.35, 5),
        Case(200, 1_000_000, 3, 0.4, 30),
        Case(200, 1_000_000, 2, 0.4, 30),
        Case(60, 2_000, 8, 0.2, 30),
    ],
    "dense": [Case(n, n + 300, n // 2, 0.0, 60, wrong=1) for n in (900, 1200, 2000)],
    "order": [Case(n, 600, 3, 0.1, 30) for n in (24, 26, 27)],
}


def measure(case: Case, processor: bool) -> dict[str, object]:
    from xorfind import solve

    if processor:
        time.perf_counter = time.process_time

    made = planted(case.n, case.k or 1, case.noise, case.rows, 0)
    labels, subset = made.labels.copy(), made.subset
    if not case.k:
        labels = np.random.default_rng(1).choice(np.array([-1, 1], np.int8), case.rows)
    labels[: case.wrong] *= -1
    before, used = time.perf_counter(), time.process_time()
    answer = solve(made.bits, labels, method=case.method, budget=case.budget, rows="check")
    return {
        "seconds": time.perf_counter() - before,
        "busy": time.process_time() - used,
        "stop": str(answer.search.stop),
        "steps": [f"{step.method}: {step.stop}" for step in answer.search.steps],
        "right": answer.subset == (subset if case.k else None),
        "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        * (1 if sys.platform == "darwin" else 1024)
        / (case.n * case.rows),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--processor", action="store_true", help="budgets of processor time")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(Case(*json.loads(asked.one)), asked.processor)))
        return
    print(
        "n × rows, k, noise | method, budget | seconds, of the processor | GiB, bytes a cell | end"
    )
    for case in (case for name in asked.cases for case in CASES[name]):
        command = [sys.executable, __file__, "--one", json.dumps(case)]
        command += ["--processor"] * asked.processor
        told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        noise = f"{case.wrong} wrong" if case.wrong else case.noise
        over = " OVER" if told["seconds"] > 1.2 * case.budget + 1 else ""
        print(
            f"{case.n:,} × {case.rows:,}, {case.k}, {noise} | {case.method}, {case.budget:g} s | "
            f"{told['seconds']:.2f}{over}, {told['busy']:.2f} | {told['peak']:.2f}, "
            f"{told['bytes']:.1f} | {told['stop']}{'' if told['right'] else ', NOT RIGHT'} "
            f"({'; '.join(told['steps'])})",
            flush=True,
        )


if __name__ == "__main__":
    main()
