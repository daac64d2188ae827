"""The fault suite: what is lost, doubled, wrong or ugly when things break. Run: make faults.

Every part counts its attempts and the harm done; the criterion is 0 harm. Finished parts are kept
in a folder, so that a run that was broken off goes on where it was, if the code is the same. Ends
with a table, and exit code 1 if there was harm. share: do so much of the whole.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.faults import damage, disk, drivers, fuzz, kills, own_claims, page, real, real_lines
from tests.faults.drivers import HARM, Tally

from paritylab.files import write_atomically
from paritylab.sweep.provenance import code_fingerprint

COLUMNS = ["what", "attempts", *HARM, "notes"]
#: Where finished parts are kept.
KEPT = Path(".paritylab") / "faults"

Part = Callable[[Path], Tally]


def parts(share: float) -> dict[str, list[Part]]:
    def n(whole: int) -> int:
        return max(1, round(whole * share))

    return {
        "kills": [
            lambda folder: kills.drivers("serial", n(300), folder),
            lambda folder: kills.drivers("processes", n(80), folder),
            lambda folder: kills.drivers("serial", n(60), folder, signal.SIGTERM),
            lambda folder: kills.workers("processes", n(120), folder),
        ],
        "dask": [
            lambda folder: kills.drivers("dask", n(20), folder),
            lambda folder: kills.workers("dask", n(60), folder),
        ],
        "rivals": [lambda folder: kills.rivals(n(40), folder)],
        "damage": [
            lambda folder: damage.truncated(n(200), folder),
            lambda folder: damage.flipped(n(600), folder),
            lambda folder: damage.log_damaged(n(200), folder),
            damage.foreign,
        ],
        "disk": [
            lambda folder: disk.full(n(40), folder),
            lambda folder: disk.read_only(n(20), folder),
        ],
        "clock": [real.clock_jumps],
        "real": [lambda folder: real.kills(n(12), folder)],
        "fuzz": [
            lambda folder: fuzz.command_lines(n(4000), folder),
            lambda folder: fuzz.sweep_files(n(3000), folder),
            lambda folder: fuzz.row_files(n(2000), folder),
            lambda folder: own_claims.claims_files(n(1000), folder),
            lambda folder: real_lines.real_processes(n(200), folder),
        ],
        # In pieces, so that little is lost when it is broken off.
        "exact": [
            lambda folder, first=first: _hard_readouts(first, n(500))
            for first in range(0, 10_000, 500)
        ],
    }


def _hard_readouts(first: int, count: int) -> Tally:
    from tests.faults.exact import hard_readouts  # loads jax, which forks of drivers do without

    return hard_readouts(first, count)


#: Parts that need jax as it is; the others compute stand-ins for blocks.
_AS_IT_IS = ("fuzz", "exact")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts(1))}; all by default")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--keep", type=Path, default=KEPT, help="a folder for what was found")
    parser.add_argument("--fresh", action="store_true", help="run again what is finished")
    parser.add_argument("--table", action="store_true", help="only show what is finished")
    parser.add_argument("--page", type=Path, help="write docs/reliability.md from what is finished")
    chosen = parser.parse_args()
    names = chosen.parts or list(parts(1))
    if unknown := set(names) - set(parts(1)):
        parser.error(f"no part {sorted(unknown)[0]!r}")
    folder = chosen.keep.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    tallies, missing = [], Counter[str]()
    for name in names:
        for index, part in enumerate(parts(chosen.share)[name]):
            file = folder / f"{name}-{index}-{chosen.share:g}.json"
            tally = None if chosen.fresh else _finished(file)
            if tally is None and not chosen.table:
                tally = _run(name, part, folder)
                kept = {"code": code_fingerprint(), **vars(tally)}
                write_atomically(file, json.dumps(kept))
            tallies += [] if tally is None else [tally]
            missing[name] += tally is None
    tallies = _joined(tallies)
    _print(tallies)
    print(f"{time.monotonic() - begin:.0f} s")
    if chosen.page is not None:
        write_atomically(
            chosen.page, page.render([COLUMNS[:-1], *_rows(tallies)], missing, _harm(tallies))
        )
    sys.exit(any(tally.failed for tally in tallies))


def _joined(tallies: list[Tally]) -> list[Tally]:
    """Pieces of one name as one."""
    found: dict[str, Tally] = {}
    for tally in tallies:
        whole = found.setdefault(tally.name, Tally(tally.name))
        for name in ("attempts", *HARM):
            setattr(whole, name, getattr(whole, name) + getattr(tally, name))
        whole.notes += tally.notes
    return list(found.values())


def _harm(tallies: list[Tally]) -> list[str]:
    """The first cases in which there was harm, each with what was noted of it."""
    noted = [note for tally in tallies if tally.failed for note in tally.notes]
    return [note for note in noted if note.startswith(("case ", "found ", "no end"))][:10]


def _finished(file: Path) -> Tally | None:
    """What a part found earlier, with this code."""
    if not file.is_file():
        return None
    kept = json.loads(file.read_text())
    if kept.pop("code") != code_fingerprint():
        return None
    return Tally(**{**kept, "notes": Counter(kept["notes"])})


def _run(name: str, part: Part, folder: Path) -> Tally:
    start, place = time.monotonic(), folder / f"work-{os.getpid()}"
    place.mkdir(exist_ok=True)
    with contextlib.nullcontext() if name in _AS_IT_IS else drivers.stand_ins():
        tally = part(place)
    tally.notes["s"] = round(time.monotonic() - start)
    print("  ".join(tally.cells()), file=sys.stderr, flush=True)
    return tally


def _rows(tallies: list[Tally]) -> list[list[str]]:
    total = Tally("all")
    for tally in tallies:
        for name in ("attempts", *HARM):
            setattr(total, name, getattr(total, name) + getattr(tally, name))
    return [tally.cells()[:-1] for tally in [*tallies, total]]


def _print(tallies: list[Tally]) -> None:
    notes = [*(tally.cells()[-1] for tally in tallies), ""]
    rows = [[*row, note] for row, note in zip(_rows(tallies), notes, strict=True)]
    rows = [COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
