"""Disks that fill up midway, on a small file system of their own if allowed."""

import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.drivers import Plan, Tally, ending, finish, inspect, new_folder, start

SIZE = 8 << 20


@contextmanager
def small_disk(parent: Path) -> Iterator[Path | None]:
    """A file system of 8 MB in memory; None where mounting is not allowed."""
    folder = new_folder(parent)
    mount = f"mount -t tmpfs -o size={SIZE} tmpfs {folder}"
    if subprocess.run(mount, shell=True, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def full(attempts: int, parent: Path) -> Tally:
    """The disk fills up at a random moment; with room again the sweep completes.

    Without a disk of its own the files of the driver may not grow beyond a limit.
    """
    tally, draw = Tally("disk full"), random.Random(attempts)
    for _ in range(attempts):
        tally.attempts += 1
        with small_disk(parent) as disk:
            plan = Plan(new_folder(parent), pause=0.0, disk=disk)
            if disk is None:
                _expect_one_line(plan, tally, most=draw.randrange(20_000, 150_000))
            else:
                (disk / "filler").write_bytes(b"x" * (SIZE - draw.randrange(0, 900_000)))
                _expect_one_line(plan, tally)
                (disk / "filler").unlink()
            finish(plan, tally)
    return tally


def _expect_one_line(plan: Plan, tally: Tally, most: int | None = None) -> None:
    code = ending(start(plan, most))
    tally.notes[f"exit code {code}"] += 1
    tally.harm[f"exit code {code}"] += code not in (0, 2)
    inspect(plan, tally)
