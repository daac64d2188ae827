"""Outputs and terminals that once broke the lab."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paritylab._support.output_files import check_folder, write_atomically
from paritylab.cli import main


def test_an_output_is_replaced_in_whole_or_not_at_all(elsewhere, monkeypatch):
    real = elsewhere / "real"
    real.write_text("mine")
    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", full)
        with pytest.raises(ValueError, match="real: the disk is full"):
            write_atomically(real, "theirs")
    assert real.read_text() == "mine"
    assert os.listdir() == ["real"]  # no half of a file is left
    write_atomically(real, "yours")
    assert real.read_text() == "yours"
    with pytest.raises(ValueError, match=r"there is no folder .*/new to make deep in"):
        check_folder(elsewhere / "new" / "deep", "--report")


def test_standard_output_is_written_to_by_its_name(elsewhere):
    """/dev/stdout of a redirected command is a link to a file, which must not be replaced."""
    code = """
from pathlib import Path
from paritylab._support.output_files import check_target, write_atomically
check_target(Path("/dev/stdout"), "--json")
write_atomically(Path("/dev/stdout"), "after")
"""
    with open("log", "ab", buffering=0) as log:
        log.write(b"before ")
        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
    assert Path("log").read_text() == "before after"


def full(*_):
    raise OSError(errno.ENOSPC, "the disk is full")


def test_letters_that_a_terminal_lacks_are_written_plainly(elsewhere, monkeypatch):
    """As under LC_ALL=C PYTHONUTF8=0."""
    old = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", old)
    with pytest.raises(SystemExit) as stopped:
        main(["claims"])
    assert stopped.value.code == 0
    assert "hg1-mask" in old.buffer.getvalue().decode("ascii")
