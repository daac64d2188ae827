"""The command line as a user meets it: exit codes, what is kept, plain pipes, interrupts."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.running import refused, run
from tests.report.rows import row

import paritylab
from paritylab.cli.claims import show_statement, show_verdict
from paritylab.cli.compiled import keep_compiled

QUICK = ["check", "hg1-marginals", "--effort", "quick"]


def test_help_has_an_example_and_is_shown_where_words_are_missing(capsys):
    for command in ([], ["claims"], ["check"], ["report"], ["train"], ["train", "heads"], ["live"]):
        code, out, _ = run(capsys, *command, "--help")
        assert (code, "Example: paritylab" in out) == (0, True), command
    for command in ([], ["train"], ["sweep"]):
        code, out, err = run(capsys, *command)
        assert (code, out) == (2, "")
        assert err.startswith("Usage: paritylab")
    assert run(capsys, "--version")[:2] == (0, f"paritylab {paritylab.__version__}\n")


def test_claims_as_table_and_json_and_a_new_one(capsys, elsewhere):
    code, out, _ = run(capsys, "claims")
    assert (code, "hg1-mask" in out) == (0, True)
    _, out, _ = run(capsys, "claims", "--paper", "ks", "--json", "-")
    assert {each["paper"] for each in json.loads(out)} == {"ks"}
    assert run(capsys, "claims", "new", "my_claim.py")[0] == 0
    assert '"my-claim"' in (elsewhere / "my_claim.py").read_text()


def test_a_verdict_is_a_statement_a_sentence_and_a_table(capsys):
    """Terminal and page say the same of a row with comparisons."""
    facts = {"runs": 60, "effort": "quick", "seed": 0, "seconds": 1.0, "certificate": "hg1-x"}
    shown = row(status="refuted", instead="A quarter.", looks=2, **facts)
    show_statement(shown)
    show_verdict(shown)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"runs that learn +15 of 60, 25 % \[15, 38\] +at least 85 % +no\n", out)
    for part in ("lab-one", "A title", "A statement.", "refuted", "A quarter.", "prove hg1-x"):
        assert part in out


def test_check_writes_text_json_and_report_then_reuses(capsys, elsewhere):
    code, out, _ = run(capsys, *QUICK, "--json", "rows.json", "--report", "page")
    assert code == 0
    assert re.search(r"^corrected: ", out, re.M)
    assert "\ncorrected: " in run(capsys, "claims", "hg1-marginals")[1]
    (row,) = json.loads((elsewhere / "rows.json").read_text())
    code, out, err = run(capsys, *QUICK, "--json", "-")
    assert json.loads(out) == [row]
    assert "1 of 1 reused" in err
    code, _, err = run(capsys, *QUICK, "--quiet")
    assert (code, err) == (0, "")
    assert run(capsys, "report", "--from", "rows.json", "--out", "again")[0] == 0
    assert (elsewhere / "page" / "index.html").exists()
    assert (elsewhere / "again" / "index.html").exists()


def test_pipes_get_plain_text_and_may_close(elsewhere):
    """A process of its own, whose reader leaves after a line."""
    command = " ".join([sys.executable, "-m", "paritylab", *QUICK, "2>&1"])
    pipe = f"{command} | tee all | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=True)
    assert (done.stdout.splitlines()[-1], done.stderr) == ("0", "")
    assert "\x1b" not in (elsewhere / "all").read_text()


OWN_CLAIMS = """
import pathlib, time
from paritylab.claims import at_most, claim

@claim("cli-own", evidence="exact", reads=("data.txt",))
def own(trial):
    '''A title.

    A statement.
    '''
    pathlib.Path("own-ran").touch()
    yield at_most("value", len(pathlib.Path("data.txt").read_text()), 2)

@claim("cli-broken")
def broken(trial):
    '''Broken.

    It raises.
    '''
    pathlib.Path("broken-began").touch()
    time.sleep(SLEEP)
    raise ValueError("no luck")
