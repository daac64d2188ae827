import contextlib
import os
import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from paritylab.statistics import mean_interval
from paritylab.sweep.rescue import rescue
from paritylab.sweep.spec import Spec
from paritylab.sweep.store import SCHEMA_VERSION, Store, StoreError, open_store


def test_rows_come_back_as_they_were(tmp_path):
    row = {"id": "x", "measured": {"a": [1.5, "inf"]}}
    with Store(tmp_path / "new" / "store.db") as store:
        store.save_verdict("key", row)
        assert store.verdict("other") is None
    with Store(tmp_path / "new" / "store.db") as store:
        assert store.verdict("key") == row


def test_a_new_folder_keeps_out_of_version_control(tmp_path):
    open_store(tmp_path / "new" / "store.db").close()
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"
    open_store(tmp_path / "store.db").close()
    assert not (tmp_path / ".gitignore").exists()


def test_a_corrupt_store_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "store.db"
    path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(StoreError, match="move the file away"):
        Store(path)
    assert path.read_bytes().startswith(b"this is not")


def test_a_newer_store_is_refused(tmp_path):
    path = tmp_path / "store.db"
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match="newer paritylab"):
        Store(path)


def test_a_folder_in_the_way_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="choose another"):
        Store(tmp_path / "file" / "store.db")


def test_mean_interval_is_students():
    values = np.random.default_rng(0).normal(size=12)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert np.allclose(mean_interval(values), expected)
    with pytest.raises(ValueError, match="1"):
        mean_interval([1.0])


FACTS = {"status": "done", "seconds": 1, "device": "cpu", "versions": {}, "fingerprint": "f"}


def filled(path, blocks=12):
    """A store with short and long blocks and a verdict; its blocks by key."""
    with Store(path) as store:
        for number in range(blocks):
            spec = Spec.make("own", {"n": number + 1}, {})
            rows = [{"success": True, "risk": number / 7}] * (400 if number % 5 == 0 else 2)
            store.save_block(f"key {number}", spec, rows, FACTS)
        store.save_verdict("verdict", {"id": "x", "finding": "y"})
        return {block["key"]: block for block in store.blocks()}


@pytest.mark.parametrize("reading", [False, True])
@pytest.mark.parametrize(
    "statement", ["CREATE TABLE notes (text)", "CREATE TABLE blocks (x)", "PRAGMA user_version = 3"]
)
def test_a_file_of_another_program_is_refused_and_unchanged(tmp_path, statement, reading):
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"another program|not a store's"):
        Store(path, reading=reading)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


def test_what_is_no_ordinary_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(StoreError, match="not an ordinary file"):
            Store(path)


@pytest.mark.parametrize("table", ["blocks", "verdicts"])
def test_a_changed_row_is_noticed(tmp_path, table):
    path = tmp_path / "s.db"
    filled(path)
    column = {"blocks": "rows", "verdicts": "row"}[table]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE {table} SET {column} = replace({column}, 'risk', 'rosk')")
        connection.execute(f"UPDATE {table} SET {column} = replace({column}, 'finding', 'funding')")
        connection.commit()
    with Store(path) as store, pytest.raises(StoreError, match="sweep rescue"):
        list(store.blocks()), store.verdict("verdict")


def test_every_flipped_bit_is_refused_or_harmless_and_the_rest_is_rescued(tmp_path):
    path, draw = tmp_path / "s.db", random.Random(5)
    truth = filled(path)
    whole = path.read_bytes()
    for number in range(15):
        broken = bytearray(whole)
        broken[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        path.write_bytes(broken)
        with contextlib.suppress(StoreError), Store(path, reading=True) as store:
            assert {block["key"]: block for block in store.blocks()} == truth
        rescued = rescue(path, tmp_path / f"{number}.db")
        assert rescued.blocks + rescued.damaged >= len(truth) - 10
        with Store(tmp_path / f"{number}.db", reading=True) as store:
            assert all(truth[block["key"]] == block for block in store.blocks())


def test_rows_still_in_the_log_are_rescued(tmp_path):
    path = tmp_path / "s.db"
    store = Store(path)
    store.save_block("key", Spec.make("own", {"n": 1}, {}), [{"risk": 0.5}] * 500, FACTS)
    copy = tmp_path / "copy.db"  # as after a kill: the log has not been merged
    for ending in ("", "-wal"):
        (tmp_path / f"copy.db{ending}").write_bytes(Path(f"{path}{ending}").read_bytes())
    store.close()
    copy.write_bytes(copy.read_bytes()[:100])
    assert rescue(copy, tmp_path / "new.db") == (1, 0, 0)


def test_rescue_never_overwrites_and_says_if_nothing_is_whole(tmp_path):
    filled(tmp_path / "s.db")
    with pytest.raises(StoreError, match="exists"):
        rescue(tmp_path / "s.db", tmp_path / "s.db")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(StoreError, match="nothing written"):
        rescue(tmp_path / "text", tmp_path / "new.db")
    with pytest.raises(StoreError, match="no store"):
        rescue(tmp_path / "none", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_store_is_read_where_nothing_may_be_written(tmp_path, monkeypatch):
    """sqlite needs to write beside a file with a log even to read it; then a copy is read."""
    truth = filled(tmp_path / "s.db")
    usual = sqlite3.connect

    def refuse(name, **options):
        if "mode=ro" in str(name):
            return usual(f"{tmp_path.as_uri()}/none/none.db?mode=ro", uri=True)
        return usual(name, **options)

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with Store(tmp_path / "s.db", reading=True) as store:
        assert {block["key"]: block for block in store.blocks()} == truth
        folder = store._copy.name
    assert not Path(folder).exists()


def test_a_read_store_is_not_made(tmp_path):
    with pytest.raises(StoreError):
        Store(tmp_path / "none.db", reading=True)
    assert list(tmp_path.iterdir()) == []
