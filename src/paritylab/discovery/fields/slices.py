"""One way to name bits: `addr[17]`, `addr[16:6]`, `frame[-1]`, `frame[2:4]`, `frame[3].7:4`.

Both ends of a slice belong to it. What is written first is the most significant: `frame[-2:-1]` is
a big-endian pair of bytes, `frame[-1:-2]` the same pair little-endian. The unit in brackets is the
bit of an integer (0 is the least significant) and the byte of a frame (0 is the first, -1 the
last); behind the dot stand bits of each of those bytes. `a^b` is the XOR of two columns, and a
comma joins slices to one field.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paritylab.discovery.words import shown

#: More bits than this in one slice are a slip of the pen.
MOST_BITS = 1 << 16

_SLICE = re.compile(
    r"(?P<name>[^\[\]]+?)\s*(?:\[\s*(?P<first>-?\d+)\s*(?::\s*(?P<last>-?\d+)\s*)?\]"
    r"(?:\.(?P<high>\d)(?::(?P<low>\d))?)?)?"
)
_FORMS = "addr, addr[17], addr[16:6], frame[-1], frame[2:4] or frame[3].7:4"


@dataclass(frozen=True)
class Shape:
    """What a slice needs to know of a column in one batch.

    frame: whether its units are bytes, counted from the front. width: bits that it holds.
    """

    frame: bool
    width: int

    @property
    def units(self) -> int:
        """Bytes of a frame, bits of an integer."""
        return -(-self.width // 8) if self.frame else self.width


@dataclass(frozen=True)
class Bit:
    """One bit. columns: one, or two that are XORed. place: in a frame from the left, from 0; in an
    integer from the right, from -1.

    label: the name that a hardware person knows.
    """

    columns: tuple[str, ...]
    place: int
    label: str


@dataclass(frozen=True)
class Slice:
    """Some bits of a column, or of the XOR of two. ends: in brackets. bits: behind the dot."""

    columns: tuple[str, ...]
    ends: tuple[int, int] | None = None
    bits: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """The column, or both with ^ between."""
        return "^".join(self.columns)

    def __str__(self) -> str:
        def pair(ends: tuple[int, int]) -> str:
            return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}:{ends[1]}"

        inside = "" if self.ends is None else f"[{pair(self.ends)}]"
        return f"{self.name}{inside}" + ("" if self.bits is None else f".{pair(self.bits)}")

    def within(self, shape: Shape, bytewise: bool = False) -> list[Bit]:
        """The bits it names, most significant first.

        bytewise: a whole integer is widened to full bytes, as a byte of a message is.
        """
        if not shape.frame:
            return self._of_integer(shape, bytewise)
        units = shape.units
        first, last = (0, units - 1) if self.ends is None else self.ends
        places = [end + units if end < 0 else end for end in (first, last)]
        if not all(0 <= place < units for place in places):
            raise ValueError(f"{self} lies outside a frame of {units} bytes")
        high, low = (7, 0) if self.bits is None else self.bits
        made = []
        for unit in _run(*places):
            for bit in _run(high, low):
                place = 8 * unit + 7 - bit
                if place < shape.width:  # a frame of 12 bits ends within its second byte
                    made.append(Bit(self.columns, place, f"{self.name}[{unit}].{bit}"))
        return made

    def _of_integer(self, shape: Shape, bytewise: bool) -> list[Bit]:
        if self.bits is not None:
            raise ValueError(f"{self}: {self.name} is an integer; its bits stand in the brackets")
        top = shape.width - 1
        if bytewise and shape.width > 1:
            top = 8 * -(-shape.width // 8) - 1
        first, last = (top, 0) if self.ends is None else self.ends
        if min(first, last) < 0:
            raise ValueError(f"{self}: bits of an integer are numbered from 0 upwards")
        return [Bit(self.columns, -1 - bit, f"{self.name}[{bit}]") for bit in _run(first, last)]


def _run(first: int, last: int) -> range:
    """Whole numbers from the first to the last, both included, upwards or downwards."""
    step = 1 if last >= first else -1
    return range(first, last + step, step)


def parse(text: str, names: Sequence[str]) -> tuple[Slice, ...]:
    """The slices of a text, joined by commas. names: the columns there are.

    >>> [str(each) for each in parse("addr[16:6], frame[-1]", ["addr", "frame"])]
    ['addr[16:6]', 'frame[-1]']
    """
    if text.strip() in names:
        return (Slice((text.strip(),)),)
    return tuple(_one(part.strip(), names) for part in text.split(","))


def _one(text: str, names: Sequence[str]) -> Slice:
    match = _SLICE.fullmatch(text)
    if match is None:
        raise ValueError(f"{shown(text)!r} is no slice; expected {_FORMS}")
    name = match["name"].strip()
    columns = (name,) if name in names else tuple(each.strip() for each in name.split("^"))
    for column in columns:
        if column not in names:
            have = ", ".join(shown(each) for each in list(names)[:8])
            raise ValueError(f"no column {shown(column)!r} for {shown(text)!r}; there are {have}")
    if len(columns) > 2:
        raise ValueError(f"{shown(text)!r}: at most two columns can be XORed")
    ends = None
    if match["first"] is not None:
        first = int(match["first"])
        ends = (first, first if match["last"] is None else int(match["last"]))
        if abs(ends[0] - ends[1]) >= MOST_BITS or max(map(abs, ends)) >= MOST_BITS:
            raise ValueError(f"{shown(text)!r} names more than {MOST_BITS:,} places")
    bits = None
    if match["high"] is not None:
        high = int(match["high"])
        bits = (high, high if match["low"] is None else int(match["low"]))
        if max(bits) > 7:
            raise ValueError(f"{shown(text)!r}: the bits of a byte are 7 to 0")
    return Slice(columns, ends, bits)


def labels_of(bits: Iterable[Bit]) -> tuple[str, ...]:
    """Their names."""
    return tuple(bit.label for bit in bits)


class Place(NamedTuple):
    """Where a bit's name points. unit: bit of an integer, byte of a frame. bit: of that byte."""

    name: str
    unit: int
    bit: int | None


def place_of(label: str) -> Place | None:
    """The place that the name of one bit says; None if it names no single bit.

    >>> place_of("frame[3].7"), place_of("addr[17]").bit
    (Place(name='frame', unit=3, bit=7), None)
    """
    match = _SLICE.fullmatch(label)
    if match is None or match["first"] is None or match["last"] or match["low"]:
        return None
    bit = None if match["high"] is None else int(match["high"])
    return Place(match["name"], int(match["first"]), bit)
