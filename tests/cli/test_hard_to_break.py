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

from paritylab.cli import console, main
from paritylab.cli.app import _one_interrupt
from paritylab.files import check_folder, check_target, user_folder, write_atomically
from paritylab.sweep import Spec, open_store
from paritylab.sweep.origin import MARK, is_own, marked


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return stopped.value.code, *capsys.readouterr()


def refused(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["heads", "--samples", "1000000000000"], "needs about"),
        (["heads", "--n", "1000000000"], "this machine has"),
        (["heads", "--heads", "100000", "--n", "1000000"], "smaller n, heads"),
        (["xor", "--n", "1000000000", "--samples", "1000"], "needs about"),
        (["xor", "--samples", "3000000000"], "samples must be at most 2,147,483,647"),
        (["xor", "--samples", "1000000000000"], "would take about"),
        (["xor", "--samples", "0"], "samples must be at least 1, got 0"),
        (["chain", "--n", "4194304", "--k", "2097152"], "needs about"),
        (["heads", "--save", "no/such/runs.npz"], "existing folder"),
        (["heads", "--figure", "link.svg"], "symbolic link"),
    ],
)
def test_sizes_beyond_the_machine_and_bad_targets_are_refused_at_once(
    capsys, elsewhere, arguments, words
):
    (elsewhere / "link.svg").symlink_to("real.svg")
    assert words in refused(capsys, "train", *arguments, "--runs", "2")
    assert not (elsewhere / "real.svg").exists()


def test_a_long_wait_is_announced(capsys, elsewhere, monkeypatch):
    """100,000 heads were once trained in silence."""

    def stop(*_, **__):
        raise ValueError("enough")

    monkeypatch.setattr("paritylab.sweep.run_cache.kept_runs", stop)
    code, _, err = run(capsys, "train", "heads", "--heads", "100000", "--runs", "2")
    assert code == 2
    assert "1 block, about 439.5 MB and 60 min a block; rough figures" in err


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


def test_every_letter_of_the_claims_has_a_plain_one():
    from paritylab.claims import registry

    words = "".join(c.title + c.statement for c in registry().values())
    lost = {each for each in words if ord(each) > 127 and console.plain_letter(each) == "?"}
    assert lost == set()


def test_a_device_that_is_not_there_is_one_line(capsys, elsewhere, monkeypatch):
    def none():
        raise RuntimeError("no such platform")

    def broken(*_):
        raise AssertionError

    monkeypatch.setattr("paritylab.cli.check._chosen", broken)
    monkeypatch.setattr("jax.devices", none)
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    line = refused(capsys, "check", "hg1-mask")
    assert "JAX_PLATFORMS=cuda names no device that jax finds here" in line
    monkeypatch.delenv("JAX_PLATFORMS")
    assert run(capsys, "check", "hg1-mask")[0] == 4


CLAIM = """
from paritylab import claim, holds

@claim("own-one", title="t", statement="s")
def own(trial):
    return {"value": 1}

@own.judge
def judge(record):
    return holds("yes", evidence="exact")
"""


@pytest.fixture
def caches(elsewhere, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere / "caches"))
    return elsewhere / "caches" / "paritylab"


def test_verdicts_that_came_with_a_store_are_marked(capsys, elsewhere, caches, monkeypatch):
    (elsewhere / "mine.py").write_text(CLAIM)
    check = ("check", "--file", "mine.py", "--store", "s.db", "--json", "-")
    first = json.loads(run(capsys, *check)[1])
    code, out, err = run(capsys, *check)
    assert json.loads(out) == first
    assert "1 of 1 reused" in err
    assert "not run here" not in err
    assert (caches / "mark.key").stat().st_mode & 0o077 == 0
    # The same store in somebody else's hands.
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere / "other"))
    code, out, err = run(capsys, *check, "--report", "page")
    assert code == 0
    assert "1 of these came with the store and were not run here by you" in err
    assert json.loads(out) == [{**first[0], "found": "not run here"}]
    assert "found in a store, not run here" in (elsewhere / "page" / "index.html").read_text()
    assert "not run here" not in run(capsys, *check, "--fresh")[2]


def test_marks_cover_key_and_contents(caches):
    row = marked("key", {"id": "x", "status": "holds", "measured": {"a": [1.5, None]}})
    assert is_own("key", row)
    assert is_own("key", json.loads(json.dumps(row)))
    assert not is_own("other", row)
    assert not is_own("key", {**row, "status": "refuted"})
    assert not is_own("key", {**row, MARK: ""})
    assert not is_own("key", {name: value for name, value in row.items() if name != MARK})
    caches.chmod(0o777)  # anybody could have put a key there
    assert user_folder() is None
    assert not is_own("key", row)
    assert marked("key", {"id": "x"}) == {"id": "x"}


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


def test_what_was_typed_is_told_in_one_line_whatever_it_holds(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["xor", "--threshold", "quick", "é\u2028\x1b[31m"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "\x1b" not in line
