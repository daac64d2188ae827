"""Disks that fill up or turn read-only midway, on a small file system of their own if allowed."""

import contextlib
import os
import random
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.faults.drivers import Plan, Tally, drive, finish, inspect, kill, new_folder, start


@contextlib.contextmanager
def small_disk(parent: Path) -> Iterator[Path | None]:
    """A file system of 8 MB in memory; None where mounting is not allowed."""
    folder = new_folder(parent, "disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        done = None
    if done is None or done.returncode != 0:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def full(attempts: int, parent: Path) -> Tally:
    """The disk fills up at a random moment; with room again the sweep completes."""
    tally, draw = Tally("disk full"), random.Random(attempts)
    for _ in range(attempts):
        tally.attempts += 1
        with small_disk(parent) as disk:
            if disk is None:
                _limited(new_folder(parent, "limit"), draw, tally)
                continue
            plan = Plan(new_folder(parent, "full"), pause=0.0, disk=disk)
            filler = disk / "filler"
            filler.write_bytes(b"x" * (8_388_608 - draw.randrange(0, 900_000)))
            _expect_one_line(plan, tally)
            filler.unlink()
            finish(plan, tally)
    return tally


def read_only(attempts: int, parent: Path) -> Tally:
    """A driver is killed, its disk turns read-only: refused, readable, and completed afterwards."""
    tally, draw = Tally("disk read-only midway"), random.Random(attempts)
    for _ in range(attempts):
        with small_disk(parent) as disk:
            if disk is None:
                tally.notes["not allowed to mount"] += 1
                return tally
            tally.attempts += 1
            plan = Plan(new_folder(parent, "readonly"), disk=disk)
            pid = start(plan)
            time.sleep(draw.uniform(0.05, 0.2))
            kill(pid)
            os.waitpid(pid, 0)
            _remount(disk, "ro")
            _expect_one_line(plan, tally)
            _remount(disk, "rw")
            finish(plan, tally)
    return tally


def _remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def _expect_one_line(plan: Plan, tally: Tally) -> None:
    _, status = os.waitpid(start(plan), 0)
    _note(os.waitstatus_to_exitcode(status), tally)
    inspect(plan, tally)


def _note(code: int, tally: Tally) -> None:
    tally.notes[f"exit code {code}"] += 1
    tally.wrong += code not in (0, 2)


def _limited(folder: Path, draw: random.Random, tally: Tally) -> None:
    """Without a disk of its own: files of this process may not grow beyond a limit."""
    plan = Plan(folder, pause=0.0)
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            most = draw.randrange(20_000, 150_000)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            code = drive(plan)
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    _note(os.waitstatus_to_exitcode(status), tally)
    inspect(plan, tally)
    finish(plan, tally)
