"""Annealed heads with and without moves: single starts, a million positions.

python benchmarks/moves.py [--part starts|million] [--device cpu|gpu] [--runs R] [--seconds S]
                           [--sizes N,K …]

Cells are done in order of size until the time is spent; the tables come last. Times are those of a
second call, when everything is compiled (processor time on the CPU, else the clock); the ratio is
after over before in the same run.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from paritylab.learning import Annealed, Population, Runs, learn
from paritylab.problem import random_parities
from paritylab.statistics import Rate

#: Of targets and starts; the lab's claims use 0, 1 and 2.
SEED = 2028
SIZES = (
    *((20, 2), (20, 3), (50, 4), (100, 8), (100, 16), (100, 32)),
    *((1000, 16), (1000, 32), (1000, 64)),
)
Sizes = Sequence[tuple[int, int]]
MILLIONS = tuple((1_000_000, k) for k in (3, 5, 8, 16, 32))


class Done(NamedTuple):
    """rate: runs that name exactly B. seconds: of one warm call over half of them."""

    rate: Rate
    seconds: float
    worst: str


def _now() -> float:
    """Processor time where others may share the cores."""
    device = jax.config.jax_default_device
    return time.process_time() if device.platform == "cpu" else time.perf_counter()


def measured(learner: Annealed, n: int, k: int, runs: int) -> Done:
    """Two calls over half of the runs each; the second is timed."""
    half, parts = max(1, runs // 2), []
    for call in range(2):
        data = Population(random_parities(n, k, half, key=SEED + call))
        start = _now()
        parts.append(learn(learner, data, key=SEED + call))
        seconds = _now() - start
    return Done(Rate.of(np.concatenate([part.recovered for part in parts])), seconds, _ends(parts))


def _ends(parts: list[Runs]) -> str:
    """Correlations that failed runs end on, the largest three."""
    ends = np.concatenate([part.stats["correlation"][~part.recovered] for part in parts])
    return ", ".join(f"{each:.3g}" for each in np.sort(ends)[::-1][:3]) or "–"


def starts(runs: int, late: Callable[[], bool], sizes: Sizes = SIZES) -> Iterator[str]:
    yield "| n, k | before | after | time after/before | seconds after | failed runs' |c| |"
    yield "|---|---|---|---|---|---|"
    for n, k in sizes:
        if late():
            return
        before = measured(Annealed.without_moves(), n, k, runs)
        after = measured(Annealed(), n, k, runs)
        ratio = after.seconds / before.seconds
        yield (
            f"| {n}, {k} | {before.rate} | {after.rate} | {ratio:.2f} | {after.seconds:.2f} "
            f"| {after.worst} |"
        )


def million(runs: int, late: Callable[[], bool], sizes: Sizes = MILLIONS) -> Iterator[str]:
    yield "| n, k | found B | seconds for half of the runs | failed runs' correlations |"
    yield "|---|---|---|---|"
    for n, k in sizes:
        if late():
            return
        after = measured(Annealed(), n, k, runs)
        yield f"| {n:,}, {k} | {after.rate} | {after.seconds:.1f} | {after.worst} |"


def _size(text: str) -> tuple[int, int]:
    n, k = map(int, text.split(","))
    return n, k


PARTS = {"starts": starts, "million": million}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="one table only")
    parser.add_argument("--device", default="cpu", help="platform: cpu or gpu")
    parser.add_argument("--runs", type=int, help="per cell; 64 on the CPU, else 256")
    parser.add_argument("--seconds", type=float, default=140.0, help="no cell starts after that")
    parser.add_argument("--sizes", nargs="+", type=_size, help="other sizes")
    given = parser.parse_args()
    device = jax.devices(given.device)[0]
    runs = given.runs or (64 if given.device == "cpu" else 256)
    begun = time.perf_counter()
    late = lambda: time.perf_counter() - begun > given.seconds  # noqa: E731
    lines = []
    with jax.default_device(device):
        for name in [given.part] if given.part else ["starts", "million"]:
            count = max(2, runs // 8) if name == "million" else runs
            part = partial(PARTS[name], sizes=given.sizes) if given.sizes else PARTS[name]
            for line in part(count, late):
                print(f"{time.perf_counter() - begun:6.1f} s  {line}", file=sys.stderr, flush=True)
                lines.append(line)
            lines.append("")
    print(f"{device.device_kind}; {time.perf_counter() - begun:.0f} s in all\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
