"""Files from elsewhere: one line for each kind of harm, at once, and nothing overwritten."""

import json
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from paritylab._support.safe_io import printable, read_json, read_toml
from paritylab.learning.saving import read_tree
from paritylab.sweep.grid import grid_from_toml

X64_MODES = [False]


@pytest.mark.parametrize("read", [read_json, read_toml, grid_from_toml, read_tree])
def test_readers_refuse_folders_and_large_and_absent_files(tmp_path, read):
    with (tmp_path / "sparse").open("wb") as stream:
        stream.truncate(1 << 30)
    for name in ("sparse", ".", "absent"):
        with pytest.raises(ValueError, match=r"bytes|folder|no (such |sweep )?file"):
            read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (".".join(["a"] * 100_000) + " = 1", "bytes"),
        (".".join(["a"] * 10_000) + " = 1", "unknown key"),
        ("x = " + "[" * 5000 + "]" * 5000, "nested"),
        ("x = 1\nx = 2", "overwrite"),
        ("\ud800".encode("utf-8", "surrogatepass"), "UTF-8"),
    ],
)
def test_hostile_toml_is_one_line_at_once(tmp_path, text, match):
    path, begin = tmp_path / "grid.toml", time.monotonic()
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=match) as refusal:
        grid_from_toml(path)
    assert "\n" not in str(refusal.value)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[" * 900 + "]" * 900, "nested"),
        ("[" * 100_000, "nested"),
        ("9" * 401, "bits"),
        ("[NaN]", "NaN"),
    ],
)
def test_hostile_json_is_one_line(tmp_path, text, match):
    (tmp_path / "rows.json").write_text(text)
    with pytest.raises(ValueError, match=match):
        read_json(tmp_path / "rows.json")


@pytest.mark.parametrize("tree", [[], {"dict": []}, {"array": "absent"}, {}, 3])
def test_saved_runs_with_another_tree_are_refused(tmp_path, tree):
    header = {"format": 4, "tree": tree}
    np.savez(tmp_path / "runs.npz", header=np.array(json.dumps(header)))
    with pytest.raises(ValueError, match="does not hold saved runs"):
        read_tree(tmp_path / "runs.npz")


def test_an_archive_that_grows_without_measure_is_refused(tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "runs.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.npy", "w", force_zip64=True) as inner,
    ):
        for _ in range(300):
            inner.write(bytes(1 << 20))
    with pytest.raises(ValueError, match="times its size"):
        read_tree(tmp_path / "runs.npz")


@pytest.mark.parametrize("place", ["claims", "learners"])
def test_a_file_that_ends_python_is_bad_input(tmp_path, place):
    (tmp_path / "own.py").write_text("raise SystemExit(7)\n")
    command = {
        "claims": ["check", "--file", "own.py", "--store", "s.db"],
        "learners": ["sweep", "run", "noise", "--file", "own.py", "--dry-run"],
    }[place]
    done = subprocess.run(
        [sys.executable, "-m", "paritylab", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "SystemExit: 7" in done.stderr


def test_text_for_terminals_and_spreadsheets_is_escaped():
    from paritylab.cli.sweep import _as_csv

    assert printable("a\x1b[31m\u202e") == "a\\x1b[31m\\u202e"
    text = _as_csv({"=1+1": ["=cmd|' /C calc'!A0", "a\x1bb", -1.5]})
    assert text.decode().splitlines() == ["'=1+1", "'=cmd|' /C calc'!A0", "a\\x1bb", "-1.5"]
