"""Fuzzed command lines as processes of their own, in a folder with a store and in one without."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.faults.drivers import Tally, new_folder
from tests.faults.fuzz import BAD, BAD_GRIDS, GRID, ROOT, SECONDS, VALUES, fill, found, toml

#: Commands that are quick whatever they are given.
_QUICK = {
    "sweep run grid.toml --dry-run": ["--effort", "--engine", "--file", "--store"],
    "sweep status": ["--store"],
    "sweep export": ["--store", "--csv", "--parquet", "--effort"],
    "sweep plot": ["--store", "--out", "--x", "--y"],
    "sweep rescue": ["--to"],
    "report": ["--from", "--out"],
    "claims": ["--json"],
    "prove no-such-proof": ["--file", "--json"],
    "discover": ["--target", "--k", "--alpha", "--threshold", "--bits"],
    "apply": ["--out"],
    "xor": ["--target", "--bits", "--ignore", "--threshold"],
    "live": ["--from"],
    "info": ["--json"],
}


class Line(NamedTuple):
    """Arguments, and the exit codes that are right."""

    arguments: list[str]
    codes: set[int]


def drawn(number: int, folder: Path) -> Line:
    """Of four lines two are known to be bad, one has a bad sweep file, one is random."""
    draw = random.Random(number)
    kind = number // 2 % 4
    if kind == 0:
        grid = json.loads(json.dumps(GRID))
        draw.choice(BAD_GRIDS)(grid)
        (folder / f"{number}.toml").write_text(toml(grid))
        return Line(["sweep", "run", f"{number}.toml", "--dry-run"], {2})
    if kind < 3:
        return Line([*draw.choice(BAD)], {2})
    command = draw.choice(sorted(_QUICK))
    words = command.split()
    for option in draw.sample(_QUICK[command], draw.randint(0, len(_QUICK[command]))):
        words += [option, draw.choice(VALUES)]
    return Line([*words, *draw.choices(VALUES, k=draw.randint(0, 2))], {0, 1, 2, 3})


def real_processes(count: int, parent: Path, first: int = 0) -> Tally:
    """Even numbers run without a store, odd ones beside one that holds a finished sweep."""
    tally = Tally("the same as real processes")
    folders = [new_folder(parent, "bare"), new_folder(parent, "stored")]
    for folder in folders:
        fill(folder)
    run = ["sweep", "run", "grid.toml"]
    if _started(Line(run, {0}), folders[1]).wait() != 0:
        tally.wrong += 1
    for number in range(first, first + count):
        folder = folders[number % 2]
        line = drawn(number, folder)
        _judge(line, _started(line, folder), tally)
    return tally


def _started(line: Line, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "paritylab", *line.arguments]
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


def _judge(line: Line, process: subprocess.Popen[str], tally: Tally) -> None:
    tally.attempts += 1
    try:
        _, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        tally.hangs += 1
        tally.notes[f"no end: {' '.join(line.arguments)!r}"] += 1
        return
    shown = repr(" ".join(line.arguments))
    # A process that takes over a second to load says so before it complains.
    lines = [line for line in err.splitlines() if line != "loading"]
    if "Traceback" in err or (process.returncode == 2 and len(lines) != 1):
        tally.tracebacks += 1
        found(tally, shown, err)
    elif process.returncode not in line.codes:
        tally.codes += 1
        found(tally, shown, f"exit code {process.returncode}: {err}")
