"""A learner's file that is edited while a sweep runs: no row of one code under another's name."""

import itertools
import threading
import time
from pathlib import Path

import pytest
from tests.sweep import coin

from paritylab.learning import LEARNERS
from paritylab.sweep import provenance, runner
from paritylab.sweep.blocks import Task, learners_from_file, rows_of
from paritylab.sweep.cluster import cluster
from paritylab.sweep.engines import processes
from paritylab.sweep.grid import Grid
from paritylab.sweep.runner import BlockError, fingerprint, made_rows, run_sweep
from paritylab.sweep.store import Store

NUMBERS = itertools.count()


@pytest.fixture
def own(tmp_path):
    """A learners file with a helper that is imported late; its name, its folder, its specs."""
    name = f"edited{next(NUMBERS)}"
    text = Path(coin.__file__).read_text().replace('"coin"', f'"{name}"').replace("Coin", "Own")
    late = f"    def train(self, data, keys, trace):\n        import {name}_late\n"
    text = text.replace("    def train(self, data, keys, trace):\n", late)
    (tmp_path / f"{name}_late.py").write_text("x = 1\n")
    path = tmp_path / f"{name}.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{text}")
    yield name, path, list(Grid(name, {"n": 2, "k": 1}, runs=3, block=1).specs())
    LEARNERS.pop(name, None)


def edit(path):
    path.write_text(path.read_text() + "\nedited = True\n")


def stored(store):
    return [(block["fingerprint"], block["rows"]) for block in store.blocks()]


def test_a_serial_sweep_keeps_the_name_of_what_it_loaded(own, tmp_path):
    _, path, specs = own
    learners_from_file(path)
    before = fingerprint(specs[0])
    with Store(tmp_path / "s.db") as store:
        run_sweep(specs, store, file=str(path), on_block=lambda *_: edit(path))
        assert {mark for mark, _ in stored(store)} == {before}


def test_a_helper_that_was_edited_before_its_import_is_noticed(own, tmp_path):
    name, path, specs = own
    learners_from_file(path)
    edit(tmp_path / f"{name}_late.py")
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(BlockError, match="another version of the learner's file"):
            run_sweep(specs[:1], store, file=str(path))
        assert stored(store) == []


@pytest.mark.slow
def test_processes_that_load_another_version_store_nothing(own, tmp_path):
    _, path, specs = own
    learners_from_file(path)
    edit(path)
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(BlockError, match="another version of the learner's file"):
            run_sweep(specs, store, engine=processes(1), file=str(path))
        assert stored(store) == []


#: The first block waits until its file has been edited; the second version turns every row over.
WAITS = """        import pathlib, time
        folder = pathlib.Path(__file__).parent
        (folder / "started").touch()
        while not (folder / "edited").exists():
            time.sleep(0.02)
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.xdist_group("cluster")
def test_a_long_lived_dask_worker_stores_nothing_under_the_name_of_an_edit(own, tmp_path):
    from distributed import LocalCluster

    name, path, specs = own
    lines = path.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if f"import {name}_late" in line)
    first = "".join([*lines[: at + 1], *WAITS.splitlines(keepends=True), *lines[at + 1 :]])
    path.write_text(first)

    def edit_midway():
        while not (tmp_path / "started").exists():
            time.sleep(0.02)
        path.write_text(first.replace("found = draws <", "found = draws >="))
        (tmp_path / "edited").touch()

    editor = threading.Thread(target=edit_midway)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as others,
        Store(tmp_path / "s.db") as store,
    ):
        workers = cluster(others.scheduler_address)
        learners_from_file(path)
        editor.start()
        run_sweep(specs[:1], store, engine=workers, file=str(path))
        editor.join()
        ((old, rows),) = stored(store)
        assert old == fingerprint(specs[0])
        as_a_new_process(name)
        learners_from_file(path)
        assert fingerprint(specs[0]) != old
        assert rows != rows_of(Task(specs[0]))
        with pytest.raises(BlockError, match="start old workers anew"):
            run_sweep(specs, store, engine=workers, file=str(path))
        assert stored(store) == [(old, rows)]


def as_a_new_process(name):
    """Forget what was loaded, as the next driver, which has never seen the first version."""
    LEARNERS.pop(name)
    provenance._LOADED.clear()


def test_a_long_lived_worker_answers_with_the_mark_of_what_it_loaded(own):
    _, path, specs = own
    task = Task(specs[0], str(path))
    rows, mark = made_rows(task, driver="elsewhere")
    assert rows
    edit(path)
    runner._worker_mark.cache_clear()
    assert made_rows(task, driver="elsewhere")[1] == mark
    provenance._LOADED.clear()
    assert fingerprint(specs[0]) != mark


def test_a_file_that_changes_while_it_is_loaded_is_refused(own):
    _, path, _ = own
    overwrite = f"import pathlib\npathlib.Path({str(path)!r}).write_text('# more')\n"
    path.write_text(path.read_text() + overwrite)
    with pytest.raises(ValueError, match="edited while it was loaded"):
        learners_from_file(path)


def test_two_drivers_of_one_store_begin_at_both_ends(own, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _, path, specs = own
    learners_from_file(path)
    orders, remarks = {"first": [], "second": []}, []

    def first(spec, computed):
        orders["first"].append((spec.first, computed))
        if len(orders["first"]) == 1:  # the other driver comes while this one is at work
            with Store(tmp_path / "s.db") as store:
                run_sweep(specs, store, on_block=second, say=remarks.append)

    def second(spec, computed):
        orders["second"].append((spec.first, computed))

    with Store(tmp_path / "s.db") as store:
        run_sweep(specs, store, on_block=first)
        assert len(stored(store)) == 3
    assert orders["first"] == [(0, True), (1, False), (2, False)]
    assert orders["second"] == [(2, True), (1, True), (0, False)]
    assert len(remarks) == 1
