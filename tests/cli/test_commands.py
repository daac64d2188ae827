"""The command line as a user meets it: exit codes, one-line errors, plain pipes."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import paritylab
from paritylab.cli import main

QUICK = ["check", "hg1-lemma14-sign", "--effort", "quick"]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    captured = capsys.readouterr()
    return stopped.value.code, captured.out, captured.err


@pytest.mark.parametrize(
    "command", [[], ["claims"], ["check"], ["report"], ["train"], ["train", "heads"]]
)
def test_help_gives_an_example(capsys, command):
    code, out, _ = run(capsys, *command, "--help")
    assert code == 0
    assert "Example: paritylab" in out


def test_version(capsys):
    code, out, _ = run(capsys, "--version")
    assert (code, out) == (0, f"paritylab {paritylab.__version__}\n")


def test_claims_as_table_and_json(capsys):
    code, out, _ = run(capsys, "claims")
    assert code == 0
    assert "hg1-mask" in out
    _, out, _ = run(capsys, "claims", "--json", "-")
    assert {row["id"] for row in json.loads(out)} >= {"hg1-mask", "hg1-prop4"}


def test_check_writes_table_json_and_report_then_reuses(capsys, elsewhere):
    code, out, _ = run(capsys, *QUICK, "--json", "rows.json", "--report", "page")
    assert code == 0
    assert "hg1-lemma14-sign  corrected  proved" in out
    (row,) = json.loads((elsewhere / "rows.json").read_text())
    assert (elsewhere / "page" / "index.html").exists()
    code, out, err = run(capsys, *QUICK, "--json", "-")
    assert json.loads(out) == [row]
    assert "1 of 1 reused" in err
    code, out, err = run(capsys, *QUICK, "--quiet")
    assert (code, err) == (0, "")
    code, out, _ = run(capsys, "report", "--from", "rows.json", "--out", "again")
    assert (elsewhere / "again" / "index.html").exists()


def test_pipes_get_plain_text(elsewhere):
    done = subprocess.run(
        [sys.executable, "-m", "paritylab", *QUICK], capture_output=True, text=True, check=True
    )
    assert "\x1b" not in done.stdout + done.stderr
    assert "hg1-lemma14-sign: corrected" in done.stderr


OWN_CLAIMS = """
from paritylab import Parity, claim, holds

@claim("cli-own", title="t", statement="s")
def own(trial):
    return {"value": 1}

@own.judge
def judge(record):
    return holds("yes", evidence="exact")

@claim("cli-broken", title="t", statement="s")
def broken(trial):
    return Parity(3, (9,))
"""


def test_a_failed_claim_is_a_row_and_exit_code_4(capsys, elsewhere):
    (elsewhere / "mine.py").write_text(OWN_CLAIMS)
    code, out, err = run(
        capsys, "check", "--file", "mine.py", "--json", "rows.json", "--report", "page"
    )
    assert code == 4
    assert "cli-own     holds" in out
    assert "(mine.py, line 14)" in out
    assert "failed: cli-broken" in err
    own, broken = json.loads((elsewhere / "rows.json").read_text())
    assert (own["status"], own["expected"], broken["status"]) == ("holds", None, "failed")
    assert "mine.py, line 14" in (elsewhere / "page" / "index.html").read_text()
    code, _, err = run(capsys, "check", "--file", "mine.py")
    assert "1 of 2 reused" in err
    assert run(capsys, "check", "cli-own", "--file", "mine.py")[0] == 0


@pytest.fixture
def record_elsewhere(elsewhere, monkeypatch):
    """The recorded verdicts in a file of the test's own."""
    file = elsewhere / "recorded.json"
    monkeypatch.setattr("paritylab.claims.engine.recorded.FILE", file)
    return file


def test_a_verdict_that_differs_is_exit_code_1(capsys, record_elsewhere):
    record_elsewhere.write_text('{"hg1-lemma14-sign": {"quick": "holds"}}')
    code, _, err = run(capsys, *QUICK)
    assert code == 1
    assert "not as recorded: hg1-lemma14-sign" in err
    record_elsewhere.unlink()
    assert run(capsys, *QUICK)[0] == 0


def test_record_writes_what_three_seeds_agree_on(capsys, record_elsewhere):
    code, _, err = run(capsys, *QUICK, "--record")
    assert code == 0
    assert "1 of 1 verdicts recorded" in err
    assert json.loads(record_elsewhere.read_text()) == {"hg1-lemma14-sign": {"quick": "corrected"}}
    assert run(capsys, *QUICK)[0] == 0


@pytest.mark.slow
def test_record_refuses_verdicts_that_depend_on_the_seed(capsys, record_elsewhere, monkeypatch):
    from paritylab.claims import holds, registry, undecided

    def seed_of(trial, **settings):
        return trial.seed

    torn = registry()["hg1-lemma14-sign"]
    seed_of.__module__ = torn.measure.__module__
    monkeypatch.setattr(torn, "measure", seed_of)
    monkeypatch.setattr(torn, "judged_by", lambda s: holds("yes") if s < 2 else undecided("no"))
    monkeypatch.setattr(torn, "drawn_by", None)
    record_elsewhere.write_text('{"hg1-lemma14-sign": {"quick": "holds"}}')
    code, _, err = run(capsys, *QUICK, "--record", "--jobs", "1")
    assert code == 1
    assert "not recorded: hg1-lemma14-sign: seeds 0, 1, 2 gave holds, holds, undecided" in err
    assert json.loads(record_elsewhere.read_text()) == {"hg1-lemma14-sign": {"quick": "holds"}}


