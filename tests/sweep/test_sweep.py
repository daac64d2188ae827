"""Blocks, rates, and results that survive kills, rivals and broken disks."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from paritylab.sweep import (
    Grid,
    Run,
    Spec,
    Store,
    StoreError,
    grid_from_toml,
    learner,
    load_run,
    rates,
    run_sweep,
    save_run,
)
from paritylab.sweep.learners import LEARNERS
from paritylab.sweep.runner import block_key

COINS = Grid("coin", {"n": list(range(10))}, {"rate": [0.2, 0.9]}, runs=40, width=10)


def contents(path):
    with Store(path) as store:
        return [(block["key"], block["rows"]) for block in store.blocks()]


def test_specs_are_values_with_stable_hashes():
    spec = Spec.make("coin", {"n": 3, "k": 2}, {"rate": 0.5}, seed=7)
    assert spec == Spec.make("coin", {"k": 2, "n": 3}, {"rate": 0.5}, seed=7)
    assert hash(spec) == hash(Spec.make("coin", {"k": 2, "n": 3}, {"rate": 0.5}, seed=7))
    assert spec.hash != Spec.make("coin", {"n": 3, "k": 2}, {"rate": 0.5}, seed=7, width=50).hash
    assert list(Spec.make("coin", {}, {}, width=3, block=2).runs) == [6, 7, 8]


def test_same_seed_same_rows_and_blocks_do_not_depend_on_each_other():
    alone = LEARNERS["start"](Spec.make("start", {"n": 8, "k": 2}, {}, width=5, block=1))
    again = LEARNERS["start"](Spec.make("start", {"n": 8, "k": 2}, {}, width=5, block=1))
    wide = LEARNERS["start"](Spec.make("start", {"n": 8, "k": 2}, {}, width=10))
    assert alone == again
    assert np.allclose([row["risk"] for row in wide[5:]], [row["risk"] for row in alone], atol=1e-9)


def test_sweep_computes_once_and_counts(tmp_path):
    with Store(tmp_path / "s.db") as store:
        assert run_sweep(COINS.specs(), store) == 80
        seen = []
        assert run_sweep(COINS.specs(), store, on_block=lambda s, new: seen.append(new)) == 0
        assert seen == [False] * 80
        found = dict(rates(store))
    assert len(found) == 20
    assert all(rate.runs == 40 for rate in found.values())
    assert found["coin n=3 rate=0.9"].successes > found["coin n=3 rate=0.2"].successes


def test_sequential_stopping_spares_decided_cells(tmp_path):
    grid = Grid("coin", {"n": 1}, {"rate": [0.05, 0.5, 0.95]}, runs=400, width=20)
    with Store(tmp_path / "s.db") as store:
        computed = run_sweep(grid.specs(), store, until=0.5)
        runs = {cell.split("=")[-1]: rate.runs for cell, rate in rates(store)}
        assert run_sweep(grid.specs(), store, until=0.5) == 0
    assert computed < 60
    assert runs["0.05"] == runs["0.95"] == 20
    assert runs["0.5"] > 100


def test_a_half_done_block_leaves_no_trace(tmp_path):
    @learner("breaks")
    def breaks(spec):
        if spec.block == 2:
            raise RuntimeError("half way")
        return [{"success": True}] * spec.width

    specs = [Spec.make("breaks", {}, {}, width=3, block=block) for block in range(4)]
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(RuntimeError, match="half way"):
            run_sweep(specs, store)
        assert [block["spec"]["block"] for block in store.blocks()] == [0, 1]


def test_learners_must_return_a_row_per_run_and_exist(tmp_path):
    learner("short")(lambda spec: [])
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(ValueError, match="must return 5 rows, got 0"):
            run_sweep([Spec.make("short", {}, {}, width=5)], store)
        with pytest.raises(ValueError, match="'nobody'"):
            run_sweep([Spec.make("nobody", {}, {})], store)


KILLED = """
import sys, time
from paritylab.sweep import Grid, Store, run_sweep
from paritylab.sweep import learners
original = learners.LEARNERS["coin"]
log = open(sys.argv[2], "a")

def slow(spec):
    time.sleep({pause})
    return original(spec)

learners.LEARNERS["coin"] = slow

def note(spec, computed):
    if computed:
        log.write(spec.hash + chr(10)); log.flush()

grid = Grid("coin", {{"n": list(range({cells}))}}, {{"rate": 0.5}}, runs=4, width=4)
with Store(sys.argv[1]) as store:
    run_sweep(grid.specs(), store, on_block=note)
