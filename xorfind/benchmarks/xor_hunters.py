"""Fields, checksums and bank functions: how many of 20 tables are found, in what time.

    python benchmarks/xor_hunters.py [--tables 20]

`hunt` is compared with galois (row_reduce over GF(2); extra `bench`) and with plain elimination,
one row operation at a time in numpy. These two solve clean rows only; where a case is none of
theirs the cell is empty. Found means: right on 200 fresh rows,
the right polynomial, or the same bank functions up to row operations; for "no formula" it counts
tables in which nothing was claimed.
"""

import argparse
import importlib.util
import random
import runpy
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from xorfind.fields import (
    hunt,
    read_fields,
    set_differences,
    shared_functions,
)
from xorfind.fields.crc import catalogue
from xorfind.fields.timings import threshold
from xorfind.gf2 import reduced

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "xor_hunters.py"))
NAMES = tuple(f"addr[{bit}]" for bit in range(32, 5, -1))
NAMED = {named.name: named for named in catalogue()}


@dataclass(frozen=True)
class Case:
    """One line of the table.

    ours: a table's seed to whether it was found and the seconds. system: for the peers, a seed to
    bits and target, clean; None where they have nothing to solve.
    """

    name: str
    rows: int
    noise: str
    ours: Callable[[int], tuple[bool, float]]
    system: Callable[[int], tuple[np.ndarray, np.ndarray]] | None = None


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    made = call()
    return made, time.perf_counter() - start


def explained(lines: list[str], target: str, budget: float = 10.0) -> tuple[Any, float]:
    """`hunt` on lines of a file, reading included."""

    def call() -> Any:
        rows = lines
        if "," in lines[1]:
            cells = zip(*(line.split(",") for line in lines[1:]), strict=True)
            rows = dict(zip(lines[0].split(","), map(list, cells), strict=True))
        table = read_fields(rows)
        return hunt(table, target, budget=budget)

    return timed(call)


def crc_case(name: str, rows: int, wrong: int = 0) -> Case:
    named = NAMED[name]
    target = f"frame[-{named.width // 8}:-1]"

    def frames(seed: int) -> list[str]:
        draw = random.Random(seed)
        lines = EXAMPLE["crc_frames"](draw, name, rows)
        for at in draw.sample(range(rows), wrong):
            lines[at] = lines[at][:-2] + f"{int(lines[at][-2:], 16) ^ draw.randrange(1, 256):02x}"
        return lines

    def ours(seed: int) -> tuple[bool, float]:
        finding, seconds = explained(frames(seed), target)
        return finding.crc is not None and name in finding.crc.names, seconds

    return Case(name, rows, f"{wrong} frames" if wrong else "0", ours)


def predicted(name: str, target: str, make: Callable[..., list[str]], rows: int) -> Case:
    """A field that must be right on fresh rows."""

    def lines(seed: int, count: int) -> list[str]:
        return make(random.Random(seed), count)

    def ours(seed: int) -> tuple[bool, float]:
        finding, seconds = explained(lines(seed, rows), target)
        if finding.matrix is None:
            return False, seconds
        fresh = explained(lines(10_000 + seed, 200), target)[0].system
        right = finding.matrix.inputs == fresh.inputs and bool(
            (finding.matrix.apply(fresh.bits) == fresh.target).all()
        )
        return bool(finding.found and right), seconds

    def system(seed: int) -> tuple[np.ndarray, np.ndarray]:
        finding, _ = explained(lines(seed, rows), target)
        return finding.system.bits, finding.system.target

    return Case(name, rows, "0", ours, system)


def is_truth(inputs: tuple[str, ...], rows: np.ndarray) -> bool:
    """Whether rows over inputs span the bank functions."""
    kept = [inputs.index(name) for name in NAMES]
    true = np.zeros((4, len(NAMES)), np.uint8)
    for row, bits in zip(true, EXAMPLE["BANKS"], strict=True):
        row[[32 - bit for bit in bits]] = 1
    made = reduced(rows[:, kept])
    return made.shape == (4, len(NAMES)) and bool((made == reduced(true)).all())


def labelled(rows: int, noise: float) -> Case:
    def lines(seed: int) -> list[str]:
        return EXAMPLE["labelled_banks"](random.Random(seed), rows, noise)

    def ours(seed: int) -> tuple[bool, float]:
        finding, seconds = explained(lines(seed), "bank")
        matrix = finding.matrix
        return matrix is not None and is_truth(matrix.inputs, matrix.rows), seconds

    def system(seed: int) -> tuple[np.ndarray, np.ndarray]:
        finding, _ = explained(lines(seed), "bank")
        return finding.system.bits, finding.system.target

    return Case("DRAM banks, labelled", rows, f"{noise:.0%}", ours, None if noise else system)


def bits_of(lines: list[str], slices: str) -> tuple[Any, np.ndarray]:
    cells = zip(*(line.split(",") for line in lines[1:]), strict=True)
    columns = dict(zip(lines[0].split(","), map(list, cells), strict=True))
    ((part, bits),) = read_fields(columns).explaining([], [slices])
    return columns, part.taken(bits)


