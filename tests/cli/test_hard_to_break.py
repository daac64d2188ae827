"""Attempts that once broke the lab: each is one clear line now, or simply works."""

import io
import json
import os
import sys
import threading

import pytest
from tests.cli.running import run
from tests.cli.test_bad_input import refused

from paritylab.cli import main
from paritylab.files import check_folder, write_atomically


def test_a_pipe_is_written_to_and_stays_a_pipe(capsys, elsewhere):
    os.mkfifo(elsewhere / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((elsewhere / "pipe").read_text()))
    reader.start()
    assert run(capsys, "claims", "--json", "pipe")[0] == 0
    reader.join(30)
    assert len(json.loads(read[0])) > 40
    assert (elsewhere / "pipe").is_fifo()


def test_links_are_never_followed(capsys, elsewhere):
    (elsewhere / "real").write_text("mine")
    (elsewhere / "link").symlink_to("real")
    (elsewhere / "lost").symlink_to("nowhere")
    (elsewhere / "folder").mkdir()
    (elsewhere / "folder-link").symlink_to("folder")
    for name in ("link", "lost"):
        assert "symbolic link" in refused(capsys, "claims", "--json", name)
        with pytest.raises(ValueError, match="a link or no ordinary file"):
            write_atomically(elsewhere / name, "theirs")
    assert (elsewhere / "real").read_text() == "mine"
    assert not (elsewhere / "nowhere").exists()
    with pytest.raises(ValueError, match="symbolic link; name the folder itself"):
        check_folder(elsewhere / "folder-link", "--report")
    check_folder(elsewhere / "folder" / "new", "--report")
    with pytest.raises(ValueError, match=r"there is no folder .*/new to make deep in"):
        check_folder(elsewhere / "folder" / "new" / "deep", "--report")
    (elsewhere / "rows.json").write_text("[]")
    line = refused(capsys, "report", "--from", "rows.json", "--out", "folder-link")
    assert "symbolic link" in line
    assert list((elsewhere / "folder").iterdir()) == []


def test_letters_that_a_terminal_lacks_are_written_plainly(elsewhere, monkeypatch):
    """As under LC_ALL=C PYTHONUTF8=0."""
    old = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", old)
    with pytest.raises(SystemExit) as stopped:
        main(["claims"])
    assert stopped.value.code == 0
    assert "hg1-mask" in old.buffer.getvalue().decode("ascii")
