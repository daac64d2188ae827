"""The fault suite: what is lost, doubled, wrong or ugly when things break. Run: make faults.

Prints a table of attempts, tracebacks, lost rows, duplicates and wrong answers accepted, and ends
with exit code 1 unless all but the attempts are 0. share: do so much of the whole, as in the tests.
"""

import argparse
import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults import damage, disk, drivers, fuzz, kills, real
from tests.faults.drivers import Tally

COLUMNS = ["what", "attempts", "tracebacks", "lost", "duplicates", "wrong", "notes"]


def parts(share: float) -> dict[str, list[Callable[[Path], Tally]]]:
    def n(whole: int) -> int:
        return max(1, round(whole * share))

    return {
        "kills": [
            lambda folder: kills.drivers("serial", n(500), folder),
            lambda folder: kills.drivers("processes", n(120), folder),
            lambda folder: kills.workers("processes", n(200), folder),
        ],
        "dask": [
            lambda folder: kills.drivers("dask", n(40), folder),
            lambda folder: kills.workers("dask", n(140), folder),
        ],
        "rivals": [lambda folder: kills.rivals(n(40), folder)],
        "real": [lambda folder: real.kills(n(20), folder)],
        "clock": [real.clock_jumps],
        "disk": [
            lambda folder: disk.full(n(40), folder),
            lambda folder: disk.read_only(n(20), folder),
        ],
        "damage": [
            lambda folder: damage.truncated(n(200), folder),
            lambda folder: damage.flipped(n(600), folder),
            damage.foreign,
        ],
        "fuzz": [
            lambda folder: fuzz.command_lines(n(4000), folder),
            lambda folder: fuzz.sweep_files(n(3000), folder),
            lambda folder: fuzz.row_files(n(2000), folder),
            lambda folder: fuzz.claims_files(n(1000), folder),
            lambda folder: fuzz.real_processes(n(200), folder),
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts(1))}; all by default")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--keep", type=Path, help="a folder for what was found, else thrown away")
    chosen = parser.parse_args()
    folder = Path(chosen.keep or tempfile.mkdtemp(prefix="paritylab-faults-"))
    folder.mkdir(parents=True, exist_ok=True)
    begin, tallies = time.monotonic(), []
    try:
        for tally in _run(chosen.parts or list(parts(1)), chosen.share, folder):
            tallies.append(tally)
    finally:
        if chosen.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    _print(tallies)
    print(f"{time.monotonic() - begin:.0f} s")
    sys.exit(any(tally.failed for tally in tallies))


def _run(names: list[str], share: float, folder: Path) -> Iterator[Tally]:
    for name in names:
        for part in parts(share)[name]:
            start = time.monotonic()
            with contextlib.nullcontext() if name == "fuzz" else drivers.stand_ins():
                tally = part(folder)
            tally.notes["s"] = round(time.monotonic() - start)
            print("  ".join(tally.cells()), file=sys.stderr, flush=True)
            yield tally


def _print(tallies: list[Tally]) -> None:
    total = Tally("all")
    for tally in tallies:
        for name in ("attempts", "tracebacks", "lost", "duplicates", "wrong"):
            setattr(total, name, getattr(total, name) + getattr(tally, name))
    rows = [COLUMNS, *(tally.cells() for tally in [*tallies, total])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
