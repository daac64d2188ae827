"""Blocks, rates, and results that survive kills, rivals and broken disks."""

import csv
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import run

from paritylab.execution import Store, StoreError
from paritylab.execution.engines import processes
from paritylab.sweep import Grid, Spec, grid_from_toml, rates, run_sweep
from paritylab.sweep.blocks import plain_rows, run_spec
from paritylab.sweep.runner import BlockError, Task, block_key, fingerprint, made_rows

COIN = Path(__file__).parent / "coin.py"
pytestmark = pytest.mark.usefixtures("coin")
COINS = Grid("coin", {"n": list(range(1, 11)), "k": 1}, {"rate": [0.2, 0.9]}, runs=40, block=10)


def contents(path):
    with Store(path) as store:
        return [(block["key"], block["rows"]) for block in store.blocks()]


def test_specs_are_values_with_stable_hashes():
    spec = Spec.make("coin", {"n": 3, "k": 2}, {"rate": 0.5}, seed=7)
    assert spec == Spec.make("coin", {"k": 2, "n": 3}, {"rate": 0.5}, seed=7)
    assert hash(spec) == hash(Spec.make("coin", {"k": 2, "n": 3}, {"rate": 0.5}, seed=7))
    assert spec.hash != Spec.make("coin", {"n": 3, "k": 2}, {"rate": 0.5}, seed=7, block=50).hash


def test_same_seed_same_rows_and_blocks_do_not_depend_on_each_other():
    problem, settings = {"n": 8, "k": 2}, {"preset": "code", "steps": 20}
    alone, again = (
        plain_rows(run_spec(Spec.make("heads", problem, settings, block=5, first=5)))
        for _ in range(2)
    )
    wide = plain_rows(run_spec(Spec.make("heads", problem, settings, block=10)))
    assert alone == again
    assert np.allclose([row["risk"] for row in wide[5:]], [row["risk"] for row in alone], atol=1e-9)


def test_sweep_computes_once_and_counts(tmp_path):
    with Store(tmp_path / "s.db") as store:
        assert run_sweep(COINS.specs(), store) == 80
        seen = []
        assert run_sweep(COINS.specs(), store, on_block=lambda s, new: seen.append(new)) == 0
        assert seen == [False] * 80
        assert run_sweep(COINS.specs(), store, fresh=True) == 80
        found = {each.name: each.rate for each in rates(store)}
    assert len(found) == 20
    assert all(rate.runs == 40 for rate in found.values())
    assert found["coin k=1 n=3 rate=0.9"].successes > found["coin k=1 n=3 rate=0.2"].successes


def test_worker_processes_give_the_rows_of_the_serial_engine(tmp_path):
    grid = Grid("coin", {"n": [2, 3], "k": 1}, {"rate": 0.5}, runs=20, block=5)
    with Store(tmp_path / "a.db") as store:
        run_sweep(grid.specs(), store)
    with Store(tmp_path / "b.db") as store:
        run_sweep(grid.specs(), store, engine=processes(2), file=str(COIN))
    assert contents(tmp_path / "a.db") == contents(tmp_path / "b.db")


def test_a_half_done_block_leaves_no_trace(tmp_path):
    grid = Grid("coin", {"n": 1, "k": 1}, {"breaks": 0.2}, runs=12, block=3)
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(BlockError, match=r"coin k=1 n=1 breaks=0.2, .*half way"):
            run_sweep(grid.specs(), store)
        assert all(len(block["rows"]) == 3 for block in store.blocks())


def test_failed_blocks_do_not_keep_the_rest_from_being_run(elsewhere, capsys):
    """The first failure once ended the sweep."""
    (elsewhere / "grid.toml").write_text(
        'learner = "coin"\nruns = 24\nblock = 2\nproblem = {n = 1, k = 1}\n'
        "settings = {breaks = 0.2}\n"
    )
    where = ("--store", "s.db", "--file", COIN)
    code, out, err = run(capsys, "sweep", "run", "grid.toml", *where)
    done = len(contents("s.db"))
    assert code == 4
    assert 0 < done < 12
    assert f"{done} blocks computed" in err
    assert "failed: coin k=1 n=1 breaks=0.2, runs from" in err
    assert "coin k=1 n=1 breaks=0.2  " in out


def test_rows_of_other_code_are_not_stored(tmp_path):
    task = Task(next(iter(Grid("coin", {"n": 1, "k": 1}, runs=2, block=2).specs())), str(COIN))
    with pytest.raises(RuntimeError, match="other code, versions or another learner's file"):
        made_rows(task, {"coin": "the mark of another process"})
    assert len(made_rows(task, {"coin": fingerprint("coin")})) == 2


def test_blocks_saved_by_another_process_meanwhile_are_left_alone(tmp_path):
    specs = list(Grid("coin", {"n": 1, "k": 1}, {}, runs=8, block=2).specs())
    with Store(tmp_path / "s.db") as store, Store(tmp_path / "s.db") as rival:
        seen = []

        def note(spec, computed):
            seen.append(computed)
            if len(seen) == 1:
                run_sweep(specs[2:], rival)

        assert run_sweep(specs, store, on_block=note) == 2
    assert seen == [True, True, False, False]


