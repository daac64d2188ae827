"""Sweeps in processes of their own, there to be killed, and what must be true afterwards."""

import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from tests.faults import work

from paritylab.cli.sweep import quiet_dask
from paritylab.execution import engines
from paritylab.execution.store import Store
from paritylab.sweep import runner
from paritylab.sweep.grid import Grid, Spec

FAILED = 4


@dataclass
class Tally:
    """A line of the table. harm: what is counted against a part, by name; the criterion, written
    down before any run, is none at all."""

    name: str
    attempts: int = 0
    harm: Counter = field(default_factory=Counter)
    notes: Counter = field(default_factory=Counter)

    def __str__(self) -> str:
        def listed(counts: Counter) -> str:
            return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "none"

        return f"{self.name} | {self.attempts} | {listed(self.harm)} | {listed(self.notes)}"


@dataclass(frozen=True)
class Plan:
    """A sweep: its engine, its blocks, and the folder of its log and errors.

    pause: seconds that a block takes. disk: where the store is, if not in the folder.
    """

    folder: Path
    engine: str = "serial"
    blocks: int = 60
    pause: float = 0.002
    disk: Path | None = None

    @property
    def store(self) -> Path:
        return (self.disk or self.folder) / "store.db"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def specs(self) -> list[Spec]:
        grid = Grid("own", {"n": 1}, {"pause": self.pause}, runs=4 * self.blocks, block=4)
        return list(grid.specs())


@contextmanager
def stand_ins() -> Iterator[None]:
    """Sweeps of this process and its forks compute the blocks of `work`, without jax."""
    import distributed  # noqa: F401  so that every fork has it

    instead = {
        "Task": work.Task,
        "made_rows": work.made_rows,
        "check_specs": lambda specs: None,
        "fingerprint": lambda learner, files=(): "the suite's own",
        "device": lambda: "cpu",
        "versions": lambda: {"python": "3"},
    }
    with mock.patch.multiple(runner, **instead):
        yield


def start(plan: Plan, most: int | None = None) -> int:
    """A driver in a fork of this process; its id. Ends with 0, 2 for one line, FAILED, or 99.

    most: bytes beyond which no file of it may grow.
    """
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        os.setsid()
        sys.stderr = (plan.folder / "errors").open("a", buffering=1)
        os.dup2(sys.stderr.fileno(), 2)
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        code = drive(plan)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def drive(plan: Plan) -> int:
    """Run the sweep of a plan, noting each block that was computed; the exit code."""
    log = os.open(plan.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def note(spec: Spec, computed: bool) -> None:
        if computed:
            os.write(log, f"{spec.first}\n".encode())

    engine = {
        "serial": engines.serial,
        "processes": lambda: engines.processes(2),
        "dask": lambda: engines.cluster("local", 2),
    }[plan.engine]()
    quiet_dask()  # as the command does in its process
    try:
        with Store(plan.store) as store:
            runner.run_sweep(plan.specs(), store, engine=engine, on_block=note)
    except runner.BlockError as error:
        print(error, file=sys.stderr)
        return FAILED
    except ValueError as error:
        print(f"one line: {error}", file=sys.stderr)
        return 2
    return 0


def ending(pid: int) -> int:
    """The exit code of a driver, once it has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def finish(plan: Plan, tally: Tally, tries: int = 8) -> None:
    """Undisturbed, the sweep has to complete; then look at everything."""
    for _ in range(tries):
        if (code := ending(start(plan))) != FAILED:
            break
    tally.harm[f"exit code {code} undisturbed"] += code != 0
    inspect(plan, tally, complete=True)


def inspect(plan: Plan, tally: Tally, complete: bool = False) -> None:
    """Count what is lost, doubled or wrong in a store, and tracebacks of its drivers."""
    specs = {spec.first: spec for spec in plan.specs()}
    found: list[int] = []
    if plan.store.exists() and plan.store.stat().st_size:
        with Store(plan.store, reading=True) as store:
            for block in store.blocks():
                found.append(block["spec"]["first"])
                tally.harm["wrong"] += block["rows"] != work.true_rows(specs[found[-1]])
    noted = plan.log.read_text().split() if plan.log.exists() else []
    tally.harm["lost"] += len({int(each) for each in noted} - set(found))
    tally.harm["duplicates"] += len(found) - len(set(found))
    if complete:
        tally.harm["lost"] += len(set(specs) - set(found))
        tally.harm["duplicates"] += len(noted) - len(set(noted))
    errors = plan.folder / "errors"
    text = errors.read_text(errors="replace") if errors.exists() else ""
    tally.harm["tracebacks"] += text.count("Traceback")
    if "Traceback" in text:  # kept, and counted once
        errors.replace(errors.with_name(f"traceback-{time.monotonic_ns()}"))


def workers_of(pid: int) -> list[int]:
    """Worker processes of a driver; multiprocessing keeps a helper of its own as well."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                line = Path(f"/proc/{child}/cmdline").read_bytes()
                if b"spawn_main" in line or b"loky.backend.popen_loky_posix" in line:
                    found.append(child)
    return found


def has_ended(pid: int) -> bool:
    """Whether a driver is over; it stays there to be asked for its exit code."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill(pid: int) -> bool:
    """Send SIGKILL; whether there was somebody to kill."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def new_folder(parent: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=parent))
