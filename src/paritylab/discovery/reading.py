"""Tables from files, standard input and memory, a block of rows at a time.

CSV and TSV (also gzipped) and NPZ need nothing beyond numpy; Parquet needs pyarrow. The kind of a
file is told by its first bytes, not by its name.
"""

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from paritylab.discovery.archives import npz_table, parquet_table
from paritylab.discovery.blocks import Block, Cells, DelimitedText, distinct
from paritylab.discovery.words import shown
from paritylab.untrusted import refuse_bomb


class TableReader(Protocol):
    """A table that is read once, front to back."""

    names: list[str]

    def blocks(self) -> Iterator[Block]:
        """Its rows."""
        ...


class Columns:
    """A table in memory. columns: cells by name, all of one length."""

    def __init__(self, columns: Mapping[str, Any], what: str = "the table") -> None:
        self.names = distinct([str(name) for name in columns], what)
        self._cells: list[Cells] = [_as_cells(values) for values in columns.values()]
        lengths = {len(cells) for cells in self._cells}
        if len(lengths) > 1:
            raise ValueError(f"{what} has columns of different lengths: {sorted(lengths)[:5]}")
        self._rows = lengths.pop() if lengths else 0

    def blocks(self) -> Iterator[Block]:
        """All rows as one block."""
        if self._rows:
            yield Block(self._rows, columns=self._cells)


def _as_cells(values: Any) -> Cells:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"a column needs one value per row, got an array of shape {array.shape}")
    if array.dtype.kind in "biuf":
        return array
    return ["" if _is_missing(each) else str(each) for each in array.tolist()]


def _is_missing(value: object) -> bool:
    return value is None or str(value) in ("nan", "NaT", "<NA>")


def with_labels(table: Any, labels: Any) -> tuple[dict[str, Any], str]:
    """Columns of a frame, a mapping or an array (N, n), dense or sparse, with the labels (N,)
    beside them, and the name these got: their own, or y.

    Columns of an array are x0, x1, …
    """
    if hasattr(table, "columns") and hasattr(table, "iloc"):
        columns = {str(name): table.iloc[:, at] for at, name in enumerate(table.columns)}
    elif isinstance(table, Mapping):
        columns = {str(name): values for name, values in table.items()}
    else:
        columns = _array_columns(table)
    values = np.asarray(labels)
    rows = {len(each) for each in columns.values()}
    if values.ndim != 1 or rows - {len(values)}:
        raise ValueError(
            f"labels need one value per row, got shape {values.shape} for "
            f"{sorted(rows)[:1] or 'no'} rows; or name a target column"
        )
    name = str(getattr(labels, "name", None) or "y")
    while name in columns:
        name += "_"
    return {**columns, name: values}, name


def _array_columns(table: Any) -> dict[str, Any]:
    if hasattr(table, "tocsc"):  # scipy's sparse matrices, a column at a time
        table = table.tocsc()
        return {f"x{at}": table[:, [at]].toarray().ravel() for at in range(table.shape[1])}
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(
            "labels need a data frame, a mapping from names to columns or an array of shape (N, n) "
            f"beside them, got {type(table).__name__}"
        )
    return {f"x{at}": column for at, column in enumerate(array.T)}


@contextmanager
def open_table(source: Any) -> Iterator[TableReader]:
    """A table from a path, "-" for standard input, a mapping of columns, or a data frame."""
    if isinstance(source, str | Path):
        if str(source) == "-":
            yield _text(sys.stdin.buffer, "standard input")
            return
        with _file(Path(source)) as table:
            yield table
    elif isinstance(source, Mapping):
        yield Columns(source)
    elif hasattr(source, "columns") and hasattr(source, "iloc"):
        names = [str(name) for name in source.columns]
        distinct(names, "the table")
        yield Columns({name: source.iloc[:, at].to_numpy() for at, name in enumerate(names)})
    elif hasattr(source, "column_names"):  # pyarrow
        yield Columns({name: source[name].to_numpy() for name in source.column_names})
    else:
        raise ValueError(
            "a table is a path, '-', a mapping from names to columns or a data frame, "
            f"got {type(source).__name__}"
        )


@contextmanager
def _file(path: Path) -> Iterator[TableReader]:
    name = str(path)
    what = shown(name if len(name) <= 60 else f"…{name[-58:]}")
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise ValueError(f"{what} is a folder; expected a CSV, TSV, NPZ or Parquet file")
        if not stat.S_ISREG(mode):
            raise ValueError(f"{what} is no ordinary file; send rows to standard input and say -")
        with path.open("rb") as stream:
            before = os.fstat(stream.fileno())
            start = stream.read(4)
            stream.seek(0)
            if start == b"PAR1":
                yield parquet_table(path, what)
            elif start[:2] == b"PK":
                yield npz_table(stream, what)
            else:
                tab = {".tsv", ".tab"} & set(path.suffixes)
                yield _text(stream, what, tab=bool(tab))
            _refuse_change(before, path, what)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ValueError(f"cannot read {what}: {error.strerror or error}") from None


def _refuse_change(before: os.stat_result, path: Path, what: str) -> None:
    try:
        after = path.stat()
    except OSError:
        after = None
    if after is None or any(
        getattr(before, name) != getattr(after, name)
        for name in ("st_size", "st_mtime_ns", "st_ino")
    ):
        raise ValueError(f"{what} changed while it was read; try again when it is finished")


def _text(stream: BinaryIO, what: str, tab: bool = False) -> DelimitedText:
    """Delimited text, unpacked if it is gzipped."""
    start = stream.read(2)
    counted = _Counted(start, stream)
    unpacked = _Unpacked(counted, what) if start == b"\x1f\x8b" else counted
    return DelimitedText(unpacked, what, tab)


class _Counted:
    """A stream with its first bytes put back, that knows how many were taken."""

    def __init__(self, start: bytes, stream: BinaryIO) -> None:
        self._start, self._stream, self.taken = start, stream, 0

    def read(self, size: int = -1) -> bytes:
        data, self._start = self._start[:size] if size >= 0 else self._start, b""
        if len(data) != size:
            data += self._stream.read(size - len(data) if size >= 0 else -1)
        self.taken += len(data)
        return data


class _Unpacked:
    """A gzipped stream; one that grows beyond belief is refused."""

    def __init__(self, packed: _Counted, what: str) -> None:
        self._packed, self._what, self._given = packed, what, 0
        self._stream = gzip.GzipFile(fileobj=packed, mode="rb")  # type: ignore[call-overload]

    def read(self, size: int = -1) -> bytes:
        try:
            data: bytes = self._stream.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{self._what} cannot be unpacked: {error}") from None
        self._given += len(data)
        refuse_bomb(self._given, self._packed.taken, self._what)
        return data
