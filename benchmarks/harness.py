"""Races: ours, a named peer and a floor, in alternation, warm, at equal error.

A floor is the same amount of arithmetic or traffic at the rate this machine shows in the same run.
Times are medians with their quartiles; what a table says first are ratios.
"""

import argparse
import datetime
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import numpy as np

import paritylab

Call = Callable[[], Any]


@dataclass(frozen=True)
class Race:
    """One line of the table.

    peer, floor: what to run beside it. times: how much more work ours does in one call than the
    peer (or the floor) does in one of its calls. error: what is known of the answer's accuracy.
    """

    name: str
    ours: Call
    peer: tuple[str, Call] | None = None
    floor: tuple[str, Call] | None = None
    peer_times: float = 1.0
    floor_times: float = 1.0
    error: str = ""


@dataclass(frozen=True)
class Time:
    """Seconds of one call: median and quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, seconds: list[float]) -> "Time":
        low, middle, high = np.quantile(seconds, [0.25, 0.5, 0.75])
        return cls(float(middle), float(low), float(high))

    def __str__(self) -> str:
        unit, size = ("s", 1.0) if self.median >= 1 else ("ms", 1e3)
        median, low, high = (each * size for each in (self.median, self.low, self.high))
        return f"{median:.3g} {unit} [{low:.3g}, {high:.3g}]"


def run(race: Race, seconds: float = 4.0, most: int = 9) -> dict[str, Any]:
    """The three in turn, at least three rounds, until the time is spent."""
    parts = {"ours": race.ours}
    if race.peer:
        parts["peer"] = race.peer[1]
    if race.floor:
        parts["floor"] = race.floor[1]
    repeats = {name: _repeats(call) for name, call in parts.items()}
    times: dict[str, list[float]] = {name: [] for name in parts}
    start = time.perf_counter()
    while len(times["ours"]) < 3 or (
        time.perf_counter() - start < seconds and len(times["ours"]) < most
    ):
        for name, call in parts.items():
            times[name].append(_timed(call, repeats[name]))
    found = {name: Time.of(values) for name, values in times.items()}
    row: dict[str, Any] = {"name": race.name, "error": race.error}
    row |= {name: vars(value) for name, value in found.items()}
    if race.peer:
        row["peer name"] = race.peer[0]
        row["peer over ours"] = found["peer"].median * race.peer_times / found["ours"].median
    if race.floor:
        row["floor name"] = race.floor[0]
        row["share of floor"] = found["floor"].median * race.floor_times / found["ours"].median
    return row


def _repeats(call: Call) -> int:
    """How often a call is made in one timing, so that it takes 50 ms; makes it warm too."""
    _timed(call)
    return max(1, min(50, int(0.05 / _timed(call))))


def _timed(call: Call, repeats: int = 1) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        jax.block_until_ready(call())
    return (time.perf_counter() - start) / repeats


def run_all(races: Iterable[Callable[[], Race]], only: str = "") -> list[dict[str, Any]]:
    """Every race whose name holds `only`; what cannot run here is a row that says why."""
    rows = []
    for make in races:
        if only not in make.__name__:
            continue
        print(f"{make.__name__} …", file=sys.stderr, flush=True)
        try:
            rows.append(run(make()))
        except Exception as problem:  # one missing peer must not end the run
            rows.append({"name": make.__name__, "failed": f"{type(problem).__name__}: {problem}"})
        jax.clear_caches()
    return rows


def machine() -> dict[str, str]:
    """Where and with what."""
    names = ("jax", "jaxlib", "numpy", "equinox")
    return {
        "date": datetime.date.today().isoformat(),
        "device": jax.devices()[0].device_kind,
        "machine": f"{platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        **{name: version(name) for name in names},
        "paritylab": paritylab.__version__,
    }


def table(rows: list[dict[str, Any]], facts: dict[str, str], command: str) -> str:
    """The rows as Markdown, ratios first."""
    heads = ("", "peer ÷ ours", "floor ÷ ours", "ours", "peer", "floor", "accuracy")
    where = ", ".join(f"{name} {value}" for name, value in facts.items())
    lines = [f"`{command}`; {where}. Medians [quartiles]."]
    lines += ["", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        if "failed" in row:
            lines.append(f"| {row['name']} | not run: {row['failed'][:80]} |" + " |" * 5)
            continue
        cells = [
            row["name"],
            f"{row['peer over ours']:.3g}" if "peer over ours" in row else "",
            f"{row['share of floor']:.2g}" if "share of floor" in row else "",
            str(Time(**row["ours"])),
            f"{row['peer name']}: {Time(**row['peer'])}" if "peer" in row else "",
            f"{row['floor name']}: {Time(**row['floor'])}" if "floor" in row else "",
            row["error"],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def publish(rows: list[dict[str, Any]], name: str, command: str) -> None:
    """JSON beside the scripts, and the table into docs/benchmarks.md between its marks."""
    here = Path(__file__).resolve().parent
    facts = machine()
    (here / f"{name}.json").write_text(json.dumps({"facts": facts, "rows": rows}, indent=1) + "\n")
    write_between(name, command, table(rows, facts, command))
    print(table(rows, facts, command))


def write_between(name: str, command: str, text: str) -> None:
    """Put a table into docs/benchmarks.md between its marks."""
    page = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
    first, last = f"<!-- {name}: made by {command} -->", f"<!-- end of {name} -->"
    whole = page.read_text()
    if first in whole:
        before, rest = whole.split(first)
        page.write_text(f"{before}{first}\n\n{text}\n\n{last}{rest.split(last)[1]}")


def main(text: str | None, races: Iterable[Callable[[], Race]], name: str, command: str) -> None:
    """The command line of a list of races."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--only", default="", help="races whose name holds this")
    parser.add_argument("--print", action="store_true", help="print, write nothing")
    given = parser.parse_args()
    rows = run_all(races, given.only)
    if given.print or given.only:
        print(table(rows, machine(), command))
    else:
        publish(rows, name, command)
