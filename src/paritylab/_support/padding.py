"""Sizes rounded up: code compiled for one serves all that round to it."""

#: Beyond this the filling costs more than compiling does.
_LARGEST = 4096


def padded_size(size: int) -> int:
    """A power of four no smaller, 16 at least; a large size stays as it is.

    >>> [padded_size(size) for size in (1, 16, 17, 100, 5000)]
    [16, 16, 64, 256, 5000]
    """
    return size if size > _LARGEST else max(16, 1 << 2 * -(-(size - 1).bit_length() // 2))
