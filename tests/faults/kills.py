"""SIGKILL at random moments: to drivers, to workers, and to two drivers on one store."""

import random
import time
from pathlib import Path

from tests.faults.drivers import (
    FAILED,
    Plan,
    Tally,
    ending,
    finish,
    has_ended,
    inspect,
    kill,
    new_folder,
    start,
    workers_of,
)

#: Seconds after which a driver of each engine is killed at the latest, and between two workers.
_LONGEST = {"serial": 0.12, "processes": 0.6, "dask": 4.0}
_BETWEEN = {"processes": 0.15, "dask": 0.6}


def drivers(engine: str, kills: int, parent: Path) -> Tally:
    """Kill a driver and start it again, until the sweep is done; then the next sweep."""
    tally, draw = Tally(f"driver killed, {engine}"), random.Random(f"{engine}{kills}")
    while tally.attempts < kills:
        plan = Plan(new_folder(parent), engine, blocks=120 if engine == "dask" else 60)
        for _ in range(min(6 if engine == "dask" else 12, kills - tally.attempts)):
            pid = start(plan)
            deadline = time.monotonic() + draw.uniform(0, _LONGEST[engine])
            while time.monotonic() < deadline and not has_ended(pid):
                time.sleep(0.005)
            tally.attempts += kill(pid)
            ending(pid)
            inspect(plan, tally)
        finish(plan, tally)
    return tally


def workers(engine: str, kills: int, parent: Path) -> Tally:
    """Kill workers of a running sweep; blocks that died too often are run again at the end."""
    tally, draw = Tally(f"worker killed, {engine}"), random.Random(f"w{engine}{kills}")
    sweeps = 0
    while tally.attempts < kills:
        plan = Plan(new_folder(parent), engine, blocks=150, pause=0.02)
        pid, sweeps = start(plan), sweeps + 1
        # In every third sweep workers are killed while they start as well.
        early = sweeps % 3 == 0
        while tally.attempts < kills and not has_ended(pid):
            time.sleep(draw.uniform(0, 2 * _BETWEEN[engine]))
            begun = plan.log.exists() and plan.log.stat().st_size
            if (early or begun) and (running := workers_of(pid)):
                tally.attempts += kill(draw.choice(running))
        code = ending(pid)
        # Workers that died again and again while starting: one line, goes on later.
        tally.notes["sweeps given up in one line"] += code == 2
        tally.notes["sweeps with a block reported as deadly"] += code == FAILED
        tally.harm[f"exit code {code}"] += code not in (0, 2, FAILED)
        inspect(plan, tally)
        finish(plan, tally)
    return tally