"""


@pytest.fixture
def own_claims(elsewhere):
    """A file of two claims, one of which raises."""
    (elsewhere / "data.txt").write_text("x")
    (elsewhere / "mine.py").write_text(OWN_CLAIMS.replace("SLEEP", "0"))
    return elsewhere


def test_a_failed_claim_is_a_row_and_exit_code_4(capsys, own_claims):
    check = ("check", "--file", "mine.py")
    code, out, err = run(capsys, *check, "--json", "rows.json", "--report", "page")
    assert code == 4
    assert "cli-own" in out
    assert "failed: cli-broken" in err
    own, broken = json.loads((own_claims / "rows.json").read_text())
    assert (own["status"], own["expected"], broken["status"]) == ("holds", None, "failed")
    assert "no luck (mine.py, line 22)" in (own_claims / "page" / "index.html").read_text()
    assert "1 of 2 reused" in run(capsys, *check)[2]
    (own_claims / "data.txt").write_text("xyz")
    assert "\nrefuted" in run(capsys, "check", "cli-own", *check[1:])[1]


def test_a_verdict_that_differs_is_exit_code_1_until_it_is_recorded(capsys, elsewhere, monkeypatch):
    from paritylab.claims.engine import recorded

    file = elsewhere / "recorded.json"
    entry = recorded.recorded()[QUICK[1]]._replace(status={"quick": "holds"})
    file.write_text(recorded.render([entry]))
    monkeypatch.setattr(recorded, "FILE", file)
    code, _, err = run(capsys, *QUICK)
    assert (code, "not as recorded: hg1-marginals" in err) == (1, True)
    code, _, err = run(capsys, *QUICK, "--record")
    assert (code, "1 of 1 verdicts recorded" in err) == (0, True)
    assert json.loads(file.read_text())[0]["status"] == {"quick": "corrected"}
    assert run(capsys, *QUICK)[0] == 0


def test_an_error_of_the_lab_itself_is_exit_code_4(capsys, elsewhere, monkeypatch):
    monkeypatch.setattr("paritylab.cli.check.chosen_ids", lambda *_: 1 / 0)
    code, _, err = run(capsys, *QUICK)
    assert code == 4
    assert err.startswith("paritylab: unexpected ZeroDivisionError")
    assert err.count("\n") == 1
    assert "Traceback" in run(capsys, *QUICK, "--debug")[2]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_bad_input(capsys, elsewhere):
    elsewhere.chmod(0o500)
    assert "store" in refused(capsys, *QUICK, "--store", "store.db")


def test_the_store_is_in_the_data_folder_and_the_working_folder_stays_empty(capsys, elsewhere):
    store = Path(os.environ["XDG_DATA_HOME"]) / "paritylab" / "store.db"
    assert "1 of 1 reused" not in run(capsys, *QUICK)[2]
    assert f"1 of 1 reused from {store} " in run(capsys, *QUICK)[2]
    assert f"store: {store} (" in run(capsys, "info")[1]
    assert not list(elsewhere.iterdir())
    assert store.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("command", [QUICK, ["sweep", "run", "grid.toml"]])
def test_without_a_safe_folder_nothing_is_stored_and_one_line_says_so(capsys, elsewhere, command):
    """Whoever else may write to the folder could put rows there that are then believed."""
    (elsewhere / "grid.toml").write_text(
        'learner = "heads"\nruns = 2\nblock = 2\nproblem = {n = 16}\n'
        'settings = {preset = "pair", width = 20}\n'
    )
    folder = Path(os.environ["XDG_DATA_HOME"]) / "paritylab"
    folder.mkdir()
    folder.chmod(0o777)
    for _ in range(2):
        code, out, err = run(capsys, *command)
        assert (code, bool(out)) == (0, True)
        assert err.count("paritylab: nothing is stored: ") == 1
        assert not re.search(r"[1-9]\d*( of 1)? reused", err)
    assert not list(folder.iterdir())
    assert "nothing is stored" not in run(capsys, *command, "--store", "named.db")[2]
    assert (elsewhere / "named.db").exists()


def test_interrupt_keeps_finished_work(capsys, own_claims, interruptible):
    (own_claims / "mine.py").write_text(OWN_CLAIMS.replace("SLEEP", "60"))
    command = [*interruptible, "check", "--file", "mine.py"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (own_claims / "broken-began").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)  # an impatient user
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "run the same command again" in err
    assert "Traceback" not in err
    (own_claims / "own-ran").unlink()
    code, _, err = run(capsys, "check", "cli-own", "--file", "mine.py")
    assert (code, "1 of 1 reused" in err) == (0, True)
    assert not (own_claims / "own-ran").exists()


def test_compiled_code_is_kept_in_the_users_own_folder(elsewhere, monkeypatch):
    """A cloned folder must not bring native code along; jax's own variable comes first."""
    name, kept = "JAX_COMPILATION_CACHE_DIR", elsewhere / "caches" / "paritylab"
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept.parent))
    monkeypatch.setenv(name, "here")
    keep_compiled()
    assert os.environ[name] == "here"
    monkeypatch.delenv(name)
    keep_compiled()
    assert os.environ.pop(name) == str(kept / "compiled")
    assert kept.stat().st_mode & 0o077 == 0
    kept.chmod(0o777)  # somebody else could put code there
    keep_compiled()
    assert name not in os.environ
