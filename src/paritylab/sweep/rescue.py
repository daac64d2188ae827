"""Whole rows out of a damaged store, read from its pages without trusting anything around them.

A row is accepted only if its checksum is right, so nothing wrong can come through, whatever else
is broken: the tree of pages, the index, the header, the end of the file.
"""

import contextlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from paritylab.sweep import schema
from paritylab.sweep.schema import Column, Columns
from paritylab.sweep.store import Store, StoreError

_LEAF = 0x0D
_USUAL_SIZE = 4096
_WAL_HEADER, _FRAME_HEADER = 32, 24
_WIDTHS = {len(columns) + 1: table for table, columns in schema.COLUMNS.items()}
_LONGEST_ROW = 1 << 30


class Rescued(NamedTuple):
    """What came through: whole blocks and verdicts, and rows seen but damaged."""

    blocks: int
    verdicts: int
    damaged: int


def rescue(path: str | Path, new: str | Path) -> Rescued:
    """Copy every whole row of a store into a new one; the old file is only read."""
    path, new = Path(path), Path(new)
    if not path.is_file():
        raise StoreError(f"no store {path}")
    if new.exists() or new.is_symlink():
        raise StoreError(f"{new} exists; --to needs the name of a new file")
    whole: dict[tuple[str, Column], Columns] = {}
    broken: set[tuple[str, Column]] = set()
    for table, row in _candidates(path):
        *values, mark = row
        if mark != schema.checksum(values):
            broken.add((table, row[0]))
            continue
        found, saved = whole.get((table, row[0])), schema.COLUMNS[table].index("saved")
        if found is None or str(found[saved]) <= str(row[saved]):
            whole[table, row[0]] = row
    if not whole:
        raise StoreError(f"{path} holds no row that is whole and has a checksum; nothing written")
    _write(whole, new)
    blocks = sum(table == "blocks" for table, _ in whole)
    return Rescued(blocks, len(whole) - blocks, len(broken - set(whole)))


def _write(rows: dict[tuple[str, Column], Columns], new: Path) -> None:
    """A new store beside its place, renamed once it is complete."""
    beside = new.with_name(f".{new.name}.{os.getpid()}")
    try:
        with Store(beside, wal=False) as store:
            store.enter((table, row) for (table, _), row in rows.items())
        os.link(beside, new)  # unlike a rename, never over a file that came meanwhile
    except OSError as error:
        raise StoreError(f"cannot write {new}: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def _candidates(path: Path) -> Iterator[tuple[str, Columns]]:
    """Everything that looks like a row, in the file as it is and with its log on top."""
    try:
        content = path.read_bytes()
        log = Path(f"{path}-wal")
        frames = log.read_bytes() if log.is_file() else b""
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    for size in _page_sizes(content, frames):
        pages = {i + 1: content[i * size : (i + 1) * size] for i in range(-(-len(content) // size))}
        logged = list(_logged(frames, size))
        for version in (pages, pages | dict(logged)) if logged else (pages,):
            # Every version of a page in the log counts: the last one may be the damaged one.
            for number, page in [*version.items(), *logged]:
                yield from _rows(page, 100 if number == 1 else 0, version)


def _page_sizes(content: bytes, frames: bytes) -> list[int]:
    """The size of pages as the file and its log have it, and the usual one in case both lie."""
    sizes = {_USUAL_SIZE}
    if len(content) >= 18:
        sizes.add(int.from_bytes(content[16:18], "big"))
    if len(frames) >= 12:
        sizes.add(int.from_bytes(frames[8:12], "big"))
    return sorted(size for size in sizes if 512 <= size <= 32768 and size & (size - 1) == 0)


def _logged(frames: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """The pages in the write-ahead log with their numbers, oldest first."""
    for start in range(_WAL_HEADER, len(frames) - _FRAME_HEADER, _FRAME_HEADER + size):
        number = int.from_bytes(frames[start : start + 4], "big")
        yield number, frames[start + _FRAME_HEADER : start + _FRAME_HEADER + size]


def _rows(page: bytes, start: int, pages: dict[int, bytes]) -> Iterator[tuple[str, Columns]]:
    """The rows of a leaf page; what does not parse is passed over."""
    if len(page) < start + 8 or page[start] != _LEAF:
        return
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    for place in range(start + 8, min(start + 8 + 2 * count, len(page) - 1), 2):
        cell = int.from_bytes(page[place : place + 2], "big")
        try:
            row = _record(_payload(page, cell, pages))
        except (IndexError, ValueError, struct.error, UnicodeDecodeError):
            continue
        # sqlite's own table of tables is as wide as the verdicts'.
        if len(row) in _WIDTHS and row[0] not in ("table", "index"):
            yield _WIDTHS[len(row)], row


def _payload(page: bytes, cell: int, pages: dict[int, bytes]) -> bytes:
    """The bytes of a row, gathered over the pages it spills to."""
    length, cell = _varint(page, cell)
    _, cell = _varint(page, cell)
    if length > _LONGEST_ROW:
        raise ValueError("no row is so long")
    usable = max(map(len, (page, pages[min(pages)])))
    most, least = usable - 35, (usable - 12) * 32 // 255 - 23
    if length <= most:
        return page[cell : cell + length]
    here = least + (length - least) % (usable - 4)
    here = here if here <= most else least
    parts, left = [page[cell : cell + here]], length - here
    following = int.from_bytes(page[cell + here : cell + here + 4], "big")
    while left > 0:
        if following not in pages or not pages[following]:
            raise ValueError("a page is missing")
        spilt = pages[following]
        parts.append(spilt[4 : 4 + left])
        left -= usable - 4
        following = int.from_bytes(spilt[:4], "big")
    return b"".join(parts)


def _record(payload: bytes) -> Columns:
    """The values of a row; text and numbers as sqlite packs them."""
    header, place = _varint(payload, 0)
    kinds = []
    while place < header:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    values: list[Column] = []
    for kind in kinds:
        size = _size(kind)
        raw, place = payload[place : place + size], place + size
        if len(raw) < size:
            raise ValueError("cut short")
        values.append(_value(kind, raw))
    return tuple(values)


def _size(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]


def _value(kind: int, raw: bytes) -> Column:
    if kind >= 12:
        return raw.decode() if kind % 2 else raw
    if kind == 7:
        return float(struct.unpack(">d", raw)[0])
    # Only seconds is a number, and sqlite packs a whole one as an integer.
    return float(int.from_bytes(raw, "big", signed=True) if raw else kind == 9)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = data[place]
        value, place = value << 7 | byte & 0x7F, place + 1
        if byte < 0x80:
            return value, place
    return value << 8 | data[place], place + 1
