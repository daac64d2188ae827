"""Annealed heads with and without moves from single starts.

python benchmarks/moves.py [--device cpu|gpu] [--runs 256] [--sizes 20,3 100,16]

Times are those of a second call, when everything is compiled (processor time on the CPU, else the
clock); the ratio is with over without moves in the same run.
"""

import argparse
import time
from typing import NamedTuple

import jax
import numpy as np

from paritylab.learning import Heads, Population, learn
from paritylab.problem import random_parities
from paritylab.statistics import Rate

#: Of targets and starts; the lab's claims use 0, 1 and 2.
SEED = 2028
SIZES = ["20,2", "20,3", "50,4", "100,8", "100,16", "100,32", "1000,16", "1000,32", "1000,64"]
HEAD = "| n, k | without moves | with moves | with ÷ without | seconds | failed runs' |c| |"


class Done(NamedTuple):
    """rate: runs that name exactly B. seconds: of one warm call over half of them. worst: the
    largest correlations that failed runs end on."""

    rate: Rate
    seconds: float
    worst: str


def measured(learner: Heads, n: int, k: int, runs: int) -> Done:
    """Two calls over half of the runs each; the second is timed."""
    on_cpu = jax.config.jax_default_device.platform == "cpu"
    now, parts = time.process_time if on_cpu else time.perf_counter, []
    for call in range(2):
        data = Population(random_parities(n, k, max(1, runs // 2), key=SEED + call))
        start = now()
        parts.append(learn(learner, data, key=SEED + call))
        seconds = now() - start
    found = np.concatenate([part.recovered for part in parts])
    ends = np.concatenate([part.stats["correlation"] for part in parts])[~found]
    worst = ", ".join(f"{each:.3g}" for each in np.sort(ends)[::-1][:3]) or "–"
    return Done(Rate.of(found), seconds, worst)


def row(n: int, k: int, runs: int) -> str:
    """One size, as a line of the table."""
    alone = Heads.annealed(moves=0, jitter=0.15)
    before, after = measured(alone, n, k, runs), measured(Heads.annealed(), n, k, runs)
    ratio, seconds = f"{after.seconds / before.seconds:.2f}", f"{after.seconds:.2f}"
    return f"| {n:,}, {k} | {before.rate} | {after.rate} | {ratio} | {seconds} | {after.worst} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", help="platform: cpu or gpu")
    parser.add_argument("--runs", type=int, default=256, help="of a cell")
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="n,k")
    given = parser.parse_args()
    device = jax.devices(given.device)[0]
    print(device.device_kind, HEAD, "|---|---|---|---|---|---|", sep="\n")
    with jax.default_device(device):
        for n, k in (map(int, each.split(",")) for each in given.sizes):
            print(row(n, k, given.runs), flush=True)


if __name__ == "__main__":
    main()
