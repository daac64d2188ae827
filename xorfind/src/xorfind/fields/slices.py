"""One way to name bits: `addr[17]`, `addr[16:6]`, `frame[-1]`, `frame[2:4]`, `frame[3].7:4`.

Both ends belong to a slice. What is written first is the most significant: `frame[-2:-1]` is a
big-endian pair of bytes, `frame[-1:-2]` the same pair little-endian. The unit in brackets is the
bit of an integer (0 is the least significant) and the byte of a frame (0 is the first, -1 the
last); the number after the dot selects bits of each of those bytes. `a^b` is the XOR of
columns, and a comma joins slices to one field.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from xorfind.words import nearest, shown

#: Numbers in brackets of more than five digits are typing errors.
_SLICE = re.compile(
    r"(?P<name>[^\[\]]+?)\s*(?:\[\s*(?P<first>-?\d{1,5})\s*(?::\s*(?P<last>-?\d{1,5})\s*)?\]"
    r"(?:\.(?P<high>[0-7])(?::(?P<low>[0-7]))?)?)?"
)
_FORMS = "addr, addr[17], addr[16:6], frame[-1], frame[2:4] or frame[3].7:4"


class Bit(NamedTuple):
    """One bit. columns: one, or those that are XORed. place: in a frame from the left, from 0; in
    an integer from the right, from -1."""

    columns: tuple[str, ...]
    place: int

    def label(self, units: int = 0) -> str:
        """The name that a hardware person knows. units: bytes of the frame, to count from its end.

        >>> Bit(("frame",), 8).label(), Bit(("frame",), 8).label(3), Bit(("addr",), -18).label()
        ('frame[1].7', 'frame[-2].7', 'addr[17]')
        """
        name = "^".join(self.columns)
        if self.place < 0:
            return f"{name}[{-1 - self.place}]"
        return f"{name}[{self.place // 8 - units}].{7 - self.place % 8}"


class Slice(NamedTuple):
    """Some bits of a column, or of the XOR of some. text: as written. ends: in brackets. bits:
    after the dot."""

    text: str
    columns: tuple[str, ...]
    ends: tuple[int, int] | None = None
    bits: tuple[int, int] | None = None

    def within(self, width: int, is_frame: bool, bytewise: bool = False) -> list[Bit]:
        """The bits it names, most significant first, in a column of frames or integers.

        width: of the column in bits. bytewise: a whole integer is widened to full bytes, as a byte
        of a message is.
        """
        units = -(-width // 8)
        if is_frame:
            first, last = (e + units if e < 0 else e for e in self.ends or (0, units - 1))
            if not (0 <= first < units and 0 <= last < units):
                raise ValueError(f"{self.text} lies outside a frame of {units} bytes")
            high, low = self.bits or (7, 0)
            places = [8 * unit + 7 - bit for unit in _run(first, last) for bit in _run(high, low)]
            # A frame of 12 bits ends within its second byte.
            return [Bit(self.columns, place) for place in places if place < width]
        first, last = self.ends or ((8 * units if bytewise and width > 1 else width) - 1, 0)
        if self.bits is not None or min(first, last) < 0:
            raise ValueError(
                f"{self.text} is an integer: write its bits in the brackets, numbered from 0 "
                "upwards; if the column holds bytes in hex, --hex says so"
            )
        return [Bit(self.columns, -1 - bit) for bit in _run(first, last)]


def _run(first: int, last: int) -> range:
    """Whole numbers from the first to the last, both included, upwards or downwards."""
    step = 1 if last >= first else -1
    return range(first, last + step, step)


def parse(texts: str | Sequence[str], names: Sequence[str]) -> tuple[Slice, ...]:
    """The slices of one or several texts; commas join slices. names: the columns there are.

    >>> [each.ends for each in parse("addr[16:6], frame[-1]", ["addr", "frame"])]
    [(16, 6), (-1, -1)]
    """
    made: list[Slice] = []
    for text in [texts] if isinstance(texts, str) else texts:
        parts = [text] if text.strip() in names else text.split(",")
        made += [slice_of(part.strip(), names) for part in parts]
    return tuple(made)


def slice_of(text: str, names: Sequence[str] | None = None) -> Slice:
    """The slice of one text. names: the columns there are; any name will do without.

    >>> slice_of("frame[3].7")
    Slice(text='frame[3].7', columns=('frame',), ends=(3, 3), bits=(7, 7))
    """
    if names and text in names:
        return Slice(text, (text,))
    match = _SLICE.fullmatch(text)
    if match is None:
        raise ValueError(f"{shown(text)!r} is not a slice; expected {_FORMS}")
    name = match["name"].strip()
    columns = (name,) if names and name in names else tuple(map(str.strip, name.split("^")))
    for column in columns:
        if names is not None and column not in names:
            there = nearest(column, list(names))
            raise ValueError(f"no column {shown(column)!r} for {shown(text)!r}{there}")
    ends, bits = _ends(match["first"], match["last"]), _ends(match["high"], match["low"])
    return Slice(shown(text), columns, ends, bits)


def _ends(first: str | None, last: str | None) -> tuple[int, int] | None:
    return None if first is None else (int(first), int(first if last is None else last))
