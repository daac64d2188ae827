"""How time and memory grow with the size, next to what theory says: part of make bench.

python benchmarks/growth.py [--only part-of-a-name] [--print]
"""

import argparse
import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from cpu import K, attention_of
from harness import DOCS, machine, markdown, timed, write_between

from paritylab import population_gradient, random_tree, streamed_step
from paritylab.learning import teacher_gradient
from paritylab.problem import random_parity
from paritylab.statistics import power_law


class Growth(NamedTuple):
    """size: what grows. sizes: for time. large: two for memory, beyond what compiling takes.

    make: from a size to the call. time, memory: theory's powers.
    """

    size: str
    sizes: tuple[int, ...]
    large: tuple[int, int]
    make: Callable[[int], Callable[[], Any]]
    time: float
    memory: float
    why: str


def _series(n: int) -> Callable[[], Any]:
    attention, problem = attention_of(n), random_parity(1, n, K)
    return lambda: population_gradient(attention, problem).gradient


def _half_sums(inputs: int) -> Callable[[], Any]:
    return _series(inputs.bit_length() - 1)


def _chain(n: int) -> Callable[[], Any]:
    tree = random_tree(0, n, n // 2)
    return lambda: teacher_gradient(tree, 1, 16_384)


def _xor(n: int) -> Callable[[], Any]:
    return lambda: streamed_step(n, 96, [24.0], pairs=20).ranked


GROWTHS = {
    "population gradient by the series": Growth(
        "n",
        (100_000, 1_000_000, 10_000_000),
        (5_000_000, 20_000_000),
        _series,
        1,
        1,
        "a few passes over the weights, whatever the number of terms",
    ),
    "population gradient by half-sums": Growth(
        "2^n",
        (1 << 24, 1 << 28, 1 << 32),
        (1 << 32, 1 << 36),
        _half_sums,
        0.5,
        0.5,
        "two halves of about 2^(n/2) sums",
    ),
    "chain, one step, k = n/2": Growth(
        "n",
        (512, 1024, 2048),
        (2048, 4096),
        _chain,
        2,
        2,
        "a product of n + k tokens with k nodes, the same rows",
    ),
    "XOR, one step": Growth(
        "n",
        (300_000, 1_000_000, 3_000_000),
        (4_000_000, 16_000_000),
        _xor,
        1,
        1,
        "a product of n signs with the width",
    ),
}


def peak(name: str, size: int) -> float:
    """Bytes that a call in a process of its own adds to the most held before."""
    code = f"import growth; growth.print_peak({name!r}, {size})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=sys.path[0]
    )
    return float(done.stdout.split()[-1])


def print_peak(name: str, size: int) -> None:
    growth = GROWTHS[name]
    jax.block_until_ready(growth.make(growth.large[0] // 4)())
    gc.collect()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # Linux starts the peak anew
    jax.block_until_ready(growth.make(size)())
    print(_status("VmHWM") - before)


def _status(name: str) -> int:
    """Bytes that Linux says this process holds, or held at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))


def row_of(name: str) -> tuple[str, ...]:
    growth = GROWTHS[name]
    calls = [growth.make(size) for size in growth.sizes]
    seconds = [float(np.median([timed(call) for _ in range(4)][1:])) for call in calls]
    held = [peak(name, size) for size in growth.large]
    return (
        f"{name}, {growth.size} = " + ", ".join(f"{size:,}" for size in growth.sizes),
        ", ".join(f"{each:.3g} s" for each in seconds),
        f"{power_law(growth.sizes, seconds).exponent:.2f}",
        f"{growth.time:g}",
        ", ".join(f"{each / 1e6:.0f} MB" for each in held),
        f"{np.log(held[1] / held[0]) / np.log(growth.large[1] / growth.large[0]):.2f}",
        f"{growth.memory:g}",
        growth.why,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="growths whose name holds this")
    parser.add_argument("--print", action="store_true", help="print, write nothing")
    given = parser.parse_args()
    heads = ("", "median", "power", "theory", "memory at larger sizes", "power", "theory", "why")
    rows = [row_of(name) for name in GROWTHS if given.only in name]
    text = f"`make bench`; {machine()}.\n\n{markdown(heads, rows)}"
    print(text)
    if not (given.print or given.only):
        write_between(DOCS / "benchmarks.md", "growth", text)


if __name__ == "__main__":
    main()
