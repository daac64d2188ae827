"""Files that come from elsewhere, read under limits: size, depth, digits.

Whatever is wrong with such a file is one ValueError.
"""

import json
import os
import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any

#: Bytes of a text file.
LARGEST_TEXT = 1 << 26
#: Bytes of a TOML file; on longer hostile ones its reader takes more than a few seconds.
LARGEST_TOML = 1 << 15
#: Bytes of an archive of arrays, packed and unpacked; beyond _HARMLESS it may grow by _GROWTH.
_LARGEST_ARCHIVE, _HARMLESS, _GROWTH = 1 << 34, 1 << 28, 200
#: Lists in lists.
DEEPEST = 64
#: Whole numbers still fit a float.
_LARGEST_JSON = 10**300


def read_bytes(path: str | Path, largest: int = LARGEST_TEXT, begins: bytes = b"") -> bytes:
    """The bytes of a file of at most `largest` bytes that starts in this way."""
    try:
        with Path(path).open("rb") as stream:
            if (size := os.fstat(stream.fileno()).st_size) > largest:
                raise ValueError(f"it has {size:,} bytes, more than {largest:,}")
            if stream.read(len(begins)) != begins:
                raise ValueError("its first bytes are those of another kind of file")
            return begins + stream.read()
    except FileNotFoundError:
        raise ValueError("no such file") from None
    except IsADirectoryError:
        raise ValueError("it is a folder") from None
    except OSError as error:
        raise ValueError(error.strerror or "not a file name") from None


def read_json(path: str | Path, *, largest: int = LARGEST_TEXT) -> Any:
    """The value in a JSON file; NaN and Infinity are refused."""
    return parse_json(as_text(read_bytes(path, largest)))


def parse_json(text: str) -> Any:
    """The value of a JSON text, under the same limits."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError(f"it is nested deeper than {DEEPEST}") from None
    check_plain(value, _LARGEST_JSON)
    return value


def read_toml(path: str | Path) -> dict[str, Any]:
    """The table in a TOML file."""
    text = as_text(read_bytes(path, LARGEST_TOML))
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def check_plain(value: object, largest: int = _LARGEST_JSON) -> None:
    """Refuse lists and objects nested too deeply, and whole numbers that are too large."""
    waiting = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        if depth > DEEPEST:
            raise ValueError(f"it is nested deeper than {DEEPEST}")
        if isinstance(each, dict):
            waiting += [(part, depth + 1) for part in each.values()]
        elif isinstance(each, list | tuple):
            waiting += [(part, depth + 1) for part in each]
        elif isinstance(each, int) and not -largest <= each <= largest:
            raise ValueError(f"a whole number has {each.bit_length()} bits, too many")


def check_archive(archive: zipfile.ZipFile) -> None:
    """Refuse an archive that unpacks to much more than it is, or to more than a machine holds."""
    members = archive.infolist()
    refuse_bomb(sum(m.file_size for m in members), sum(m.compress_size for m in members), "it")


def refuse_bomb(unpacked: int, packed: int, what: str) -> None:
    """A ValueError where little data unpacks to very much, or all of it is too much."""
    if unpacked > _HARMLESS and unpacked > _GROWTH * max(packed, 1):
        raise ValueError(
            f"{what} unpacks to {_GROWTH} times its size or more; unpack it first if that is meant"
        )
    if unpacked > _LARGEST_ARCHIVE:
        raise ValueError(
            f"{what} unpacks to {unpacked / 2**30:.0f} GiB, more than {_LARGEST_ARCHIVE >> 30} GiB"
        )


def printable(text: str) -> str:
    """Text with control and invisible characters escaped: a terminal obeys some of them.

    >>> printable("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode()
        for c in text
    )


def spreadsheet_safe(cell: str) -> str:
    """A cell that no spreadsheet runs as a formula; numbers stay as they are.

    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-1.5")
    ("'=1+1", '-1.5')
    """
    if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not re.fullmatch(
        r"[+-](\d+\.?\d*|\.\d+|inf)?(e[+-]?\d+)?", cell, re.IGNORECASE
    ):
        return "'" + cell
    return cell


def as_text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text: {error.reason} at byte {error.start}") from None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number JSON knows")
