"""Cells as bytes: frames in hex, one per line or in a column, and columns of whole numbers.

Bytes of a frame may be separated by spaces, colons or dashes and may have 0x before them.
`{36}8f1a2b3c4` is how rtl_433 writes 36 bits, padded on the right. What follows #, // or ; is a
comment. Whole numbers are decimal, hexadecimal with or without 0x, or binary, exact at any width.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from xorfind.table.table import Column
from xorfind.words import MISSING, counted, shown

#: Bits of the longest frame, and of the widest number.
LONGEST, WIDEST = 1 << 16, 1024
#: Hex digits without 0x from which on a cell of a table is a frame, not an integer.
_LONG_HEX = 17
#: Different cells from which on even counts of digits alone show that they are bytes.
_MANY = 8

_COMMENT = re.compile(r"(#|//|;).*")
_LENGTH = re.compile(r"\{(\d+)\}(.*)", re.S)
_BETWEEN = re.compile(r"0[xX]|[\s:_-]+")
_DECIMAL, _HEX = re.compile(r"\d+"), re.compile(r"[0-9a-fA-F]+")
_PREFIXED = re.compile(r"0[xX][0-9a-fA-F]+|0[bB][01]+")
_SEPARATED = re.compile(r"\{\d+\}.*|[0-9a-fA-F]{2}([\s:-]+[0-9a-fA-F]{2})+")


class Frame(NamedTuple):
    """A frame. line: where it is, from 1. data: its bytes. width: how many bits of them."""

    line: int
    data: bytes
    width: int


def is_frame(line: str) -> bool:
    """Whether a line looks like a frame rather than like the header of a table."""
    text = _COMMENT.sub("", line).strip()
    match = _LENGTH.fullmatch(text)
    bare = _BETWEEN.sub("", match[2] if match else text)
    return bool(_HEX.fullmatch(bare)) and not (bare.isdigit() and len(bare) < 2)


def frame_of(text: str, line: int) -> Frame | None:
    """The frame of one line, None if there is nothing on it.

    >>> frame_of("{12}abc  # door opens", 7)
    Frame(line=7, data=b'\\xab\\xc0', width=12)
    """
    if not text.isalnum():
        text = _COMMENT.sub("", text).strip()
        if not text:
            return None
    match = _LENGTH.fullmatch(text)
    digits = _BETWEEN.sub("", match[2] if match else text)
    width = int(match[1]) if match else 4 * len(digits)
    problem = ""
    if wrong := next((c for c in digits if not _HEX.fullmatch(c)), ""):
        problem = f"{shown(wrong)!r} is no hex digit; expected a frame such as 3a07ff"
    elif not match and len(digits) % 2:
        problem = (
            f"{shown(text)!r} has {len(digits)} hex digits; a frame needs an even number, or its "
            f"length in bits before it: {{{width}}}{shown(digits)}"
        )
    elif not 0 < width <= LONGEST:
        problem = f"{width:,} bits; a frame has 1 to {LONGEST:,}"
    elif not 4 * len(digits) - 8 < width <= 4 * len(digits):
        problem = f"{{{width}}} says {width} bits, but {len(digits)} hex digits follow"
    if problem:
        raise ValueError(f"line {line:,}: {problem}")
    return Frame(line, bytes.fromhex(digits + "0" * (len(digits) % 2)), width)


def frames(lines: Iterable[str]) -> list[Frame]:
    """The frames of a text, comments and empty lines left out."""
    made = (frame_of(line.strip(), at) for at, line in enumerate(lines, 1))
    return [frame for frame in made if frame is not None]


def _payloads(column: Column, is_hex: bool) -> bool:
    """Whether the hex digits of a column are whole bytes of several lengths, as in a CAN log.

    Numbers that are not filled up with zeros have odd counts of digits about as often as even ones.
    """
    texts = [level.strip() for level in column.levels]
    lengths = {len(text) for text in texts}
    if len(lengths) < 2 or any(length % 2 for length in lengths):
        return False
    digits = all(map(_HEX.fullmatch, texts)) and (is_hex or not all(t.isdigit() for t in texts))
    return digits and (len(texts) >= _MANY or any(text.startswith("0") for text in texts))


def column_frames(column: Column, name: str, is_hex: bool = False) -> list[Frame] | None:
    """The frames in the cells of a column; None if they are whole numbers.

    is_hex: digits are hexadecimal although they might be decimal.
    """
    if column.numbers is not None or not len(column):
        return None
    cells = column.texts()
    first = cells[0].strip()
    long = len(first) >= _LONG_HEX and not _PREFIXED.match(first)
    long = long and any(not cell.strip().isdigit() for cell in cells[:100])
    if not (long or _SEPARATED.fullmatch(first) or _payloads(column, is_hex)):
        return None
    made = []
    for row, cell in enumerate(cells, 1):
        try:
            frame = frame_of(cell.strip(), row)
        except ValueError as error:
            raise ValueError(f"column {shown(name)!r}, {error}") from None
        if frame is None:
            raise ValueError(f"column {shown(name)!r}, row {row:,} holds no frame")
        made.append(frame)
    return made


class Numbers(NamedTuple):
    """A column of whole numbers. cells: big-endian bytes, (N, bytes). reading: in words."""

    cells: np.ndarray
    width: int
    reading: str


def numbers_of(column: Column, name: str, is_hex: bool = False) -> Numbers:
    """A column of whole numbers as bytes. is_hex: read digits without 0x as hexadecimal."""
    if column.numbers is not None:
        return _of_array(column.numbers, name)
    assert column.codes is not None
    texts = [level.strip() for level in column.levels]
    if is_hex and all(map(_HEX.fullmatch, texts)):
        base, reading, least = 16, "hexadecimal", 0
    else:
        base, reading, least = _base(texts, name, column)
    values = [_value(text, base) for text in texts]
    width = max(*(value.bit_length() for value in values), least, 1)
    if width > WIDEST:
        raise ValueError(f"column {shown(name)!r} holds a number of {width:,} bits; {_TOO_WIDE}")
    size = -(-width // 8)
    joined = b"".join(value.to_bytes(size, "big") for value in values)
    cells = np.frombuffer(joined, np.uint8).reshape(len(values), size)[column.codes]
    return Numbers(cells, width, f"{reading}, {counted(width, 'bit')}")


_TOO_WIDE = f"at most {WIDEST:,} bits, keep longer data as hex frames, one per line"


def _of_array(cells: np.ndarray, name: str) -> Numbers:
    what = f"column {shown(name)!r} holds"
    if cells.dtype.kind == "f":
        if not (np.isfinite(cells).all() and (cells == np.floor(cells)).all()):
            raise ValueError(f"{what} numbers that are not whole")
        if (np.abs(cells) > 2.0**53).any():
            raise ValueError(
                f"{what} floats beyond 2^53, which have lost their low bits; keep it as integers "
                "or text"
            )
    if cells.dtype.kind != "b" and len(cells) and cells.min() < 0:
        raise ValueError(f"{what} {cells.min()}; expected 0 and up")
    whole = cells.astype(np.uint64)
    width = max(int(whole.max()).bit_length() if len(whole) else 1, 1)
    made = whole.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - -(-width // 8) :]
    return Numbers(np.ascontiguousarray(made), width, f"whole numbers, {counted(width, 'bit')}")


def _value(text: str, base: int) -> int:
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    return int(text, 2) if text[:2] in ("0b", "0B") and base != 16 else int(text, base)


def _base(texts: Sequence[str], name: str, column: Column) -> tuple[int, str, int]:
    """The base of a column, in words too, and the least width that its spelling shows."""
    digits = {len(text) for text in texts}
    if all(map(_DECIMAL.fullmatch, texts)):
        width = digits.pop() if len(digits) == 1 else 0
        if width > 1 and not set("".join(texts)) - {"0", "1"}:
            return 2, "binary", width
        if (longest := max(map(len, texts))) > WIDEST // 3:
            raise ValueError(
                f"column {shown(name)!r} holds a number of {longest:,} digits; {_TOO_WIDE}"
            )
        return 10, "decimal", 0
    if all(map(_HEX.fullmatch, texts)):
        return 16, "hexadecimal", 4 * digits.pop() if len(digits) == 1 else 0
    if all(_PREFIXED.fullmatch(text) or _DECIMAL.fullmatch(text) for text in texts):
        return 10, "whole numbers with 0x or 0b", 0
    for row, cell in enumerate(column.texts(), 1):
        text = cell.strip()
        if not (_HEX.fullmatch(text) or _PREFIXED.fullmatch(text)):
            found = "nothing" if text.casefold() in MISSING else repr(shown(text))
            raise ValueError(
                f"column {shown(name)!r}, row {row:,} holds {found}; expected whole numbers: "
                "decimal, hex (1f or 0x1f) or binary; --ignore leaves a column out"
            )
    raise ValueError(
        f"column {shown(name)!r} mixes 0x numbers with hex digits without 0x; spell them alike"
    )
