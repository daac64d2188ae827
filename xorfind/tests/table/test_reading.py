"""Tables of every kind are read right, or refused in one clear line."""

import csv
import gzip
import io
import sys
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from scipy.sparse import csr_array, csr_matrix

from xorfind import discover
from xorfind.fields.reading import read_fields
from xorfind.table import delimited
from xorfind.table.prepare import as_choices, prepare
from xorfind.table.reading import read_table

ROWS = "a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n"


def prepared(source, target="y", **options):
    choices = as_choices(
        options.get("bits", ()), options.get("threshold"), options.get("missing", "refuse")
    )
    return prepare(read_table(source), [target], choices)


def written(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


SAME = {
    "plain": ROWS,
    "windows": ROWS.replace("\n", "\r\n"),
    "old mac": ROWS.replace("\n", "\r"),
    "tabs": ROWS.replace(",", "\t"),
    "semicolons": ROWS.replace(",", ";"),
    "BOM": b"\xef\xbb\xbf" + ROWS.encode(),
    "UTF-16, semicolons": ROWS.replace(",", ";").encode("utf-16"),
    "spaces": ROWS.replace(",", " , "),
    "quotes": '"a","b","y"\n"0","0","0"\n0,"1",1\n1,0,1\n1,1,0\n',
    "blank lines": ROWS.replace("\n", "\n\n"),
    "words": "a,b,y\nno,no,F\nno,Yes,T\nyes,no,t\nYES,yes,f\n",
    "gzip": gzip.compress(ROWS.encode()),
    "mixed spellings": "a,b,y\n0,0,0\n0,1,1\n1.0,0,1\n1,1,0\n",
    "any two levels": "a,b,y\nC,0,red\nC,1,tan\nD,0,tan\nD,1,red\n",
}


@pytest.mark.parametrize("content", SAME.values(), ids=SAME)
def test_spellings_of_one_table_give_the_same_bits(tmp_path, content):
    found = prepared(written(tmp_path, content))
    assert found.bits.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert found.targets[0][1].tolist() == [0, 1, 1, 0]
    assert [coding.name for coding in found.codings] == ["a", "b"]


def test_quotes_and_line_ends_in_cells_are_read_a_few_rows_at_a_time(tmp_path, monkeypatch):
    cells = ["plain", "one, two", 'two\nlines "quoted"', "", "NA"]
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "name", "y"])
        writer.writerows((at % 2, cells[at % 5], at % 3 % 2) for at in range(60))
    monkeypatch.setattr(delimited, "TOGETHER", 7)
    table = read_table(path)
    assert table.column("name").texts() == cells * 12
    assert prepared(table).notes.ignored == ["name"]


def test_memory_stays_a_few_bytes_per_cell(tmp_path):
    import tracemalloc

    rows = ("0,1," * 500 + "1\n") * 4000
    path = written(tmp_path, ",".join(f"c{j}" for j in range(1001)) + "\n" + rows)
    tracemalloc.start()
    table = read_table(path)
    size, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert table.rows == 4000
    assert size < 1001 * 4000 * 1.2 + 1_000_000
    assert peak < 12 * 1001 * 4000