def test_learners_must_exist_and_their_settings_too(tmp_path):
    with Store(tmp_path / "s.db") as store:
        for spec, words in (
            (Spec.make("nobody", {}, {}), "'nobody'"),
            (Spec.make("haeds", {}, {}), "did you mean 'heads'"),
            (Spec.make("coin", {"n": 1, "k": 1}, {"luck": 1}), "'luck'"),
            (Spec.make("coin", {"n": 1, "k": 2}, {}), "k must be between"),
        ):
            with pytest.raises(ValueError, match=words):
                run_sweep([spec], store)


def test_read_only_file_is_refused_and_unchanged(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        run_sweep(COINS.specs(), store)
        store._connection.execute("PRAGMA query_only = 1")
        with pytest.raises(StoreError, match="writable"):
            store.save_verdict("key", {"id": "x"})
    assert len(contents(path)) == 80


TOML = """learner = "heads"
runs = 4
block = 2
[problem]
n = [6, 8]
k = 2
[settings]
preset = "code"
steps = 5
"""


def test_grids_from_toml(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(TOML)
    cells = [spec.cell for spec in grid_from_toml(path).specs()]
    assert cells == ["heads k=2 n=6 preset=code steps=5", "heads k=2 n=8 preset=code steps=5"] * 2
    # Sizes that go together form a list of tables.
    sizes = "[[problem]]\nn = 8\nk = 2\n[[problem]]\nn = 9\nk = 3\n"
    path.write_text(f'learner = "heads"\nruns = 4\nblock = 4\n{sizes}')
    found = [dict(spec.problem) for spec in grid_from_toml(path).specs()]
    assert found == [{"n": 8, "k": 2}, {"n": 9, "k": 3}]


def test_rows_hold_what_happened_and_nothing_that_json_refuses():
    spec = Spec.make("heads", {"n": 8, "subset": [1, 4]}, {"preset": "code", "steps": 5}, block=2)
    rows = plain_rows(run_spec(spec))
    assert len(rows) == 2
    assert {"success", "solved", "result", "risk", "error", "kind", "subset"} <= set(rows[0])
    lost = Spec.make("heads", {"n": 8, "k": 2}, {"preset": "paper", "eta": 1e308}, block=1)
    (row,) = plain_rows(run_spec(lost))
    assert (row["success"], row["result"], row["risk"]) == (False, "diverged", None)


@pytest.mark.parametrize("change", ["versions", "device", "flags", "code_fingerprint"])
def test_rates_never_mix_code_versions_devices_or_flags(change, tmp_path, monkeypatch):
    """After an upgrade 49 of 100 once became 98 of 200."""
    spec = Spec.make("coin", {"n": 1, "k": 1}, {}, block=20)
    before = block_key(spec)
    with Store(tmp_path / "s.db") as store:
        run_sweep([spec], store)
        monkeypatch.setattr(f"paritylab.execution.provenance.{change}", lambda: {"other": "1"})
        assert block_key(spec) != before
        assert run_sweep([spec], store) == 1
        (found,) = rates(store)
        assert len(list(store.blocks())) == 2
    assert (found.rate.runs, found.current) == (20, True)


def test_sweep_commands(elsewhere, capsys):
    (elsewhere / "grid.toml").write_text(TOML)
    (elsewhere / "coins.toml").write_text(
        'learner = "coin"\nruns = 4\nblock = 2\nproblem = {n = [1, 2], k = 1}\n'
        "settings = {rate = 0.5}\n"
    )
    assert "0 stored" in run(capsys, "sweep", "run", "grid.toml", "--dry-run")[1]
    assert {path.name for path in elsewhere.iterdir()} == {"grid.toml", "coins.toml"}
    code, out, err = run(capsys, "sweep", "run", "grid.toml")
    assert code == 0
    assert "heads k=2 n=8 preset=code steps=5" in out
    assert "4 blocks computed" in err
    again = run(capsys, "sweep", "run", "grid.toml")[2]
    assert "0 blocks computed" in again
    assert "4 reused" in again
    assert "4 blocks computed" in run(capsys, "sweep", "run", "grid.toml", "--fresh")[2]
    assert "4 stored" in run(capsys, "sweep", "run", "grid.toml", "--dry-run")[1]
    assert "95 % interval" in run(capsys, "sweep", "status")[1]
    assert run(capsys, "sweep", "export", "grid.toml", "--csv", "rates.csv")[0] == 0
    with (elsewhere / "rates.csv").open() as file:
        rates_written = list(csv.DictReader(file))
    assert [(row["n"], row["runs"]) for row in rates_written] == [("6", "4"), ("8", "4")]
    assert all(row["low"] <= row["rate"] <= row["high"] for row in rates_written)
    mine = run(capsys, "sweep", "run", "coins.toml", "--file", str(COIN), "--store", "c.db")[1]
    assert "coin k=1 n=2 rate=0.5" in mine


def test_interrupted_sweep_exits_130_and_says_how_to_go_on(elsewhere, interruptible):
    (elsewhere / "grid.toml").write_text(
        'learner = "coin"\nruns = 4000\nblock = 2\nproblem = {n = 8, k = 2}\n'
        "settings = {pause = 0.02}\n"
    )
    process = subprocess.Popen(
        [*interruptible, "sweep", "run", "grid.toml", "--store", "s.db", "--file", str(COIN)],
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.2)
        if (elsewhere / "s.db").exists() and len(contents(elsewhere / "s.db")) > 3:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "run the same command again" in err
    assert 3 < len(contents(elsewhere / "s.db")) < 2000
