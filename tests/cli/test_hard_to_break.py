"""Attempts that once broke the lab: each is one clear line now, or simply works."""

import io
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.cli.running import run

from paritylab.cli import main
from paritylab.cli.app import _one_interrupt
from paritylab.files import check_folder, check_target, write_atomically
from paritylab.sweep import Spec, open_store


def refused(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    (line,) = [each for each in err.splitlines() if each != "loading"]  # a slow machine says so
    return line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["heads", "--samples", "1000000000000"], "needs about"),
        (["heads", "--n", "1000000000"], "this machine has"),
        (["heads", "--heads", "100000", "--n", "1000000"], "smaller sizes"),
        (["xor", "--n", "1000000000", "--samples", "1000"], "needs about"),
        (["xor", "--samples", "3000000000"], "samples must be at most 2,147,483,647"),
        (["xor", "--samples", "0"], "samples must be at least 1, got 0"),
        (["chain", "--n", "4194304", "--k", "2097152"], "needs about"),
        (["heads", "--save", "no/such/runs.npz"], "existing folder"),
        (["heads", "--n", "9" * 400], "n must be a whole number below 2⁶³"),
        (["heads", "--seed", "9" * 400], "seed must be below 2³²"),
        (["heads", "--subset", "x" * 400], "--subset takes positions"),
        (["heads", "--figure", "link.svg"], "symbolic link"),
    ],
)
def test_sizes_beyond_the_machine_and_bad_targets_are_refused_at_once(
    capsys, elsewhere, arguments, words
):
    (elsewhere / "link.svg").symlink_to("real.svg")
    line = refused(capsys, "train", *arguments, "--runs", "2")
    assert words in line
    assert len(line) < 300
    assert not (elsewhere / "real.svg").exists()


GRID = 'learner = "heads"\nruns = 4\nblock = 2\n[problem]\nn = [6, 8]\nk = 2\n'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("block = 2", "block = 0", "block must be at least 1"),
        ("block = 2", "width = 0", "unknown key"),
        ("n = [6, 8]", "n = []", "n is an empty list"),
        ("n = [6, 8]", 'n = ["six"]', "n must be a whole number, got 'six'"),
        ("n = [6, 8]", "n = [[6]]", "n must be a whole number"),
        ("n = [6, 8]", "n = {a = 1}", "plain value"),
        ("n = [6, 8]\n", "", "the problem lacks n"),
        ("runs = 4", "runs = 20.0", "runs must be a whole number, got 20.0"),
        ("runs = 4", "runs = 2000000000", "at most 1,000,000 blocks"),
        ("\nk = 2", "\nk = 2\nsubset = [1, 2, 3]", "subset has 3 positions, but k=2"),
        ("\nk = 2", "\nsubset = 7", "subset must be a list of positions, got 7"),
        ("\nk = 2", "\nk = 9", "no cell of this grid can exist"),
        ("\nk = 2", "\nk = 2\n[settings]\ntau = -1.0", "tau must be positive"),
        ("\nk = 2", "\nk = 2\n[settings]\nbelwo = 2.0", "unknown setting of heads 'belwo'"),
        ("\nk = 2", "\nk = 2\n[settings]\nstart = 3", "start must be an array"),
        ("\nk = 2", '\nk = 2\ntarget = "majorty"', "did you mean 'majority'"),
        ("\nk = 2", "\nk = nan", "k must be a"),
        ('learner = "heads"', "learner = 3", "learner must be a name, got 3"),
        ('learner = "heads"', 'learner = "haeds"', "did you mean 'heads'"),
        ('learner = "heads"', 'learner = "elimination"', "give the number of samples"),
        ("\nk = 2", "\nk = 2\nk = 3", "not readable TOML"),
        ("[problem]", "[[problem]]\nn = 3\n[problem]", "not readable TOML"),
        ("[problem]\nn = [6, 8]\nk = 2", "problem = []", "nothing to run"),
    ],
)
def test_every_bad_grid_file_is_one_line(capsys, elsewhere, old, new, words):
    (elsewhere / "grid.toml").write_text(GRID.replace(old, new))
    assert words in refused(capsys, "sweep", "run", "grid.toml", "--dry-run")


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "heads", "--runs", "9" * 400],
        ["train", "heads", "--runs", "1000000000"],
        ["train", "heads", "--preset", "x" * 400],
        ["check", "x" * 400],
        ["sweep", "run", "x" * 400],
        ["live", "--out", "x" * 400],
        ["x" * 400],
    ],
)
def test_a_long_or_huge_argument_is_one_line_that_can_be_read(capsys, elsewhere, arguments):
    assert 20 < len(refused(capsys, *arguments)) < 400


def test_a_grid_file_that_is_no_text_is_one_line(capsys, elsewhere):
    (elsewhere / "grid.toml").write_bytes(b"\xff\xfe\x00learner")
    assert "not readable TOML" in refused(capsys, "sweep", "run", "grid.toml")
    (elsewhere / "folder.toml").mkdir()
    assert "not readable TOML" in refused(capsys, "sweep", "run", "folder.toml")


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
    for option in ("--out", "--figures"):
        line = refused(capsys, "report", "--from", "rows.json", option, "folder-link")
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


def test_a_device_that_is_not_there_is_one_line(capsys, elsewhere, monkeypatch):
    def broken(*_):
        raise AssertionError

    monkeypatch.setattr("paritylab.cli.check.chosen_ids", broken)
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    code, _, err = run(capsys, "check", "hg1-mask")
    assert code == 4
    assert "is the device of JAX_PLATFORMS=cuda here?" in err
    assert err.count("\n") == 1


def test_reading_a_store_makes_none(capsys, elsewhere):
    for command in (["status"], ["plot"], ["export", "--csv", "x.csv"]):
        assert "no store none.db" in refused(capsys, "sweep", *command, "--store", "none.db")
    assert list(elsewhere.iterdir()) == []


def test_an_unwritable_picture_is_noticed_before_the_store_is_read(capsys, elsewhere):
    open_store("s.db").close()
    assert "existing folder" in refused(
        capsys, "sweep", "plot", "--store", "s.db", "--out", "a/b.svg"
    )
    assert "existing folder" in refused(capsys, "sweep", "export", "--csv", "a/b.csv")


def test_a_sample_of_a_python_user_is_bounded_too():
    from paritylab import Parity, Sample

    with pytest.raises(ValueError, match="at most 2,147,483,647"):
        Sample(Parity(12, (1, 2)), 10**12)
    assert Spec.make("heads", {"n": 12, "k": 2}, {}).cell == "heads k=2 n=12"


def test_an_interrupt_that_python_ignores_comes_again():
    """jax's helper of the garbage collector once swallowed Ctrl-C, and later ones were ignored."""

    class Swallows:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), _one_interrupt():
            time.sleep(10 if Swallows() else 0)  # it is gone, and has swallowed, before the sleep
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_was_typed_is_shown_in_one_line_whatever_it_holds(capsys):
    assert "\x1b" not in refused(capsys, "xor", "--threshold", "quick", "é\u2028\x1b[31m")
