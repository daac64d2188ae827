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
from xorfind.words import counted, shown

#: Hex digits without 0x from which on a cell of a table is a frame, not an integer.
_LONG_HEX = 17
#: Different cells from which on even counts of digits alone show that they are bytes.
_MANY = 8

_COMMENT = re.compile(r"(#|//|;).*")
_LENGTH = re.compile(r"\{(\d+)\}(.*)", re.S)
_BETWEEN = re.compile(r"0[xX]|[\s:_-]+")
_DECIMAL, _HEX = re.compile(r"\d+"), re.compile(r"[0-9a-fA-F]+")
_PREFIXED = re.compile(r"0[xX][0-9a-fA-F]+")
_SEPARATED = re.compile(r"\{\d+\}.*|[0-9a-fA-F]{2}([\s:-]+[0-9a-fA-F]{2})+")


def is_frame(line: str) -> bool:
    """Whether a line looks like a frame rather than like the header of a table."""
    _, digits = _digits(line)
    return bool(_HEX.fullmatch(digits)) and not (digits.isdigit() and len(digits) < 2)


def _digits(text: str) -> tuple[int | None, str]:
    """The length that a line gives in braces, if any, and its digits without what parts them."""
    if not text.isalnum():
        text = _COMMENT.sub("", text).strip()
    match = _LENGTH.fullmatch(text)
    return (int(match[1]), _BETWEEN.sub("", match[2])) if match else (None, _BETWEEN.sub("", text))


def frames_of(texts: Iterable[str], where: str) -> dict[int, tuple[bytes, int]]:
    """The frames of lines or cells, by their numbers from 1; those that hold nothing are left out.

    where: what the numbers count, for errors.
    """
    made = ((at, frame_of(text.strip(), f"{where} {at:,}")) for at, text in enumerate(texts, 1))
    return {at: frame for at, frame in made if frame is not None}


def frame_of(text: str, where: str) -> tuple[bytes, int] | None:
    """The bytes of a frame and how many bits they hold; None if nothing is there.

    >>> frame_of("{12}abc  # door opens", "line 7")
    (b'\\xab\\xc0', 12)
    """
    said, digits = _digits(text)
    if not digits and said is None:
        return None
    width = 4 * len(digits) if said is None else said
    problem = ""
    if wrong := next((c for c in digits if not _HEX.fullmatch(c)), ""):
        problem = f"{shown(wrong)!r} is not a hex digit; expected a frame such as 3a07ff"
    elif said is None and len(digits) % 2:
        problem = (
            f"{shown(text)!r} has {len(digits)} hex digits; a frame needs an even number, or its "
            f"length in bits before it: {{{width}}}{shown(digits)}"
        )
    elif not 4 * len(digits) - 8 < width <= 4 * len(digits):
        problem = f"{{{width}}} says {width} bits, but {len(digits)} hex digits follow"
    if problem:
        raise ValueError(f"{where}: {problem}")
    return bytes.fromhex(digits + "0" * (len(digits) % 2)), width


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
        widths = np.full(len(self.data), self.widths)
        return Cells(self.data, widths, f"frames of {length_text(widths)}")


def stacked(frames: Sequence[tuple[bytes, int]]) -> Cells:
    """Frames as a column, filled up with zeros to the longest."""
    size = max(len(data) for data, _ in frames)
    joined = b"".join(data.ljust(size, b"\0") for data, _ in frames)
    widths = np.array([width for _, width in frames])
    cells = np.frombuffer(joined, np.uint8).reshape(len(frames), size)
    return Cells(cells, widths, f"frames of {length_text(widths)}")


def length_text(widths: np.ndarray) -> str:
    """The lengths of frames in words. widths: in bits."""
    least, most = int(widths.min()), int(widths.max())
    if least == most:
        return f"{least // 8} bytes" if least % 8 == 0 else f"{least} bits"
    return f"{least // 8} to {most // 8} bytes"


