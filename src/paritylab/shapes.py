"""Sizes rounded up: code compiled for one serves all that round to it."""


def bucket(size: int) -> int:
    """A power of four no smaller, 16 at least.

    >>> [bucket(size) for size in (1, 16, 17, 100)]
    [16, 16, 64, 256]
    """
    return max(16, 1 << 2 * -(-(size - 1).bit_length() // 2))
