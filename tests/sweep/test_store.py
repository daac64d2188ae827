import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from paritylab.sweep.grid import Spec
from paritylab.sweep.store import VERSION, Store, StoreError, open_store


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
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match="newer paritylab"):
        Store(path)


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
    with pytest.raises(StoreError, match=r"another program|from before"):
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
    with Store(path) as store, pytest.raises(StoreError, match=r"\.recover"):
        list(store.blocks()), store.verdict("verdict")


def test_a_store_is_read_where_nothing_may_be_written(tmp_path, monkeypatch):
    """sqlite needs to write beside a file with a log even to read it; then a copy is read."""
    truth = filled(tmp_path / "s.db")
    usual = sqlite3.connect

    def refuse(name, **options):
        if "mode=ro" in str(name):

            class Unreadable:
                def execute(self, query):
                    raise sqlite3.OperationalError("unable to open database file")

                def close(self):
                    pass

            return Unreadable()
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


def test_a_store_whose_writer_was_killed_before_its_first_table_reads_as_empty(tmp_path):
    path = tmp_path / "s.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL").fetchone()
    assert path.stat().st_size
    before = path.read_bytes()
    with Store(path, reading=True) as store:
        assert list(store.blocks()) == []
        assert store.verdict("key") is None
    assert path.read_bytes() == before
    assert len(filled(path)) == 12


def test_a_store_of_0_3_0_opens_with_its_blocks_and_verdicts(tmp_path):
    path = tmp_path / "store.db"
    path.write_bytes((Path(__file__).parents[1] / "fixtures" / "store-0.3.0.db").read_bytes())
    with Store(path) as store:
        blocks = list(store.blocks())
        keys = [row["key"] for row in store._rows("verdicts")]
        verdicts = [store.verdict(key) for key in keys]
    counts = {block["cell"]: [] for block in blocks}
    for block in blocks:
        counts[block["cell"]] += [row["success"] for row in block["rows"]]
    assert {cell: (sum(flags), len(flags)) for cell, flags in counts.items()} == {
        "heads k=2 n=6 preset=code steps=50": (17, 20),
        "heads k=2 n=8 preset=code steps=50": (10, 20),
    }
    assert {row["id"]: row["status"] for row in verdicts} == {
        "hg1-mask": "corrected",
        "lab-one-step-k": "holds",
    }


def test_a_store_from_before_0_3_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE verdicts (key TEXT PRIMARY KEY)")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"from before 0\.3; open it once with paritylab 0\.3"):
        Store(path)
    assert path.read_bytes() == before
