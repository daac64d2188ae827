"""What belongs to somebody else breaks: a dask scheduler dies, a worker runs other code, a block
kills whoever computes it."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.faults import work
from tests.faults.drivers import FAILED, Plan, Tally, ended, finish, inspect, new_folder, start

from paritylab.sweep.store import Store

#: Seconds in which a driver has to end once its scheduler is gone.
SECONDS = 20
ROOT = Path(__file__).resolve().parents[2]


class Foreign:
    """A scheduler on loopback and its workers, each a process of its own."""

    def __init__(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            self.port = unused.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self.scheduler = self._start(["scheduler", *where])
        self.workers: list[subprocess.Popen[bytes]] = []

    def add_worker(self, code: str = "") -> None:
        """code: what it says of its code; that of the driver if empty."""
        how = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        self.workers.append(self._start(["worker", self.address, *how], **{work.CODE: code}))

    def wait(self) -> None:
        """Until the scheduler listens."""
        for _ in range(600):
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), 1),
            ):
                return
            time.sleep(0.1)
        raise RuntimeError("the scheduler does not start")

    def end(self) -> None:
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()

    def _start(self, command: list[str], **environment: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command],
            env={**os.environ, "PYTHONPATH": path, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


@contextlib.contextmanager
def foreign(*codes: str) -> Iterator[Foreign]:
    """With one worker for each code."""
    cluster = Foreign()
    try:
        for code in codes:
            cluster.add_worker(code)
        cluster.wait()
        yield cluster
    finally:
        cluster.end()


def schedulers(kills: int, parent: Path) -> Tally:
    """Kill the scheduler of a running sweep: one line within 20 s, and the rest later."""
    tally, draw = Tally("scheduler killed, dask"), random.Random(kills)
    for _ in range(kills):
        with foreign("", "") as cluster:
            plan = Plan(new_folder(parent, "scheduler"), "dask", 200, 0.02, where=cluster.address)
            pid = start(plan)
            _until_stored(plan, pid)
            time.sleep(draw.uniform(0, 1))
            cluster.scheduler.send_signal(signal.SIGKILL)
            tally.attempts += 1
            _expect(pid, plan, {0, 2}, tally)
        finish(replace(plan, engine="serial"), tally)
    return tally


def other_code(attempts: int, parent: Path) -> Tally:
    """A worker of other code is there from the start, or joins: none of its rows is stored."""
    tally = Tally("worker with other versions, dask")
    for number in range(attempts):
        late = number % 2 == 1
        with foreign(*([""] if late else ["", "other"])) as cluster:
            plan = Plan(new_folder(parent, "other"), "dask", 200, 0.02, where=cluster.address)
            if not late:
                _until_workers(cluster, 2)
            pid = start(plan)
            tally.attempts += 1
            if late:
                _until_stored(plan, pid)
                cluster.add_worker("other")
            _expect(pid, plan, {0, 2} if late else {2}, tally, seconds=60)
        finish(replace(plan, engine="serial"), tally)
    return tally


def deadly_blocks(engine: str, attempts: int, parent: Path) -> Tally:
    """One block kills every process that begins it: it is named, and all others are stored."""
    tally, draw = Tally(f"a block that kills its worker, {engine}"), random.Random(engine)
    for _ in range(attempts):
        plan = Plan(new_folder(parent, "deadly"), engine, blocks=40, deadly=4 * draw.randrange(40))
        pid = start(plan)
        tally.attempts += 1
        _expect(pid, plan, {FAILED}, tally, seconds=120)
        told = plan.errors.read_text() if plan.errors.exists() else ""
        tally.wrong += f"runs from {plan.deadly}:" not in told
        with Store(plan.store, reading=True) as store:
            stored = {block["spec"]["first"] for block in store.blocks()}
        wanted = {spec.first for spec in plan.specs()} - {plan.deadly}
        tally.lost += len(wanted - stored)
        tally.wrong += plan.deadly in stored
    return tally


def _expect(pid: int, plan: Plan, codes: set[int], tally: Tally, seconds: float = SECONDS) -> None:
    """The end of a driver in time, with one of these codes and at most one line."""
    deadline = time.monotonic() + seconds
    while (code := ended(pid)) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    if code is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        tally.hangs += 1
        tally.notes[f"no end after {seconds:g} s"] += 1
        return
    tally.notes[f"exit code {code}"] += 1
    tally.codes += code not in codes
    lines = plan.errors.read_text(errors="replace").splitlines() if plan.errors.exists() else []
    tally.tracebacks += len(lines) > 1
    inspect(plan, tally)


def _until_stored(plan: Plan, pid: int) -> None:
    """Until the driver has announced a block, or a minute has passed."""
    for _ in range(1200):
        if plan.log.exists() and plan.log.stat().st_size:
            return
        time.sleep(0.05)


def _until_workers(cluster: Foreign, count: int) -> None:
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(count, 60)
