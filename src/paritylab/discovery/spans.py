"""Cells of a text block as spans of its bytes, so that columns are compared without Python text.

A cell of up to 8 bytes is one number: its bytes, the rest zero. A column in which only two such
numbers occur is a column of bits, and all columns of a block are looked at together.
"""

from typing import NamedTuple

import numpy as np

_KEY = 8
#: Longest cell that is gathered into an array of fixed width.
_WIDE = 64
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(_KEY + 1)], dtype=np.uint64)


class Spans(NamedTuple):
    """Where the cells of a block lie. text: its bytes, padded. starts, lengths: (rows, n)."""

    text: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    def keys(self) -> np.ndarray:
        """The first 8 bytes of every cell as a number, (rows, n)."""
        every = np.ndarray(
            (len(self.text) - _KEY + 1,), dtype="<u8", buffer=self.text, strides=(1,)
        )
        keys: np.ndarray = every[self.starts] & _MASKS[np.minimum(self.lengths, _KEY)]
        return keys

    def column(self, at: int) -> list[str]:
        """The cells of one column as text."""
        fixed = self.fixed(at)
        if fixed is not None:
            return [cell.decode() for cell in fixed.tolist()]
        raw = self.text.tobytes()
        ends = self.starts[:, at] + self.lengths[:, at]
        return [
            raw[a:b].decode()
            for a, b in zip(self.starts[:, at].tolist(), ends.tolist(), strict=True)
        ]

    def fixed(self, at: int) -> np.ndarray | None:
        """The cells of one column as an array of bytes, None if one is very long."""
        starts, lengths = self.starts[:, at], self.lengths[:, at]
        width = max(int(lengths.max()), 1)
        if width > _WIDE:
            return None
        reach = np.arange(width)
        places = np.minimum(starts[:, None] + reach, len(self.text) - 1)
        cells = np.where(reach < lengths[:, None], self.text[places], np.uint8(0))
        return np.ascontiguousarray(cells).view(f"S{width}")[:, 0]


def spans_of(piece: bytes, width: int, delimiter: int) -> Spans | None:
    """The cells of unquoted rows; None if some row has not `width` of them."""
    text = np.frombuffer(piece + b"\0" * _KEY, dtype=np.uint8)
    is_end = text == 10
    ends = np.flatnonzero(is_end | (text == delimiter))
    if len(ends) % width:
        return None
    last = is_end[ends].reshape(-1, width)
    if last[:, :-1].any() or not last[:, -1].all():
        return None
    starts = np.concatenate([[0], ends[:-1] + 1])
    shape = (-1, width)
    return Spans(text, starts.reshape(shape), (ends - starts).reshape(shape))


def key_text(key: int) -> str:
    """The text of a cell of up to 8 bytes.

    >>> key_text(int.from_bytes(b"yes", "little"))
    'yes'
    """
    return key.to_bytes(_KEY, "little").rstrip(b"\0").decode()