def unlabelled(rows: int, noise: float) -> Case:
    def ours(seed: int) -> tuple[bool, float]:
        lines = EXAMPLE["labelled_banks"](random.Random(seed), rows, noise)

        def call() -> Any:
            columns, bits = bits_of(lines, "addr[32:6]")
            groups = np.array(columns["bank"], int)
            return shared_functions(NAMES, *set_differences(bits, groups))

        found, seconds = timed(call)
        return is_truth(NAMES, found.basis), seconds

    return Case("DRAM sets without labels", rows, f"{noise:.0%}", ours)


def latencies(rows: int) -> Case:
    def ours(seed: int) -> tuple[bool, float]:
        lines = EXAMPLE["timed_pairs"](random.Random(seed), rows)

        def call() -> Any:
            columns, bits = bits_of(lines, "a^b[32:6]")
            times = np.array(columns["cycles"], float)
            cut = threshold(times)
            return shared_functions(NAMES, bits[cut.slow(times)], bits[cut.fast(times)])

        found, seconds = timed(call)
        return is_truth(NAMES, found.basis), seconds

    return Case("DRAM pairs with a latency", rows, "timings", ours)


def nothing(rows: int) -> Case:
    def ours(seed: int) -> tuple[bool, float]:
        lines = [random.Random(1000 * seed + at).randbytes(6).hex() for at in range(rows)]
        finding, seconds = explained(lines, "frame[-1]", budget=2.0)
        return finding.matrix is None and not finding.found, seconds

    return Case("no formula (random check)", rows, "-", ours)


def sums(rows: int) -> Case:
    def ours(seed: int) -> tuple[bool, float]:
        draw, lines = random.Random(seed), []
        for _ in range(rows):
            data = draw.randbytes(7)
            lines.append((data + bytes([sum(data) + 85 & 255])).hex())
        finding, seconds = explained(lines, "frame[-1]")
        return bool(finding.sums) and finding.sums[0].family == "sum-bytes", seconds

    return Case("sum of bytes modulo 256", rows, "0", ours)


def cases() -> list[Case]:
    pump = lambda draw, rows: EXAMPLE["heat_pump"](draw, rows, mixed=False)  # noqa: E731
    return [
        crc_case("CRC-8/MAXIM-DOW", 12),
        crc_case("CRC-16/MODBUS", 12),
        crc_case("CRC-16/MODBUS", 60, wrong=6),
        crc_case("CRC-32/ISO-HDLC", 12),
        predicted("heat-pump frames, linear, no CRC", "frame[-1]", pump, 240),
        predicted("scrambler x^7 + x^4 + 1", "sent", EXAMPLE["scrambler"], 200),
        sums(40),
        labelled(100, 0.0),
        labelled(400, 0.03),
        labelled(400, 0.1),
        unlabelled(800, 0.05),
        latencies(4000),
        nothing(300),
    ]


def by_galois(bits: np.ndarray, target: np.ndarray) -> bool:
    import galois

    whole = np.column_stack([bits, np.ones(len(bits), np.uint8), target])
    columns = bits.shape[1] + 1
    form = np.asarray(galois.GF2(whole).row_reduce(ncols=columns))
    return not form[~form[:, :columns].any(axis=1), columns:].any()


def plainly(bits: np.ndarray, target: np.ndarray) -> bool:
    """Elimination one row operation at a time."""
    rows = np.column_stack([bits, np.ones(len(bits), np.uint8), target]).astype(np.uint8)
    columns, done = bits.shape[1] + 1, 0
    for column in range(columns):
        there = np.flatnonzero(rows[done:, column])
        if not len(there):
            continue
        rows[[done, done + there[0]]] = rows[[done + there[0], done]]
        for at in np.flatnonzero(rows[:, column]):
            if at != done:
                rows[at] ^= rows[done]
        done += 1
    return not rows[done:, columns:].any()


def peer(
    solve: Callable[[np.ndarray, np.ndarray], bool], case: Case, tables: int
) -> dict[str, Any] | None:
    if case.system is None:
        return None
    systems = [case.system(seed) for seed in range(tables)]
    solve(*systems[0])  # galois compiles on its first call
    made = [timed(lambda s=system: solve(*s)) for system in systems]
    return {"found": sum(ok for ok, _ in made), "seconds": median(s for _, s in made)}


def shown(entry: dict[str, Any] | None, tables: int) -> str:
    return "" if entry is None else f"{entry['found']} of {tables}, {entry['seconds']:.3g} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table")
    options = parser.parse_args()
    tables = options.tables
    galois = importlib.util.find_spec("galois") is not None
    print("| case | rows | noise | found | seconds | galois | plain elimination |")
    print("|---|---|---|---|---|---|---|")
    for case in cases():
        made = [case.ours(options.first + seed) for seed in range(tables)]
        seconds = [each for _, each in made]
        peers = [peer(by_galois, case, tables) if galois else None, peer(plainly, case, tables)]
        print(
            f"| {case.name} | {case.rows:,} | {case.noise} | {sum(ok for ok, _ in made)} of "
            f"{tables} | {median(seconds):.2g} (worst {max(seconds):.2g}) | "
            f"{' | '.join(shown(each, tables) for each in peers)} |",
            flush=True,
        )
    if not galois:
        print("galois is not installed (extra bench), so its column is empty")


if __name__ == "__main__":
    main()
