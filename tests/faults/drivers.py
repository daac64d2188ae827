"""Sweeps in processes of their own, there to be killed, and what must be true afterwards."""

import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from tests.faults import work

from paritylab.sweep import engines, runner
from paritylab.sweep.grid import Grid, Spec
from paritylab.sweep.store import Store

FAILED = 4
#: What is counted against a part; the criterion, written down before any run, is 0 of each.
#: wrong: rows or answers that differ. hangs: no end after 20 s. codes: wrong exit codes.
HARM = ("tracebacks", "lost", "duplicates", "wrong", "hangs", "codes")
MARK = "the suite's own"


@dataclass
class Tally:
    """A line of the table."""

    name: str
    attempts: int = 0
    tracebacks: int = 0
    lost: int = 0
    duplicates: int = 0
    wrong: int = 0
    hangs: int = 0
    codes: int = 0
    notes: Counter = field(default_factory=Counter)

    def cells(self) -> list[str]:
        noted = ", ".join(f"{count} {what}" for what, count in self.notes.items())
        return [self.name, *(str(getattr(self, name)) for name in ("attempts", *HARM)), noted]

    @property
    def failed(self) -> bool:
        return any(getattr(self, name) for name in HARM)


@dataclass(frozen=True)
class Plan:
    """A sweep: its engine, its blocks, and the folder of its log and errors.

    pause: seconds that a block takes. rivals: two drivers share the store. disk: where the store
    is, if not in the folder.
    """

    folder: Path
    engine: str = "serial"
    blocks: int = 60
    pause: float = 0.002
    rivals: bool = False
    disk: Path | None = None

    @property
    def store(self) -> Path:
        return (self.disk or self.folder) / "store.db"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def errors(self) -> Path:
        return self.folder / "errors"

    def specs(self) -> list[Spec]:
        grid = Grid("own", {"n": 1}, {"pause": self.pause}, runs=4 * self.blocks, block=4)
        return list(grid.specs())


def _stand_ins() -> list[tuple[Any, str, Any]]:
    return [
        (runner, "Task", work.Task),
        (runner, "made_rows", work.made_rows),
        (runner, "check_specs", lambda specs: None),
        (runner, "_mark", lambda learner: MARK),
        (runner, "device", lambda: "cpu"),
        (runner, "versions", lambda: {"python": "3"}),
    ]


@contextmanager
def stand_ins() -> Iterator[None]:
    """Sweeps of this process and its forks compute the blocks of `work`, without jax."""
    import distributed  # noqa: F401  so that every fork has it

    with ExitStack() as stack:
        for place, name, value in _stand_ins():
            stack.enter_context(mock.patch.object(place, name, value))
        yield


def start(plan: Plan) -> int:
    """A driver in a fork of this process; its id. Ends with 0, 2 for one line, FAILED, or 99."""
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        os.setsid()
        errors = os.open(plan.errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(errors, 2)
        sys.stderr = os.fdopen(2, "w", buffering=1)
        code = drive(plan)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def drive(plan: Plan) -> int:
    log = os.open(plan.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def note(spec: Spec, computed: bool) -> None:
        if computed:
            os.write(log, f"{spec.first}\n".encode())

    engine = {
        "serial": engines.serial,
        "processes": lambda: engines.processes(2),
        "dask": lambda: engines.cluster("local", 2),
    }[plan.engine]()
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


def finish(plan: Plan, tally: Tally, tries: int = 8) -> None:
    """Undisturbed, the sweep has to complete; then look at everything."""
    for _ in range(tries):
        _, status = os.waitpid(start(plan), 0)
        code = os.waitstatus_to_exitcode(status)
        if code != FAILED:
            break
    if code != 0:
        tally.notes[f"exit code {code} undisturbed"] += 1
        tally.wrong += 1
    inspect(plan, tally, complete=True)


def inspect(plan: Plan, tally: Tally, complete: bool = False) -> int:
    """Count what is lost, doubled or wrong in a store; returns how many blocks it has."""
    specs = {spec.first: spec for spec in plan.specs()}
    found: list[int] = []
    if plan.store.exists() and plan.store.stat().st_size:
        with Store(plan.store, reading=True) as store:
            for block in store.blocks():
                first = block["spec"]["first"]
                found.append(first)
                tally.wrong += block["rows"] != work.true_rows(specs[first])
    noted = plan.log.read_text().split() if plan.log.exists() else []
    tally.lost += len({int(each) for each in noted} - set(found))
    tally.duplicates += len(found) - len(set(found))
    if complete:
        tally.lost += len(set(specs) - set(found))
        if not plan.rivals:  # who may both compute a block, of which one copy is kept
            tally.duplicates += len(noted) - len(set(noted))
    tally.tracebacks += _tracebacks(plan.errors)
    return len(found)


def _tracebacks(path: Path) -> int:
    if not path.exists():
        return 0
    text = path.read_text(errors="replace")
    if "Traceback" in text:
        path.replace(path.with_name(f"traceback-{time.monotonic_ns()}"))
    return text.count("Traceback")


def workers_of(pid: int) -> list[int]:
    """Worker processes of a driver; multiprocessing keeps a helper of its own beside them."""
    found = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                if _is_worker(child):
                    found.append(child)
    except OSError:
        pass
    return found


def _is_worker(pid: int) -> bool:
    line = Path(f"/proc/{pid}/cmdline").read_bytes()
    return b"spawn_main" in line or b"loky.backend.popen_loky_posix" in line


def kill(pid: int) -> bool:
    """Send SIGKILL; whether there was somebody to kill."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def ended(pid: int) -> int | None:
    """The exit code of a driver, None while it runs."""
    done, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else None


def new_folder(parent: Path, name: str) -> Path:
    folder = parent / f"{name}-{random.randrange(1 << 40):x}"
    folder.mkdir()
    return folder


def one_of(things: list[Any], draw: random.Random) -> Any:
    return things[draw.randrange(len(things))]
