"""Outputs and terminals that once broke the lab."""

import errno
import io
import json
import os
import sys
import threading
from pathlib import Path

import pytest
from tests.cli.running import run

from paritylab.cli import main
from paritylab.files import check_folder, check_target, write_atomically


def test_a_pipe_is_written_to_and_stays_a_pipe(capsys, elsewhere):
    os.mkfifo(elsewhere / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((elsewhere / "pipe").read_text()))
    reader.start()
    assert run(capsys, "claims", "--json", "pipe")[0] == 0
    reader.join(30)
    assert len(json.loads(read[0])) > 40
    assert (elsewhere / "pipe").is_fifo()


def test_a_descriptor_of_ones_own_is_written_to_where_it_stands(elsewhere):
    """/dev/stdout of a redirected command is a link to a file, which must not be replaced."""
    with open(elsewhere / "log", "wb") as stream:
        stream.write(b"before ")
        stream.flush()
        target = Path(f"/dev/fd/{stream.fileno()}")
        check_target(target, "--json")
        write_atomically(target, "after")
    assert (elsewhere / "log").read_text() == "before after"


def test_outputs_are_replaced_in_whole_and_links_are_never_followed(elsewhere, monkeypatch):
    real, link = elsewhere / "real", elsewhere / "link"
    real.write_text("mine")
    link.symlink_to("real")
    with pytest.raises(ValueError, match="a link or no ordinary file"):
        write_atomically(link, "theirs")
    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", full)
        with pytest.raises(ValueError, match="real: the disk is full"):
            write_atomically(real, "theirs")
    assert real.read_text() == "mine"
    assert sorted(os.listdir()) == ["link", "real"]  # no half of a file is left
    write_atomically(real, "yours")
    assert real.read_text() == "yours"
    with pytest.raises(ValueError, match=r"there is no folder .*/new to make deep in"):
        check_folder(elsewhere / "new" / "deep", "--report")


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
