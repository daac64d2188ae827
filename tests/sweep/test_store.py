import sqlite3

import numpy as np
import pytest
from scipy import stats

from paritylab.statistics import mean_interval
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
