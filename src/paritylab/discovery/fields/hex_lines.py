"""Frames as people keep them: one in hex per line, with comments.

Bytes may be separated by spaces, colons or dashes and may have 0x before them. `{36}8f1a2b3c4` is
how rtl_433 writes 36 bits, padded on the right. What follows #, // or ; is a comment.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from paritylab.discovery.words import shown

#: Bits of the longest frame that is still taken for one.
LONGEST = 1 << 16

_COMMENT = re.compile(r"(#|//|;).*")
_LENGTH = re.compile(r"\{(\d+)\}(.*)", re.S)
_BETWEEN = re.compile(r"0[xX]|[\s:_-]+")
_HEX = re.compile(r"[0-9a-fA-F]+")


class Frame(NamedTuple):
    """A frame. line: where it stands, from 1. data: its bytes. width: how many bits of them."""

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
    digits = match[2] if match else text
    if not digits.isalnum() or "x" in digits or "X" in digits:
        digits = _BETWEEN.sub("", digits)
    if match:
        return _of_length(digits, int(match[1]), line)
    if len(digits) % 2:
        raise ValueError(
            f"line {line:,}: {shown(text)!r} has {len(digits)} hex digits; a frame needs an even "
            f"number, or its length in bits before it: {{{4 * len(digits)}}}{shown(digits)}"
        )
    data = _bytes(digits, line)
    if not data:
        raise ValueError(f"line {line:,}: {shown(text)!r} holds no byte")
    return Frame(line, data, 8 * len(data))


def _of_length(digits: str, width: int, line: int) -> Frame:
    if not 0 < width <= LONGEST:
        raise ValueError(f"line {line:,}: {{{width}}} must be 1 to {LONGEST:,} bits")
    if not 4 * len(digits) - 8 < width <= 4 * len(digits):
        raise ValueError(
            f"line {line:,}: {{{width}}} says {width} bits, but {len(digits)} hex digits follow"
        )
    return Frame(line, _bytes(digits + "0" * (len(digits) % 2), line), width)


def _bytes(digits: str, line: int) -> bytes:
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        wrong = next((c for c in digits if not _HEX.fullmatch(c)), digits)
        raise ValueError(
            f"line {line:,}: {shown(wrong)!r} is no hex digit; expected a frame such as 3a07ff"
        ) from None
    if 8 * len(data) > LONGEST:
        raise ValueError(f"line {line:,}: a frame of {len(data):,} bytes; at most {LONGEST // 8:,}")
    return data


def frames(lines: Iterable[str]) -> list[Frame]:
    """The frames of a text, comments and empty lines left out."""
    made = (frame_of(line.strip(), at) for at, line in enumerate(lines, 1))
    return [frame for frame in made if frame is not None]
