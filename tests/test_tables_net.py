"""xorfind answers a frozen set of tables and frames as recorded; net/tables.py says which."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_answers_to_frozen_tables_are_as_recorded():
    """In a process of its own: it warns where the classifier cuts numbers, as users see it."""
    done = subprocess.run(
        [sys.executable, "net/tables.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
