"""Tables from files, standard input and memory.

The kind of a file is seen from its first bytes, not from its name. CSV and TSV need nothing beyond
numpy, Parquet needs pyarrow, a workbook of Excel openpyxl.
"""

import gzip
import io
import sys
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from xorfind.table.delimited import text_table
from xorfind.table.table import Column, Table, distinct_names, table_of, texts_column
from xorfind.untrusted import check_archive, read_bytes, refuse_bomb
from xorfind.words import shown

#: Bytes of a file.
LARGEST = 1 << 34
#: The name of a file inside every workbook of Excel.
WORKBOOK = b"[Content_Types].xml"


def read_table(source: Any) -> Table:
    """A table from a path, "-" for standard input, a mapping of columns, or a data frame."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        return table_of_bytes(*file_bytes(source))
    if hasattr(source, "column_names"):
        return _of_arrow(source, "the table")
    columns = _columns_of(source)
    if columns is None:
        raise ValueError(
            "a table is a path, '-', a mapping from names to columns or a data frame, "
            f"got {type(source).__name__}"
        )
    return table_of(*columns)


def with_labels(source: Any, labels: Any) -> tuple[Table, str]:
    """A table of a frame, a mapping or an array (N, n), dense or sparse, and the labels (N,), with
    the name the labels got: their own, or y.

    Columns of an array are x0, x1, …
    """
    columns = _columns_of(source)
    if columns is None:
        array = source.toarray() if hasattr(source, "toarray") else np.asarray(source)
        if array.ndim != 2:
            raise ValueError(
                "labels need a data frame, a mapping from names to columns or an array of shape "
                f"(N, n), got {type(source).__name__}"
            )
        columns = [f"x{at}" for at in range(array.shape[1])], list(array.T)
    (names, parts), values = columns, np.asarray(labels)
    rows = {len(each) for each in parts}
    if values.ndim != 1 or rows - {len(values)}:
        raise ValueError(
            f"labels need one value per row, got shape {values.shape} for "
            f"{sorted(rows)[:1] or 'no'} rows; or name a target column"
        )
    name = str(getattr(labels, "name", None) or "y")
    while name in names:
        name += "_"
    return table_of([*names, name], [*parts, values]), name


def _columns_of(source: Any) -> tuple[list[str], list[Any]] | None:
    """Names and columns of a mapping or a data frame; None for anything else."""
    if isinstance(source, Mapping):
        return list(map(str, source)), list(source.values())
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        parts = [source.iloc[:, at].to_numpy() for at in range(len(source.columns))]
        return list(map(str, source.columns)), parts
    return None


# Files.


def file_bytes(source: str | Path) -> tuple[bytes, str]:
    """The bytes of an ordinary file or of standard input ("-"), unpacked if they are gzipped, and
    its name in errors. A pipe is read as standard input only."""
    if str(source) == "-":
        return _unpacked(sys.stdin.buffer.read(), "standard input"), "standard input"
    name = str(source)
    what = shown(name if len(name) <= 60 else f"…{name[-58:]}")
    try:
        data = read_bytes(source, LARGEST)
    except ValueError as error:
        raise ValueError(f"cannot read {what}: {error} (- reads standard input)") from None
    return _unpacked(data, what), what


def kind_of(data: bytes) -> str:
    """What the first bytes say: "parquet", "workbook" or "text"."""
    if data[:4] == b"PAR1":
        return "parquet"
    return "workbook" if data[:2] == b"PK" and WORKBOOK in data else "text"


def table_of_bytes(data: bytes, what: str) -> Table:
    """The table in the bytes of a file. what: its name."""
    if (kind := kind_of(data)) != "text":
        return {"parquet": _parquet, "workbook": _workbook}[kind](data, what)
    return text_table(data, what, tab=bool({".tsv", ".tab"} & set(Path(what).suffixes)))


def _unpacked(data: bytes, what: str) -> bytes:
    """The data, unpacked if they are gzipped; what grows beyond belief is refused."""
    if data[:2] != b"\x1f\x8b":
        return data
    made, stream = io.BytesIO(), gzip.GzipFile(fileobj=io.BytesIO(data))
    try:
        while piece := stream.read(1 << 22):
            made.write(piece)
            refuse_bomb(made.tell(), len(data), what)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{what} cannot be unpacked: {error}") from None
    return made.getvalue()


def _workbook(data: bytes, what: str) -> Table:
    """The first sheet of a workbook of Excel (.xlsx): a row of names, then rows; formulas by the
    values that were saved with them."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ValueError(
            f"{what} is a workbook of Excel, which needs openpyxl; pip install openpyxl, or save "
            "the sheet as CSV"
        ) from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive)
        sheet = load_workbook(io.BytesIO(data), read_only=True, data_only=True).worksheets[0]
        rows = [row for row in sheet.iter_rows(values_only=True) if set(row) - {None}]
    except Exception as error:
        # A damaged one may raise nearly anything.
        reason = shown(str(error), 200)
        raise ValueError(f"{what} cannot be read: {reason}; save the sheet as CSV") from None
    names, *body = rows or [()]
    columns = zip(*body, strict=True) if body else [()] * len(names)
    heads = [f"unnamed_{at}" if name is None else str(name) for at, name in enumerate(names)]
    return table_of(heads, columns, what)


def _parquet(data: bytes, what: str) -> Table:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError(f"{what}: Parquet needs pyarrow; pip install pyarrow") from None
    try:
        return _of_arrow(parquet.read_table(pyarrow.BufferReader(data)), what)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{what} cannot be read as Parquet: {error}") from None


def _of_arrow(table: Any, what: str) -> Table:
    names = distinct_names([str(name) for name in table.column_names], what)
    return Table(
        dict(zip(names, (_arrow_column(table[at]) for at in range(len(names))), strict=True)), what
    )


def _arrow_column(column: Any) -> Column:
    from pyarrow import types

    kind = column.type
    whole = types.is_boolean(kind) or types.is_integer(kind)
    if types.is_floating(kind) or (whole and not column.null_count):
        return Column(numbers=np.asarray(column.to_numpy()))
    return texts_column(["" if each is None else str(each) for each in column.to_pylist()])
