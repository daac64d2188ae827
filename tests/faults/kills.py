"""SIGKILL at random moments: to drivers, to workers, and to two drivers on one store."""

import os
import random
import time
from pathlib import Path

from tests.faults.drivers import (
    FAILED,
    Plan,
    Tally,
    ended,
    finish,
    inspect,
    kill,
    new_folder,
    one_of,
    start,
    workers_of,
)

#: Seconds after which a driver of each engine is killed at the latest.
_LONGEST = {"serial": 0.12, "processes": 0.6, "dask": 4.0}


def drivers(engine: str, kills: int, parent: Path) -> Tally:
    """Kill a driver and start it again, until the sweep is done; then the next sweep."""
    tally, draw = Tally(f"driver killed, {engine}"), random.Random(f"{engine}{kills}")
    blocks = {"serial": 60, "processes": 60, "dask": 120}[engine]
    while tally.attempts < kills:
        plan = Plan(new_folder(parent, engine), engine, blocks)
        for _ in range(6 if engine == "dask" else 12):
            if tally.attempts >= kills:
                break
            pid = start(plan)
            _sleep(draw.uniform(0, _LONGEST[engine]), pid)
            if kill(pid):
                tally.attempts += 1
            os.waitpid(pid, 0)
            inspect(plan, tally)
        finish(plan, tally)
    return tally


def workers(engine: str, kills: int, parent: Path) -> Tally:
    """Kill workers of a running sweep; blocks that died too often are run again at the end."""
    tally, draw = Tally(f"worker killed, {engine}"), random.Random(f"w{engine}{kills}")
    between, sweeps = {"processes": 0.15, "dask": 0.6}[engine], 0
    while tally.attempts < kills:
        plan = Plan(new_folder(parent, engine), engine, blocks=150, pause=0.02)
        pid, code, sweeps = start(plan), None, sweeps + 1
        # In every third sweep workers are killed while they start as well.
        early = sweeps % 3 == 0
        while tally.attempts < kills and (code := ended(pid)) is None:
            time.sleep(draw.uniform(0, 2 * between))
            if (early or (plan.log.exists() and plan.log.stat().st_size)) and (
                running := workers_of(pid)
            ):
                tally.attempts += kill(one_of(running, draw))
        if code is None:
            _, status = os.waitpid(pid, 0)
            code = os.waitstatus_to_exitcode(status)
        if code == 2:  # workers that died again and again while starting: one line, goes on later
            tally.notes["sweeps given up in one line"] += 1
        elif code not in (0, FAILED):
            tally.wrong += 1
            tally.notes[f"exit code {code}"] += 1
        tally.notes["sweeps with a block reported as deadly"] += code == FAILED
        inspect(plan, tally)
        finish(plan, tally)
    return tally


def rivals(pairs: int, parent: Path) -> Tally:
    """Two drivers on one new store at once; in every second pair one of them is killed."""
    tally, draw = Tally("two drivers on one store"), random.Random(pairs)
    for number in range(pairs):
        plan = Plan(new_folder(parent, "rivals"), blocks=30, rivals=True)
        pids = [start(plan)]
        time.sleep(one_of([0, draw.uniform(0, 0.05)], draw))
        pids.append(start(plan))
        if number % 2:
            time.sleep(draw.uniform(0, 0.1))
            kill(one_of(pids, draw))
        codes = {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids}
        tally.attempts += 1
        if codes - {0, -9}:
            tally.wrong += 1
            tally.notes[f"exit codes {sorted(codes)}"] += 1
        finish(plan, tally)
    return tally


def _sleep(seconds: float, pid: int) -> None:
    """Not longer than the driver runs; it stays there to be killed and asked for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(min(0.02, max(0.0, deadline - time.monotonic())))
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return
