"""Disks that fill up midway: a small file system of their own, or a limit where none is allowed."""

import random
import subprocess
from pathlib import Path

from tests.faults.drivers import Plan, Tally, ending, finish, inspect, new_folder, start

SIZE = 8 << 20


def full(attempts: int, parent: Path) -> Tally:
    """The disk fills up at a random moment; with room again the sweep completes."""
    tally, draw = Tally("disk full"), random.Random(attempts)
    for _ in range(attempts):
        tally.attempts += 1
        disk, most = new_folder(parent), None
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)]
        mounted = not subprocess.run(mount, capture_output=True, check=False).returncode
        plan = Plan(new_folder(parent), pause=0.0, disk=disk)
        try:
            if mounted:
                (disk / "filler").write_bytes(b"x" * (SIZE - draw.randrange(0, 900_000)))
            else:
                most = draw.randrange(20_000, 150_000)
            code = ending(start(plan, most))
            tally.notes[f"exit code {code}"] += 1
            tally.harm[f"exit code {code}"] += code not in (0, 2)
            inspect(plan, tally)
            (disk / "filler").unlink(missing_ok=True)
            finish(plan, tally)
        finally:
            if mounted:
                subprocess.run(["umount", "-l", str(disk)], check=False)
    return tally
