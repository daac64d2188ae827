"""Columns of whole numbers: decimal, hexadecimal with or without 0x, binary; exact at any width."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paritylab.discovery.words import MISSING, shown

#: Bits of the widest number that is still taken for one.
WIDEST = 1024

_DECIMAL, _HEX = re.compile(r"\d+"), re.compile(r"[0-9a-fA-F]+")
_PREFIXED = re.compile(r"0[xX][0-9a-fA-F]+|0[bB][01]+")


class Numbers(NamedTuple):
    """A column of whole numbers. cells: big-endian bytes, (N, bytes). reading: in words."""

    cells: np.ndarray
    width: int
    reading: str


def numbers_of(cells: Sequence[str] | np.ndarray, name: str, is_hex: bool = False) -> Numbers:
    """A column of whole numbers as bytes. is_hex: read digits without 0x as hexadecimal.

    >>> numbers_of(["1f", "20"], "addr").reading
    'hexadecimal, 8 bits'
    """
    if isinstance(cells, np.ndarray):
        return _of_array(cells, name)
    texts = [cell.strip() for cell in cells]
    if is_hex and all(map(_HEX.fullmatch, texts)):
        base, reading, least = 16, "hexadecimal", 0
    else:
        base, reading, least = _base(texts, name)
    values = [_value(text, base) for text in texts]
    width = max(*(value.bit_length() for value in values), least, 1)
    if width > WIDEST:
        row = next(at for at, value in enumerate(values, 1) if value.bit_length() == width)
        raise ValueError(
            f"column {shown(name)!r}, row {row:,}: a number of {width:,} bits; at most {WIDEST:,}, "
            "keep longer data as hex frames, one per line"
        )
    size = -(-width // 8)
    joined = b"".join(value.to_bytes(size, "big") for value in values)
    made = np.frombuffer(joined, np.uint8).reshape(len(values), size)
    return Numbers(made, width, f"{reading}, {width} bits")


def _of_array(cells: np.ndarray, name: str) -> Numbers:
    if cells.dtype.kind == "b":
        cells = cells.astype(np.uint8)
    if cells.dtype.kind not in "iu":
        if not (np.isfinite(cells).all() and (cells == np.floor(cells)).all()):
            raise ValueError(f"column {shown(name)!r} holds numbers that are not whole")
        if (np.abs(cells) > 2.0**53).any():
            raise ValueError(
                f"column {shown(name)!r} holds floats beyond 2^53, which have lost their low bits; "
                "keep it as integers or text"
            )
    if len(cells) and cells.min() < 0:
        raise ValueError(f"column {shown(name)!r} holds {cells.min()}; expected 0 and up")
    whole = cells.astype(np.uint64)
    width = max(int(whole.max()).bit_length() if len(whole) else 1, 1)
    made = whole.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - -(-width // 8) :]
    return Numbers(np.ascontiguousarray(made), width, f"whole numbers, {width} bits")


def _value(text: str, base: int) -> int:
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    return int(text, 2) if text[:2] in ("0b", "0B") and base != 16 else int(text, base)


def _base(texts: Sequence[str], name: str) -> tuple[int, str, int]:
    """The base of a column, in words too, and the least width that its spelling shows."""
    digits = {len(text) for text in texts}
    if all(map(_DECIMAL.fullmatch, texts)):
        width = digits.pop() if len(digits) == 1 else 0
        if width > 1 and not set("".join(texts)) - {"0", "1"}:
            return 2, "binary", width
        if max(map(len, texts)) > WIDEST // 3:
            raise ValueError(
                f"column {shown(name)!r} holds a number of {max(map(len, texts)):,} digits; "
                f"at most {WIDEST:,} bits, keep longer data as hex frames, one per line"
            )
        return 10, "decimal", 0
    if all(map(_HEX.fullmatch, texts)):
        return 16, "hexadecimal", 4 * digits.pop() if len(digits) == 1 else 0
    if all(_PREFIXED.fullmatch(text) or _DECIMAL.fullmatch(text) for text in texts):
        return 10, "whole numbers with 0x or 0b", 0
    _refuse(texts, name)
    raise AssertionError("one of the cells is no whole number")


def _refuse(texts: Sequence[str], name: str) -> None:
    for row, text in enumerate(texts, 1):
        if not (_HEX.fullmatch(text) or _PREFIXED.fullmatch(text)):
            found = "nothing" if text.casefold() in MISSING else repr(shown(text))
            raise ValueError(
                f"column {shown(name)!r}, row {row:,} holds {found}; expected whole numbers: "
                "decimal, hex (1f or 0x1f) or binary; --ignore leaves a column out"
            )
    raise ValueError(
        f"column {shown(name)!r} mixes 0x numbers with hex digits without 0x; spell them alike"
    )
