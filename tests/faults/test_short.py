"""A small share of the fault suite; make faults runs all of it."""

import os
import subprocess
import sys
from pathlib import Path


def test_nothing_is_lost_doubled_or_wrong_when_things_break(tmp_path):
    """In a process of its own, because drivers are forks and this one has jax in it."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.faults", "--share", "0.02"],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
