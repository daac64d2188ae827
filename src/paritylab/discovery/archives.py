"""NPZ files, of which nothing is unpickled, and Parquet files by pyarrow."""

import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from paritylab.discovery.blocks import Block, Cells, distinct
from paritylab.discovery.words import shown
from paritylab.untrusted import check_archive

_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),
    *(ValueError, EOFError, KeyError, SyntaxError, RuntimeError, NotImplementedError, OSError),
    *(TypeError, OverflowError, MemoryError, RecursionError),
)


class NpzColumns:
    """Arrays of one length: each 1-D array a column, each column of a 2-D array X named X.0, …"""

    def __init__(self, arrays: dict[str, np.ndarray], what: str) -> None:
        names: list[str] = []
        self._cells: list[Cells] = []
        for name, array in _with_names(arrays, what).items():
            if array.ndim == 1:
                names.append(name)
                self._cells.append(_cells(array))
            else:
                names += [f"{name}.{at}" if name else "" for at in range(array.shape[1])]
                self._cells += [_cells(column) for column in array.T]
        given = arrays.get("names")
        if given is not None:
            unnamed = iter(str(each) for each in given)
            names = [name or next(unnamed) for name in names]
        self.names = distinct(names, what)

    def blocks(self) -> Iterator[Block]:
        """All rows as one block."""
        if self._cells and len(self._cells[0]):
            yield Block(len(self._cells[0]), columns=self._cells)


def _with_names(arrays: dict[str, np.ndarray], what: str) -> dict[str, np.ndarray]:
    """The arrays that hold columns; the matrix that `names` names gets the empty name."""
    tables = {name: array for name, array in arrays.items() if name != "names"}
    for name, array in tables.items():
        if array.ndim not in (1, 2):
            raise ValueError(f"{what}: {shown(name)!r} has {array.ndim} axes, expected 1 or 2")
    if len({len(array) for array in tables.values()}) > 1:
        sizes = ", ".join(f"{shown(n)} {len(a):,}" for n, a in list(tables.items())[:5])
        raise ValueError(f"{what} holds arrays of different lengths: {sizes}")
    if "names" not in arrays:
        return tables
    fitting = [n for n, a in tables.items() if a.ndim == 2 and a.shape[1] == arrays["names"].size]
    if arrays["names"].ndim != 1 or not fitting:
        raise ValueError(f"{what}: 'names' must hold one name per column of a matrix in the file")
    return {"" if name == fitting[0] else name: array for name, array in tables.items()}


def _cells(array: np.ndarray) -> Cells:
    if array.dtype.kind == "S":
        return [each.decode("utf-8", "replace") for each in array.tolist()]
    return array if array.dtype.kind in "biuf" else [str(each) for each in array.tolist()]


def npz_table(stream: BinaryIO, what: str) -> NpzColumns:
    """The arrays of an NPZ file; objects are refused, and so is an archive that grows too much."""
    arrays: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(stream) as archive:
            members = [each for each in archive.infolist() if each.filename.endswith(".npy")]
            check_archive(archive)
            for member in members:
                with archive.open(member) as inner:
                    name = member.filename.removesuffix(".npy")
                    arrays[name] = _array(inner, member.file_size, name)
    except _UNREADABLE as error:
        raise ValueError(f"{what} cannot be read as NPZ: {error}") from None
    if not arrays:
        raise ValueError(f"{what} is an archive without arrays; expected an NPZ file")
    return NpzColumns(arrays, what)


def _array(inner: Any, size: int, name: str) -> np.ndarray:
    version = np.lib.format.read_magic(inner)
    read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
        version, np.lib.format.read_array_header_2_0
    )
    shape, fortran, dtype = read(inner)
    if dtype.kind not in "biufUS":
        kind = "Python objects" if dtype.hasobject else str(dtype)
        raise ValueError(f"{shown(name)!r} holds {kind}; expected numbers, booleans or text")
    count = int(np.prod(shape, dtype=object))
    if count < 0 or count * dtype.itemsize > size:
        raise ValueError(f"{shown(name)!r} promises more than it holds")
    array = np.frombuffer(inner.read(count * dtype.itemsize), dtype, count)
    return array.reshape(shape, order="F" if fortran else "C")


class ParquetRows:
    """A Parquet file, read a batch of rows at a time."""

    def __init__(self, file: Any, what: str) -> None:
        self._file, self._what = file, what
        self.names = distinct(list(file.schema_arrow.names), what)

    def blocks(self) -> Iterator[Block]:
        """Batches of rows."""
        import pyarrow

        try:
            for batch in self._file.iter_batches(batch_size=1 << 16):
                yield Block(batch.num_rows, columns=[_arrow_cells(each) for each in batch.columns])
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{self._what} cannot be read: {error}") from None


def _arrow_cells(column: Any) -> Cells:
    import pyarrow

    kind = column.type
    if pyarrow.types.is_boolean(kind) or pyarrow.types.is_integer(kind):
        if column.null_count == 0:
            return np.asarray(column.to_numpy(zero_copy_only=False))
    elif pyarrow.types.is_floating(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
    return ["" if each is None else str(each) for each in column.to_pylist()]


def parquet_table(path: Path, what: str) -> ParquetRows:
    """A Parquet file; needs the extra `data`."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'paritylab[data]'") from None
    try:
        return ParquetRows(parquet.ParquetFile(path), what)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{what} cannot be read as Parquet: {error}") from None