print("done")
"""


def kill_and_resume(folder, cells, kills, pause):
    """Run a sweep, killing it at random moments; returns (finished rows, hashes computed)."""
    code, path, log = KILLED.format(cells=cells, pause=pause), folder / "k.db", folder / "log"
    command = [sys.executable, "-c", code, str(path), str(log)]
    chooser = random.Random(1)
    for _ in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        before = log.stat().st_size if log.exists() else 0
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if log.exists() and log.stat().st_size > before:
                break
            time.sleep(0.005)
        time.sleep(chooser.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return contents(path), log.read_text().split()


@pytest.mark.parametrize(
    ("cells", "kills"), [(60, 3), pytest.param(1000, 50, marks=pytest.mark.slow)]
)
def test_killed_and_resumed_sweeps_end_as_if_undisturbed(tmp_path, cells, kills):
    (tmp_path / "calm").mkdir()
    (tmp_path / "killed").mkdir()
    calm, _ = kill_and_resume(tmp_path / "calm", cells, 0, 0.0)
    killed, computed = kill_and_resume(tmp_path / "killed", cells, kills, 0.01)
    assert killed == calm
    assert len(killed) == cells
    # A block counts as computed once it is stored: none twice. At most one per kill was stored
    # but not yet noted when the kill came.
    assert len(computed) == len(set(computed))
    assert cells - kills <= len(computed) <= cells


def test_two_writers_lose_nothing(tmp_path):
    code = KILLED.format(cells=150, pause=0.002)
    path = tmp_path / "two.db"
    commands = [
        [sys.executable, "-c", code, str(path), str(tmp_path / name)] for name in ("a", "b")
    ]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert len(contents(path)) == 150


def test_truncated_store_is_refused_in_one_line(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        run_sweep(COINS.specs(), store)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError) as caught:
        list(Store(path).blocks())
    assert "\n" not in str(caught.value)
    assert "move the file away" in str(caught.value)


def test_full_disk_keeps_what_is_stored(tmp_path):
    path = tmp_path / "s.db"
    specs = list(COINS.specs())
    with Store(path) as store:
        run_sweep(specs[:10], store)
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="free some disk space"):
            run_sweep(specs, store)
    kept = len(contents(path))
    assert 10 <= kept < 80
    with Store(path) as store:
        assert run_sweep(specs, store) == 80 - kept


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="writable"):
        Store(tmp_path / "s.db")


def test_read_only_file_is_refused_and_unchanged(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        run_sweep(COINS.specs(), store)
        store._connection.execute("PRAGMA query_only = 1")
        with pytest.raises(StoreError, match="writable"):
            store.save_verdict("key", {"id": "x"})
    assert len(contents(path)) == 80


def test_without_wal_the_store_works_too(tmp_path):
    with Store(tmp_path / "s.db", wal=False) as store:
        assert store.journal == "delete"
        assert run_sweep(COINS.specs(), store) == 80
    assert len(contents(tmp_path / "s.db")) == 80


def test_an_older_store_is_brought_up_to_date_and_keeps_its_verdicts(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.save_verdict("key", {"id": "x"})
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE blocks")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with Store(path) as store:
        assert store.verdict("key") == {"id": "x"}
        assert run_sweep(COINS.specs(), store) == 80


def test_runs_round_trip_without_pickle(tmp_path):
    run = Run({"heads": np.eye(2)}, {"risk": np.arange(3.0)}, "solved", 30, 1000)
    loaded = load_run(save_run(run, tmp_path / "run.npz"))
    assert np.array_equal(loaded.parameters["heads"], np.eye(2))
    assert np.array_equal(loaded.trace["risk"], [0, 1, 2])
    assert (loaded.stop, loaded.gradient_evaluations, loaded.samples) == ("solved", 30, 1000)
    with pytest.raises(ValueError, match="numbers"):
        save_run(Run({"bad": np.array([object()])}), tmp_path / "bad.npz")
    (tmp_path / "junk.npz").write_bytes(b"junk")
    for name in ("junk.npz", "none.npz"):
        with pytest.raises(ValueError, match=name):
            load_run(tmp_path / name)


TOML = 'learner = "coin"\nruns = 20\nwidth = 10\n[problem]\nn = [1, 2]\n[settings]\nrate = 0.5\n'


def test_grids_from_toml(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(TOML)
    grid = grid_from_toml(path)
    assert [spec.cell for spec in grid.specs()] == ["coin n=1 rate=0.5", "coin n=2 rate=0.5"] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learner = ", "not readable TOML"),
        ('learner = "coin"', "lacks 'problem'"),
        (TOML + "[extra]\n", "'extra'"),
        (TOML.replace("20", "25"), "25"),
        (TOML.replace("[problem]\nn = [1, 2]", "problem = 3"), "got 3"),
    ],
)
def test_bad_grid_files_say_why(tmp_path, text, message):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        grid_from_toml(path)


def test_sizes_that_go_together_form_a_list_of_tables(tmp_path):
    sizes = "[[problem]]\nn = 8\nk = 2\n[[problem]]\nn = 9\nk = 3\n"
    text = f'learner = "heads"\nruns = 4\nwidth = 4\n{sizes}'
    (tmp_path / "grid.toml").write_text(text)
    specs = list(grid_from_toml(tmp_path / "grid.toml").specs())
    assert [dict(spec.problem) for spec in specs] == [{"n": 8, "k": 2}, {"n": 9, "k": 3}]


def test_the_heads_learner_gives_rows_and_names_unknown_settings():
    spec = Spec.make("heads", {"n": 8, "k": 2}, {"preset": "code", "steps": 20}, width=3)
    rows = LEARNERS["heads"](spec)
    assert len(rows) == 3
    assert {"success", "solved", "risk", "subset", "positions", "directions"} <= set(rows[0])
    fixed = Spec.make("heads", {"n": 8, "subset": [1, 4]}, {"steps": 5}, width=2)
    assert [row["subset"] for row in LEARNERS["heads"](fixed)] == [[1, 4], [1, 4]]
    for problem, settings, words in (
        ({"n": 8, "k": 2}, {"temperature": 1}, "unknown setting 'temperature'"),
        ({"n": 8, "k": 2, "d": 3}, {}, "unknown problem 'd'"),
        ({"n": 8, "k": 3, "subset": [1, 2]}, {}, "subset has 2 positions"),
    ):
        with pytest.raises(ValueError, match=words):
            LEARNERS["heads"](Spec.make("heads", problem, settings, width=2))


def test_bad_specs_name_the_value():
    with pytest.raises(ValueError, match="width must be a whole number ≥ 1, got 0"):
        Spec.make("coin", {}, {}, width=0)
    with pytest.raises(ValueError, match="below must be a finite number, got nan"):
        Spec.make("start", {"n": 8, "k": 2}, {"below": float("nan")})
    with pytest.raises(ValueError, match="ndarray"):
        Spec.make("coin", {"n": np.ones(2)}, {})


def test_block_keys_change_with_the_versions(monkeypatch):
    spec = Spec.make("coin", {}, {})
    before = block_key(spec)
    monkeypatch.setattr("paritylab.sweep.runner.versions", lambda: {"jax": "0"})
    assert block_key(spec) != before


def test_sweep_commands(elsewhere, capsys):
    from paritylab.cli import main

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        return stopped.value.code, *capsys.readouterr()

    (elsewhere / "grid.toml").write_text(TOML)
    assert "0 blocks stored" in run("sweep", "run", "grid.toml", "--dry-run")[1]
    assert not (elsewhere / ".paritylab").exists()
    code, out, err = run("sweep", "run", "grid.toml")
    assert code == 0
    assert "coin n=2 rate=0.5" in out
    assert "4 blocks computed" in err
    assert "0 blocks computed" in run("sweep", "run", "grid.toml")[2]
    assert "4 blocks stored" in run("sweep", "run", "grid.toml", "--dry-run")[1]
    assert "95 % interval" in run("sweep", "status")[1]
    assert run("sweep", "export", "--csv", "rows.csv")[0] == 0
    lines = (elsewhere / "rows.csv").read_text().splitlines()
    assert len(lines) == 41
    assert "start k=3 n=8" in run("sweep", "run", "start", "--effort", "quick")[1]
    bad_commands = [
        ["run", "none.toml"],
        ["run", "nothing-named"],
        ["status", "--store", "none.db"],
        ["export"],
        ["export", "--csv", "no/such/place.csv"],
    ]
    for bad in bad_commands:
        code, out, err = run("sweep", *bad)
        assert code == 2
        assert err.count("\n") == 1


def test_interrupted_sweep_exits_130_and_says_how_to_go_on(elsewhere, interruptible):
    (elsewhere / "grid.toml").write_text(
        'learner = "start"\nruns = 4000\nwidth = 2\n[problem]\nn = 8\nk = 2\n'
    )
    process = subprocess.Popen(
        [*interruptible, "sweep", "run", "grid.toml", "--store", "s.db"],
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