def test_frames_mappings_and_parquet(tmp_path):
    columns = {"a": [0, 0, 1, 1], "b": ["no", "yes", "no", "yes"], "y": [False, True, True, False]}
    assert prepared(columns).bits.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    pandas = pytest.importorskip("pandas")
    assert prepared(pandas.DataFrame(columns)).bits.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({**columns, "b": ["no", None, "no", "yes"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    found = prepared(tmp_path / "t.parquet", missing="drop")
    assert found.notes.dropped == 1
    assert found.bits.tolist() == [[0, 0], [1, 0], [1, 1]]
    written(tmp_path, b"PAR1 and no more", "t.parquet")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        prepared(tmp_path / "t.parquet")


def test_numbers_thresholds_and_bits_of_numbers():
    columns = {
        "age": [10, 20, 30, 40.5],
        "address": ["0x40", "0x80", "0xc0", "0x0"],
        "y": [100, 300, 310, 90],
    }
    found = prepared(columns, bits=["address:7-6"], threshold={"y": 200.0})
    assert [coding.name for coding in found.codings] == ["age", "address.6", "address.7"]
    assert found.bits.T.tolist() == [[0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 1, 0]]
    assert found.codings[0].phrase == "age > 25"
    assert found.targets[0][0].phrase == "y > 200"
    everything = prepared(columns, bits=["address"], threshold={"y": 200.0})
    assert everything.notes.constant == [f"address.{bit}" for bit in range(6)]
    exact = {"id": [2**63, 2**63 + 1, 1, 0], "y": [0, 1, 1, 0]}
    found = prepared(exact, bits=["id"])
    assert [c.name for c in found.codings] == ["id.0", "id.63"]


def test_constant_duplicate_and_complementary_columns_are_told():
    a = np.array([0, 1, 1, 0, 1])
    found = prepared(
        {"a": a, "same": a, "not": 1 - a, "one": [7] * 5, "b": [1, 1, 0, 0, 0], "y": a}
    )
    assert [coding.name for coding in found.codings] == ["a", "b"]
    assert found.notes.twins == {"a": [("same", False), ("not", True)]}
    text = "\n".join(found.notes.lines())
    assert "1 duplicate column: same = a" in text
    assert "1 complementary column: not = not a" in text
    assert "1 column with one value only, left out: one" in text


def test_missing_values_are_refused_or_dropped_and_counted(tmp_path):
    path = written(tmp_path, "a,b,y\n0,0,0\n,1,1\n1,NA,1\n1,1,0\n0,1,null\n0,1,1\n")
    with pytest.raises(ValueError, match=r"3 rows of 6 with missing values \(a 1, b 1, y 1\)"):
        prepared(path)
    found = prepared(path, missing="drop")
    assert found.notes.dropped == 3
    assert found.bits.tolist() == [[0, 0], [1, 1], [0, 1]]


BAD = {
    "empty": (b"", "is empty"),
    "header only": (b"a,y\n", "no rows"),
    "ragged": (b"a,b,y\n0,0,0\n1,1\n", "line 3: 2 cells, the line of names has 3"),
    "missing": (b"a,y\n0,0\n,1\n", "1 row of 2 with missing values"),
    "three levels": (b"a,y\n0,red\n1,tan\n0,sky\n", r"3 levels \(red, sky, tan\)"),
    "numbers as target": (b"a,y\n0,1.5\n1,2.5\n0,3.5\n", "--threshold y=V"),
    "latin-1": ("a,y\n0,1\n0,süd\n".encode("latin-1"), "line 3: byte 0xfc is not UTF-8"),
    "duplicate names": (b"a,a,y\n0,0,0\n", "two columns named 'a'"),
    "target absent": (b"a,b\n0,0\n1,1\n", "no column 'y'; the table has a, b"),
    "only a target": (b"y\n0\n1\n", "no columns beside the target"),
    "constant target": (b"a,y\n0,1\n1,1\n", "one value only"),
    "constant columns": (b"a,y\n1,0\n1,1\n", "no column but the target takes two values"),
    "open quote": (b'a,y\n"0,1\n1,1\n', "line 3: unexpected end"),
    "ragged after lines in quotes": (b'"a\nb",y\n"0\n1",1\n1\n', "line 5: 1 cell, the line"),
    "NUL": (b"a,y\n0,1\n\0,1\n", "NUL"),
    "cut gzip": (gzip.compress(ROWS.encode() * 50)[:40], "cannot be unpacked"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_bad_files_are_one_clear_line(tmp_path, content, message):
    with pytest.raises(ValueError, match=message) as caught:
        prepared(written(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        prepared(tmp_path)
    with pytest.raises(ValueError, match="no such file"):
        prepared(tmp_path / "absent.csv")
    with pytest.raises(ValueError, match="got int"):
        prepared(3)


def test_a_gzip_bomb_is_refused(tmp_path, monkeypatch):
    from xorfind import untrusted

    monkeypatch.setattr(untrusted, "_HARMLESS", 1 << 20)
    path = written(tmp_path, gzip.compress(b"a,y\n" + b"0,1\n" * (1 << 20)))
    with pytest.raises(ValueError, match="unpacks to 200 times"):
        prepared(path)


def test_a_hundred_thousand_columns(tmp_path):
    n = 100_000
    bits = np.random.default_rng(0).integers(0, 2, (60, n))
    bits[:, -1] = bits[:, 123]
    lines = [",".join(f"c{j}" for j in range(n - 1)) + ",y"]
    lines += [",".join(map(str, row)) for row in bits.tolist()]
    found = prepared(written(tmp_path, "\n".join(lines)))
    assert found.bits.shape == (60, n - 1)
    with pytest.raises(ValueError, match="and 99,992 more") as caught:
        prepared(tmp_path / "t.csv", "z")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": ["y"]}, "is a target"),
        ({"bits": ["z"]}, "no column 'z'"),
        ({"bits": ["a:x"]}, "COLUMN:HI-LO"),
        ({"bits": ["a:3-7"]}, "the higher first"),
        ({"bits": ["a:99-7"]}, "within 63-0"),
        ({"threshold": "z=3"}, "no column 'z'"),
        ({"threshold": "b=x"}, "takes V once"),
        ({"missing": "guess"}, "refuse or drop"),
        ({"bits": ["c"]}, "'-1', expected whole numbers from 0"),
        ({"bits": ["d"]}, "'1.5', expected whole"),
    ],
)
def test_bad_choices_are_one_clear_line(options, message):
    columns = {"a": [0, 1, 1], "b": [1, 0, 1], "y": [0, 1, 0]}
    columns |= {"c": ["1", "-1", "2"], "d": [1, 1.5, 2]}
    with pytest.raises(ValueError, match=message):
        prepared(columns, **options)


PIECES = b'0 1 , ; yes NA 1.5 -1 =1 \n \r\n \r \t " \xef\xbb\xbf \xff \0 \x1f\x8b'.split(b" ")
TEXTS = st.one_of(
    st.binary(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=60).map(lambda parts: b"a,y\n" + b"".join(parts)),
    st.text("012x,\n", max_size=60).map(lambda text: b"a,b,y\n" + text.encode()),
    st.binary(max_size=80).map(lambda tail: b"PK\x03\x04" + tail),
    st.binary(max_size=40).map(lambda tail: gzip.compress(ROWS.encode())[:30] + tail),
)


@example(content=b'\t""\x01')  # the reader's own message holds a tab
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=TEXTS)
def test_any_bytes_are_read_or_refused(tmp_path, content):
    path = written(tmp_path, content)
    for options in ({}, {"missing": "drop", "threshold": "0"}):
        found, refusal = None, "read"
        try:
            found = prepared(path, **options)
        except ValueError as error:
            refusal = str(error)
        assert refusal.isprintable()
        if found is not None:
            assert found.bits.shape == (found.notes.rows, len(found.codings))
            assert set(np.unique(found.bits)) <= {0, 1}


def test_arrays_and_frames_with_labels_beside_them():
    pandas = pytest.importorskip("pandas")
    generator = np.random.default_rng(0)
    X = generator.integers(0, 2, (200, 9))
    y = X[:, 1] ^ X[:, 4]
    for table in (X, X.tolist(), X.astype(bool), csr_matrix(X), csr_array(X)):
        assert discover(table, y).columns == ("x1", "x4")
    frame = pandas.DataFrame(X, columns=list("abcdefghi"))
    assert discover(frame, pandas.Series(y, name="sick")).statement.startswith("sick is 1 exactly")
    assert discover(frame.assign(y=y), y).target.name == "y_"
    assert discover({"a": X[:, 1], "b": X[:, 4]}, y.tolist()).columns == ("a", "b")
    kinds = pandas.DataFrame(
        {
            "text": pandas.Categorical(np.where(X[:, 1], "yes", "no")),
            "truth": X[:, 4].astype(bool),
            "nullable": pandas.array(X[:, 5], dtype="boolean"),
        }
    )
    assert discover(kinds, y).columns == ("text", "truth")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (ROWS.encode("utf-16-le"), "UTF-16 without its mark"),
        (b"PK\x03\x04" + b"\0" * 26 + b"[Content_Types].xml" + b"\0" * 50, "save the sheet as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500, "save the sheet as CSV"),
        (b"0,1,1\n1,1,0\n", "put a line of column names"),
    ],
)
def test_what_is_not_a_table_of_text_is_refused_in_its_own_words(tmp_path, data, words):
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=words):
        read_table(path)
    with pytest.raises(ValueError, match=words):
        read_fields(path)


def workbook(rows, sheet=""):
    """An archive like Excel's, and a stand-in for openpyxl that reads `rows` from it."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        archive.writestr("[Content_Types].xml", "")
    made = SimpleNamespace(worksheets=[SimpleNamespace(iter_rows=lambda values_only: iter(rows))])
    return data.getvalue(), SimpleNamespace(load_workbook=lambda data, **options: made)


@pytest.mark.parametrize(
    "rows", [[("a", None, "y"), (None,) * 3, (1, "x", True), (0, None, False)], [("a", "y")], []]
)
def test_the_first_sheet_of_a_workbook_is_read(tmp_path, monkeypatch, rows):
    path = tmp_path / "rows.xlsx"
    data, library = workbook(rows)
    path.write_bytes(data)
    monkeypatch.setitem(sys.modules, "openpyxl", library)
    table = read_table(path)
    assert table.names == [name or "unnamed_1" for name in (rows or [()])[0]]
    if len(rows) > 1:
        assert table.column("a").numbers.tolist() == [1, 0]
        assert table.column("unnamed_1").texts() == ["x", ""]
        assert read_fields(path).lines.tolist() == [2, 3]
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ValueError, match="pip install openpyxl, or save the sheet as CSV"):
        read_table(path)
