"""Races: ours, a named peer and a floor, in alternation, warm, at equal error.

A floor is the same amount of arithmetic or traffic at the rate this machine shows in the same run.
Times are medians with their quartiles; what a table says first are ratios.
"""

import argparse
import datetime
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import numpy as np

import paritylab

Call = Callable[[], Any]
DOCS = Path(__file__).resolve().parents[1] / "docs"
HEADS = ("", "peer ÷ ours", "floor ÷ ours", "ours", "peer", "floor", "accuracy")


@dataclass(frozen=True)
class Race:
    """One line of the table.

    peer, floor: what it is compared with. times: how much more work ours does in one call than the
    peer (or the floor) does in one of its calls. error: what is known of the answer's accuracy.
    """

    ours: Call
    peer: tuple[str, Call] | None = None
    floor: tuple[str, Call] | None = None
    peer_times: float = 1.0
    floor_times: float = 1.0
    error: str = ""


def run(name: str, race: Race, seconds: float = 4.0, most: int = 9) -> tuple[str, ...]:
    """The three in turn, at least three rounds, until the time is spent; the cells of a row."""
    calls = {"ours": race.ours}
    calls |= {"peer": race.peer[1]} if race.peer else {}
    calls |= {"floor": race.floor[1]} if race.floor else {}
    repeats = {each: _repeats(call) for each, call in calls.items()}
    times: dict[str, list[float]] = {each: [] for each in calls}
    start = time.perf_counter()
    while len(times["ours"]) < 3 or (
        time.perf_counter() - start < seconds and len(times["ours"]) < most
    ):
        for each, call in calls.items():
            times[each].append(timed(call, repeats[each]))
    middle = {each: float(np.median(values)) for each, values in times.items()}
    peer = floor = over_peer = over_floor = ""
    if race.peer:
        over_peer = f"{middle['peer'] * race.peer_times / middle['ours']:.3g}"
        peer = f"{race.peer[0]}: {shown(times['peer'])}"
    if race.floor:
        over_floor = f"{middle['floor'] * race.floor_times / middle['ours']:.2g}"
        floor = f"{race.floor[0]}: {shown(times['floor'])}"
    return name, over_peer, over_floor, shown(times["ours"]), peer, floor, race.error


def shown(seconds: list[float]) -> str:
    """Median and quartiles of the seconds of a call."""
    low, median, high = np.quantile(seconds, [0.25, 0.5, 0.75])
    unit, size = ("s", 1.0) if median >= 1 else ("ms", 1e3)
    return f"{median * size:.3g} {unit} [{low * size:.3g}, {high * size:.3g}]"


def _repeats(call: Call) -> int:
    """How often a call is made in one timing, so that it takes 50 ms; makes it warm too."""
    timed(call)
    return max(1, min(50, int(0.05 / timed(call))))


def timed(call: Call, repeats: int = 1) -> float:
    """Seconds of a call; the mean of so many in a row."""
    start = time.perf_counter()
    for _ in range(repeats):
        jax.block_until_ready(call())
    return (time.perf_counter() - start) / repeats


def machine() -> str:
    """Where and with what."""
    known = {
        "date": datetime.date.today().isoformat(),
        "device": jax.devices()[0].device_kind,
        "machine": f"{platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("jax", "jaxlib", "numpy", "equinox")},
        "paritylab": paritylab.__version__,  # a source tree is not installed
    }
    return ", ".join(f"{name} {value}" for name, value in known.items())


def markdown(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def write_between(page: Path, name: str, text: str) -> None:
    """Put a text into a page between `<!-- name: … -->` and `<!-- end of name -->`."""
    before, first, rest = page.read_text().partition(f"<!-- {name}: ")
    head, mark, rest = rest.partition("-->")
    _, last, after = rest.partition(f"<!-- end of {name} -->")
    if not (first and mark and last):
        raise ValueError(f"{page} has no marks of {name}")
    page.write_text(f"{before}{first}{head}{mark}\n\n{text}\n\n{last}{after}")


def main(text: str | None, races: dict[str, Callable[[], Race]], name: str, command: str) -> None:
    """The command line of a table of races; what cannot run here is a row that says why."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--only", default="", help="races whose name holds this")
    parser.add_argument("--print", action="store_true", help="print, write nothing")
    given = parser.parse_args()
    rows = []
    for title, make in races.items():
        if given.only not in title:
            continue
        print(f"{title} …", file=sys.stderr, flush=True)
        try:
            rows.append(run(title, make()))
        except Exception as problem:  # one missing peer must not end the run
            said = f"not run: {type(problem).__name__}: {problem}"[:90]
            rows.append((title, said, *[""] * (len(HEADS) - 2)))
        jax.clear_caches()
    made = f"`{command}`; {machine()}. Medians [quartiles].\n\n{markdown(HEADS, rows)}"
    print(made)
    if not (given.print or given.only):
        write_between(DOCS / "benchmarks.md", name, made)
