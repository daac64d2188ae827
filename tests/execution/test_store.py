"""The store: what was written comes back, what cannot be used is refused and left alone."""

import contextlib
import sqlite3

import pytest

from paritylab.execution.store import APPLICATION, Store, StoreError
from paritylab.sweep.grid import Spec

FACTS = {"status": "done", "seconds": 1, "device": "cpu", "versions": {}, "fingerprint": "f"}


def filled(path, blocks=12):
    """A store with short and long blocks and a verdict; its blocks by key."""
    with Store(path) as store:
        for number in range(blocks):
            spec = Spec.make("own", {"n": number + 1}, {})
            rows = [{"success": True, "risk": number / 7}] * (400 if number % 5 == 0 else 2)
            store.save_block(f"key {number}", spec, rows, FACTS)
        store.save_verdict("verdict", {"id": "x", "finding": "y", "measured": [1.5, "inf"]})
        return {block["key"]: block for block in store.blocks()}


def test_what_was_written_comes_back(tmp_path):
    written = filled(tmp_path / "new" / "store.db")
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"
    with Store(tmp_path / "new" / "store.db") as store:
        assert {block["key"]: block for block in store.blocks()} == written
        assert store.verdict("verdict") == {"id": "x", "finding": "y", "measured": [1.5, "inf"]}
        assert store.verdict("other") is None
        assert store.is_finished("key 3")
        assert not store.is_finished("key 12")
    Store(tmp_path / "store.db").close()
    assert not (tmp_path / ".gitignore").exists()


@pytest.mark.parametrize("reading", [False, True])
@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE notes (text)"],
        ["CREATE TABLE blocks (x)"],
        [f"PRAGMA application_id = {APPLICATION}", "PRAGMA user_version = 99"],
    ],
)
def test_files_of_other_programs_and_versions_are_refused_and_unchanged(
    tmp_path, statements, reading
):
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="use the program that wrote it, or choose another"):
        Store(path, reading=reading)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


def test_what_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "store.db"
    path.write_bytes(b"this is not a database" * 100)
    for where, words in (
        (path, "move the file away"),
        (path / "store.db", "choose another"),
        (tmp_path, "not an ordinary file"),
    ):
        with pytest.raises(StoreError, match=words):
            Store(where)
    assert path.read_bytes().startswith(b"this is not")
    with pytest.raises(StoreError, match="no store"):
        Store(tmp_path / "none.db", reading=True)
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("table", ["blocks", "verdicts"])
def test_a_changed_row_is_noticed(tmp_path, table):
    path = tmp_path / "s.db"
    filled(path)
    column = {"blocks": "rows", "verdicts": "row"}[table]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE {table} SET {column} = replace({column}, 'risk', 'rosk')")
        connection.execute(f"UPDATE {table} SET {column} = replace({column}, 'finding', 'funding')")
        connection.commit()
    with Store(path) as store, pytest.raises(StoreError, match=r"\.recover"):
        list(store.blocks()), store.verdict("verdict")


def test_a_store_whose_writer_was_killed_before_its_first_table_reads_as_empty(tmp_path):
    path = tmp_path / "s.db"
    path.touch()
    with Store(path, reading=True) as store:
        assert list(store.blocks()) == []
        assert store.verdict("key") is None
    assert path.stat().st_size == 0
    assert len(filled(path)) == 12