def cells_of(column: Column, name: str, is_hex: bool = False) -> Cells:
    """A column of frames or of whole numbers.

    is_hex: digits are hexadecimal although they might be decimal.
    """
    what = f"column {shown(name)!r}"
    if column.numbers is not None:
        levels, codes = np.unique(column.numbers, return_inverse=True)
        exact = np.isfinite(levels) & (levels == np.floor(levels)) & (levels >= 0)
        if levels.dtype.kind == "f":
            exact &= levels <= 2.0**53  # larger floats have lost their low bits
        if not exact.all():
            raise ValueError(
                f"{what} holds {levels[~exact][0]}; expected whole numbers from 0, as integers or "
                "text beyond 2^53"
            )
        return _of_numbers([int(each) for each in levels], codes.ravel(), "whole numbers")
    texts = [level.strip() for level in column.levels]
    if _holds_frames(column, texts, is_hex):
        frames = frames_of(column.texts(), f"{what}, row")
        if len(frames) < len(column):
            raise ValueError(f"{what} has cells without a frame")
        return stacked([*frames.values()])
    assert column.codes is not None
    values, reading, least = _values(texts, column, what, is_hex)
    return _of_numbers(values, column.codes, reading, least)


def _holds_frames(column: Column, texts: list[str], is_hex: bool) -> bool:
    """Whether cells are frames: long digits, bytes with separators, or bytes of several lengths.

    Such are the data of a CAN log. Numbers that are not filled up with zeros have odd counts of
    digits about as often as even ones.
    """
    first = column.texts()[0].strip() if len(column) else ""
    decimal = all(map(_DECIMAL.fullmatch, texts))
    long = len(first) >= _LONG_HEX and not _PREFIXED.match(first) and not decimal
    if long or _SEPARATED.fullmatch(first):
        return True
    lengths = {len(text) for text in texts}
    if len(lengths) < 2 or any(length % 2 for length in lengths) or (decimal and not is_hex):
        return False
    many = len(texts) >= _MANY or any(text.startswith("0") for text in texts)
    return many and all(map(_HEX.fullmatch, texts))


def _of_numbers(values: list[int], codes: np.ndarray, reading: str, least: int = 1) -> Cells:
    """Numbers as bytes. codes: for each row the place of its value. least: bits at least."""
    width = max(*(value.bit_length() for value in values), least, 1)
    size = -(-width // 8)
    joined = b"".join(value.to_bytes(size, "big") for value in values)
    cells = np.frombuffer(joined, np.uint8).reshape(len(values), size)[codes]
    return Cells(cells, width, f"{reading}, {counted(width, 'bit')}")


def _values(
    texts: list[str], column: Column, what: str, is_hex: bool
) -> tuple[list[int], str, int]:
    """Numbers of one base, the base in words, and the least width that their spelling shows: digits
    of one length are filled up with zeros."""
    lengths = {len(text) for text in texts}
    width = lengths.pop() if len(lengths) == 1 else 0
    if not is_hex and all(map(_DECIMAL.fullmatch, texts)):
        binary = width > 1 and not set("".join(texts)) - {"0", "1"}
        base, reading, least = (2, "binary", width) if binary else (10, "decimal", 0)
    elif all(map(_HEX.fullmatch, texts)):
        base, reading, least = 16, "hexadecimal", 4 * width
    elif all(_PREFIXED.fullmatch(text) or _DECIMAL.fullmatch(text) for text in texts):
        base, reading, least = 10, "whole numbers with 0x", 0
    else:
        known = {text for text in texts if _HEX.fullmatch(text) or _PREFIXED.fullmatch(text)}
        cells = [*map(str.strip, column.texts())]
        row = next((row for row, cell in enumerate(cells) if cell not in known), 0)
        raise ValueError(
            f"{what}, row {row + 1:,} holds {shown(cells[row])!r}; expected whole numbers: "
            "decimal, hex (all like 1f or all like 0x1f) or binary; --ignore leaves a column out"
        )
    values = [int(text, 16 if _PREFIXED.fullmatch(text) else base) for text in texts]
    return values, reading, least
