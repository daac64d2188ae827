"""Cells as bytes: frames in hex, one per line or in a column, and columns of whole numbers.

Bytes of a frame may be separated by spaces, colons or dashes and may have 0x before them.
`{36}8f1a2b3c4` is how rtl_433 writes 36 bits, padded on the right. What follows #, // or ; is a
comment. Whole numbers are decimal, hexadecimal with or without 0x, or binary, exact at any width.
"""

import re
from collections.abc import Sequence
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


class Cells(NamedTuple):
    """A column as bytes. data: (N, bytes), a frame from the left, a number big-endian and
    right-aligned. widths: bits of the numbers, or of each row's frame, (N,). reading: in words."""

    data: np.ndarray
    widths: int | np.ndarray
    reading: str

    def chosen(self, rows: np.ndarray) -> "Cells":
        """Some of the rows, by their numbers."""
        widths = self.widths[rows] if isinstance(self.widths, np.ndarray) else self.widths
        return self._replace(data=self.data[rows], widths=widths)

    def as_frames(self) -> "Cells":
        """Hex digits that are whole bytes, taken for frames of one length; others as they are."""
        if not self.reading.startswith("hexadecimal") or int(np.max(self.widths)) % 8:
            return self
        return Cells(self.data, np.full(len(self.data), self.widths), "frames")


def stacked(frames: Sequence[Frame]) -> Cells:
    """Frames as a column, filled up with zeros to the longest."""
    size = max(len(frame.data) for frame in frames)
    data = b"".join(frame.data.ljust(size, b"\0") for frame in frames)
    cells = np.frombuffer(data, np.uint8).reshape(len(frames), size)
    return Cells(cells, np.array([frame.width for frame in frames]), "frames")


def cells_of(column: Column, name: str, is_hex: bool = False) -> Cells:
    """A column of frames or of whole numbers.

    is_hex: digits are hexadecimal although they might be decimal.
    """
    what = f"column {shown(name)!r}"
    if column.numbers is not None:
        return _of_array(column.numbers, what)
    texts = [level.strip() for level in column.levels]
    if _holds_frames(column, texts, is_hex):
        return _of_frames(column, what)
    base, reading, least = _base(texts, what, column, is_hex)
    assert column.codes is not None
    return _of_numbers([_value(text, base) for text in texts], column.codes, what, reading, least)


# Frames.


def _holds_frames(column: Column, texts: list[str], is_hex: bool) -> bool:
    """Whether cells are frames: long digits, bytes with separators, or bytes of several lengths."""
    first = column.texts()[0].strip() if len(column) else ""
    long = len(first) >= _LONG_HEX and not _PREFIXED.match(first)
    long = long and not all(text.isdigit() for text in texts[:100])
    return bool(long or _SEPARATED.fullmatch(first) or _payloads(texts, is_hex))


def _payloads(texts: list[str], is_hex: bool) -> bool:
    """Whether hex digits are whole bytes of several lengths, as in a CAN log.

    Numbers that are not filled up with zeros have odd counts of digits about as often as even ones.
    """
    lengths = {len(text) for text in texts}
    if len(lengths) < 2 or any(length % 2 for length in lengths):
        return False
    digits = all(map(_HEX.fullmatch, texts)) and (is_hex or not all(t.isdigit() for t in texts))
    return digits and (len(texts) >= _MANY or any(text.startswith("0") for text in texts))


def _of_frames(column: Column, what: str) -> Cells:
    made = []
    for row, cell in enumerate(column.texts(), 1):
        try:
            frame = frame_of(cell.strip(), row)
        except ValueError as error:
            raise ValueError(f"{what}, {error}") from None
        if frame is None:
            raise ValueError(f"{what}, row {row:,} holds no frame")
        made.append(frame)
    return stacked(made)


# Whole numbers.


def _of_numbers(
    values: list[int], codes: np.ndarray, what: str, reading: str, least: int = 1
) -> Cells:
    """Numbers as bytes. codes: for each row the place of its value. least: bits at least."""
    width = max(*(value.bit_length() for value in values), least, 1)
    if width > WIDEST:
        raise ValueError(
            f"{what} holds a number of {width:,} bits; at most {WIDEST:,} bits, keep longer data "
            "as hex frames, one per line"
        )
    size = -(-width // 8)
    joined = b"".join(value.to_bytes(size, "big") for value in values)
    cells = np.frombuffer(joined, np.uint8).reshape(len(values), size)[codes]
    return Cells(cells, width, f"{reading}, {counted(width, 'bit')}")


def _of_array(cells: np.ndarray, what: str) -> Cells:
    if cells.dtype.kind == "f":
        if not (np.isfinite(cells).all() and (cells == np.floor(cells)).all()):
            raise ValueError(f"{what} holds numbers that are not whole")
        if (np.abs(cells) > 2.0**53).any():
            raise ValueError(
                f"{what} holds floats beyond 2^53, which have lost their low bits; keep it as "
                "integers or text"
            )
    levels, codes = np.unique(cells, return_inverse=True)
    if levels[0] < 0:
        raise ValueError(f"{what} holds {levels[0]}; expected 0 and up")
    return _of_numbers([int(each) for each in levels], codes.ravel(), what, "whole numbers")


def _value(text: str, base: int) -> int:
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    return int(text, 2) if text[:2] in ("0b", "0B") and base != 16 else int(text, base)


def _base(texts: Sequence[str], what: str, column: Column, is_hex: bool) -> tuple[int, str, int]:
    """The base of a column, in words too, and the least width that its spelling shows."""
    digits = {len(text) for text in texts}
    if not is_hex and all(map(_DECIMAL.fullmatch, texts)):
        width = digits.pop() if len(digits) == 1 else 0
        binary = width > 1 and not set("".join(texts)) - {"0", "1"}
        return (2, "binary", width) if binary else (10, "decimal", 0)
    if all(map(_HEX.fullmatch, texts)):
        return 16, "hexadecimal", 4 * digits.pop() if len(digits) == 1 else 0
    if all(_PREFIXED.fullmatch(text) or _DECIMAL.fullmatch(text) for text in texts):
        return 10, "whole numbers with 0x or 0b", 0
    for row, cell in enumerate(column.texts(), 1):
        text = cell.strip()
        if not (_HEX.fullmatch(text) or _PREFIXED.fullmatch(text)):
            found = "nothing" if text.casefold() in MISSING else repr(shown(text))
            raise ValueError(
                f"{what}, row {row:,} holds {found}; expected whole numbers: decimal, hex (1f or "
                "0x1f) or binary; --ignore leaves a column out"
            )
    raise ValueError(f"{what} mixes 0x numbers with hex digits without 0x; spell them alike")