def test_an_error_of_the_lab_itself_is_exit_code_4(capsys, elsewhere, monkeypatch):
    monkeypatch.setattr("paritylab.cli.check._chosen", lambda *_: 1 / 0)
    code, _, err = run(capsys, *QUICK)
    assert code == 4
    assert err.startswith("paritylab: unexpected ZeroDivisionError")


@pytest.mark.parametrize("command", [[], ["train"], ["sweep"]])
def test_no_arguments_show_the_help(capsys, command):
    code, out, err = run(capsys, *command)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: paritylab")
    assert err.count("\n") > 5


def test_a_closed_pipe_is_quiet(elsewhere):
    command = f"{sys.executable} -m paritylab claims | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "no-such-claim"], "no claim 'no-such-claim'"),
        (["check", "hg1-masc"], "did you mean hg1-mask?"),
        (["check", "--record", "--seed", "1"], "--record runs"),
        (["check", "--effort", "huge"], "'huge'"),
        (["check", "hg1-mask", "--paper", "ks"], "none of the claims asked for is of paper ks"),
        (["check", "--jobs", "0"], "--jobs must be at least 1"),
        (["report", "--from", "rows.json"], "give --out DIR"),
        (["check", "--seed", "-1"], "-1"),
        (["check", "--seed", "x"], "x"),
        (["check", "--file", "none.py"], "none.py"),
        (["check", "--json", "no/such/rows.json"], "no/such/rows.json"),
        (["check", "--report", "taken"], "taken is a file"),
        (["check", "--store", "taken/store.db"], "taken"),
        (["check", "--store", "broken.db"], "broken.db"),
        (["report", "--from", "none.json", "--out", "x"], "none.json"),
        (["report", "--from", "taken", "--out", "x"], "not readable JSON"),
        (["report"], "--from"),
        (["dance"], "dance"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, elsewhere, arguments, message):
    (elsewhere / "taken").write_text("")
    (elsewhere / "broken.db").write_bytes(b"not a database" * 200)
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("paritylab: ")
    assert message in err


def test_debug_shows_the_traceback(capsys, elsewhere):
    _, _, err = run(capsys, "check", "nope", "--debug")
    assert "Traceback" in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_folder(capsys, elsewhere):
    elsewhere.chmod(0o500)
    code, _, err = run(capsys, *QUICK)
    assert code == 2
    assert "store" in err


SLOW_CLAIMS = """
import pathlib, time
from paritylab import claim, holds

@claim("fast-one", title="t", statement="s")
def fast(trial):
    pathlib.Path("fast-ran").touch()
    return {"value": 1}

@fast.judge
def judge(record):
    return holds("yes", evidence="exact")

@claim("slow-one", title="t", statement="s")
def slow(trial):
    pathlib.Path("slow-began").touch()
    time.sleep(60)
"""


def test_interrupt_keeps_finished_work(capsys, elsewhere, interruptible):
    (elsewhere / "mine.py").write_text(SLOW_CLAIMS)
    process = subprocess.Popen(
        [*interruptible, "check", "--file", "mine.py"],
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (elsewhere / "slow-began").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)  # an impatient user
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "run the same command again" in err
    assert "Traceback" not in err
    (elsewhere / "fast-ran").unlink()
    code, _, err = run(capsys, "check", "fast-one", "--file", "mine.py")
    assert code == 0
    assert "1 of 1 reused" in err
    assert not (elsewhere / "fast-ran").exists()


def test_compiled_code_is_kept_in_the_users_own_folder(elsewhere, monkeypatch):
    """A cloned folder must not bring native code along."""
    from paritylab.cli.compiled import keep_compiled

    for name in ("JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere / "caches"))
    keep_compiled()
    kept = elsewhere / "caches" / "paritylab"
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == str(kept / "compiled")
    assert kept.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "here")
    keep_compiled()
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == "here"
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    kept.chmod(0o777)  # somebody else could put code there
    keep_compiled()
    assert "JAX_COMPILATION_CACHE_DIR" not in os.environ
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(elsewhere / "home"))
    keep_compiled()
    assert os.environ["JAX_COMPILATION_CACHE_DIR"].startswith(str(elsewhere / "home"))
    assert not (elsewhere / "relative").exists()


def test_the_compilers_switch_is_for_the_version_that_knows_it(elsewhere, monkeypatch):
    from paritylab.cli import compiled

    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere / "caches"))
    for known, users, expected in (
        ("0.10.2", None, compiled.QUICK_TO_COMPILE["0.10.2"]),
        ("0.10.2", "--mine", "--mine"),
        ("99.0", None, None),
    ):
        monkeypatch.setenv("XLA_FLAGS", users or "")
        if users is None:
            monkeypatch.delenv("XLA_FLAGS")
        monkeypatch.setattr(compiled, "version", lambda name, known=known: known)
        compiled.keep_compiled()
        assert os.environ.get("XLA_FLAGS") == expected
