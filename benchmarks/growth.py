"""How time and memory grow with the size, beside what theory says: part of make bench.

python benchmarks/growth.py [--only part-of-a-name] [--print]
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from cpu import K, attention_of
from harness import machine, write_between

from paritylab import (
    population_gradient,
    random_parity,
    random_tree,
    streamed_step,
    teacher_gradient,
)
from paritylab.statistics import power_law

COMMAND = "make bench"


class Growth(NamedTuple):
    """size: what grows, from one entry of sizes to the next. time, memory: theory's powers."""

    size: str
    sizes: tuple[int, ...]
    call: Callable[[int], Any]
    time: float
    memory: float
    why: str


def _series(n: int) -> Any:
    return population_gradient(attention_of(n), random_parity(1, n, K)).gradient


def _half_sums(inputs: int) -> Any:
    n = inputs.bit_length() - 1
    return population_gradient(attention_of(n), random_parity(1, n, K)).gradient


def _chain(n: int) -> Any:
    return teacher_gradient(random_tree(0, n, n // 2), 1, 65_536)


def _xor(n: int) -> Any:
    return streamed_step(n, 96, [24.0], pairs=20).ranked


GROWTHS = {
    "population gradient by the series": Growth(
        "n", (10_000, 100_000, 1_000_000), _series, 1, 1, "one pass per term of the series"
    ),
    "population gradient by half-sums": Growth(
        "2^n", (1 << 20, 1 << 24, 1 << 28), _half_sums, 0.5, 0.5, "two halves of 2^(n/2) sums"
    ),
    "chain, one step, k = n/2": Growth(
        "n", (256, 512, 1024), _chain, 2, 2, "a product of n + k tokens with k nodes"
    ),
    "XOR, one step": Growth(
        "n", (100_000, 300_000, 1_000_000), _xor, 1, 1, "a product of n signs with the width"
    ),
}


def seconds_of(call: Callable[[], Any], repeats: int = 3) -> float:
    jax.block_until_ready(call())
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def peak(name: str, size: int) -> float:
    """Bytes that a process of its own held at most beyond one that did the least size."""
    code = f"import growth; growth.measured_peak({name!r}, {size})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=sys.path[0]
    )
    return float(done.stdout.split()[-1])


def measured_peak(name: str, size: int) -> None:
    growth = GROWTHS[name]
    jax.block_until_ready(growth.call(max(8, growth.sizes[0] // 64)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    jax.block_until_ready(growth.call(size))
    print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))


def row_of(name: str) -> str:
    growth = GROWTHS[name]
    seconds = [seconds_of(lambda size=size: growth.call(size)) for size in growth.sizes]
    held = [max(peak(name, size), 1.0) for size in growth.sizes[1:]]
    fit = power_law(growth.sizes, seconds)
    memory = np.log(held[-1] / held[0]) / np.log(growth.sizes[-1] / growth.sizes[1])
    cells = [
        name,
        ", ".join(f"{size:,}" for size in growth.sizes),
        ", ".join(f"{each:.3g} s" for each in seconds),
        f"{fit.exponent:.2f}",
        f"{growth.time:g}",
        f"{memory:.2f} ({held[-1] / 1e6:.0f} MB)",
        f"{growth.memory:g}",
        growth.why,
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="growths whose name holds this")
    parser.add_argument("--print", action="store_true", help="print, write nothing")
    given = parser.parse_args()
    heads = ("", "sizes", "median", "power", "theory", "memory's power (most)", "theory", "why")
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for name in GROWTHS:
        if given.only in name:
            print(f"{name} …", file=sys.stderr, flush=True)
            lines.append(row_of(name))
    where = ", ".join(f"{key} {value}" for key, value in machine().items())
    text = f"`{COMMAND}`; {where}.\n\n" + "\n".join(lines)
    if not (given.print or given.only):
        write_between("growth", COMMAND, text)
    print(text)


if __name__ == "__main__":
    main()
