"""A short version of the fault suite; make faults runs all of it."""

import subprocess
import sys
from pathlib import Path

from tests.faults.page import FINDINGS


def test_nothing_is_lost_doubled_or_wrong_when_things_break(tmp_path):
    run = [sys.executable, "-m", "tests.faults", "kills", "rivals", "damage", "--share", "0.02"]
    run += ["--keep", str(tmp_path)]
    done = subprocess.run(
        run, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "driver killed, serial" in done.stdout


def test_every_finding_names_a_test_that_is_there():
    tests = Path(__file__).parents[1]
    for _, name in FINDINGS:
        file, test = name.split("::")
        assert f"def {test}(" in (tests / file).read_text(), name
