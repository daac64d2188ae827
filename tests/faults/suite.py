"""The fault suite: what is lost, doubled, wrong or ugly when things break. Run: make faults.

Every part counts its attempts and the harm done; the criterion is 0 harm. Finished parts are kept
in a folder, so that a run that was broken off goes on where it was, if the code is the same. Ends
with a table, and exit code 1 if there was harm. Two runs side by side share the work. share: do so
much of the whole.
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

from tests.faults import (
    clusters,
    damage,
    disk,
    drivers,
    fuzz,
    kills,
    names,
    own_claims,
    page,
    real,
    real_lines,
)
from tests.faults.drivers import HARM, Tally

from paritylab.files import held_alone, write_atomically
from paritylab.sweep.provenance import code_fingerprint

COLUMNS = ["what", "attempts", *HARM, "notes"]
#: Where finished parts are kept.
KEPT = Path(".paritylab") / "faults"

Part = Callable[[Path], Tally]


def parts(share: float) -> dict[str, list[Part]]:
    """Pieces of every part, none longer than some minutes, so that two runs side by side share them
    evenly and little is lost when one is broken off. Those that fork come first: a process that has
    loaded jax must not."""

    def n(whole: int) -> int:
        return max(1, round(whole * share))

    def pieces(count: int, piece: Callable[[Path, int], Tally]) -> list[Part]:
        return [lambda folder, number=number: piece(folder, number) for number in range(count)]

    return {
        "kills": [
            *pieces(3, lambda folder, at: kills.drivers("serial", n(100), folder, seed=at)),
            *pieces(2, lambda folder, at: kills.drivers("processes", n(30), folder, seed=at)),
            *pieces(2, lambda folder, at: kills.workers("processes", n(40), folder, seed=at)),
            lambda folder: kills.drivers("serial", n(60), folder, signal.SIGTERM),
            lambda folder: clusters.deadly_blocks("processes", n(4), folder),
        ],
        "dask": [
            lambda folder: kills.drivers("dask", n(16), folder),
            *pieces(2, lambda folder, at: kills.workers("dask", n(20), folder, seed=at)),
            lambda folder: clusters.schedulers(n(6), folder),
            lambda folder: clusters.other_code(n(4), folder),
            lambda folder: clusters.deadly_blocks("dask", n(2), folder),
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
        "real": [lambda folder: real.kills(n(9), folder)],
        "lines": pieces(
            4, lambda folder, at: real_lines.real_processes(n(50), folder, first=50 * at)
        ),
        "names": pieces(4, lambda folder, at: names.calls(n(2000), folder, first=2000 * at)),
        "claims": pieces(2, lambda folder, at: own_claims.claims_files(n(500), folder, 500 * at)),
        "fuzz": [
            lambda folder: fuzz.command_lines(n(4000), folder),
            lambda folder: fuzz.sweep_files(n(3000), folder),
            lambda folder: fuzz.row_files(n(2000), folder),
        ],
        "exact": pieces(20, lambda folder, at: _hard_readouts(500 * at, n(500))),
    }


def _hard_readouts(first: int, count: int) -> Tally:
    from tests.faults.exact import hard_readouts  # loads jax, which forks of drivers do without

    return hard_readouts(first, count)


#: Parts that need jax as it is; the others compute stand-ins for blocks.
_AS_IT_IS = ("clock", "real", "lines", "names", "claims", "fuzz", "exact")


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
                with held_alone(f"faults {file}") as alone:  # else another run has it in hand
                    tally = _run(name, part, folder, file) if alone else None
            tallies += [] if tally is None else [tally]
            missing[name] += tally is None
    tallies = _joined(tallies)
    _print(tallies)
    print(f"{time.monotonic() - begin:.0f} s")
    if chosen.page is not None:
        write_atomically(
            chosen.page, page.render([COLUMNS[:-1], *_rows(tallies)], missing, _harm(tallies))
        )
    # A run beside this one may still have pieces in hand; the table at the end must have them all.
    unfinished = chosen.table and any(missing.values())
    if unfinished:
        print(f"not finished: {', '.join(f'{missing[each]} of {each}' for each in +missing)}")
    sys.exit(unfinished or any(tally.failed for tally in tallies))


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


def _run(name: str, part: Part, folder: Path, file: Path) -> Tally:
    """What a part finds; kept in a file."""
    start, spent, place = time.monotonic(), sum(os.times()[:4]), folder / f"work-{os.getpid()}"
    place.mkdir(exist_ok=True)
    with contextlib.nullcontext() if name in _AS_IT_IS else drivers.stand_ins():
        tally = part(place)
    tally.notes["s"] = round(time.monotonic() - start)
    tally.notes["s of CPU"] = round(sum(os.times()[:4]) - spent)
    write_atomically(file, json.dumps({"code": code_fingerprint(), **vars(tally)}))
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
