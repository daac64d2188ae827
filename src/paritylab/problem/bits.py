"""Bits {0,1} and signs {+1,-1}; conversions are explicit, never guessed."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int8, UInt8
from numpy.typing import ArrayLike

from paritylab.precision import AnyArray


def as_bits(values: ArrayLike | jax.Array) -> AnyArray:
    """`values` unchanged if every entry is 0 or 1, else a ValueError naming the first other entry.

    Traced arrays cannot be inspected and pass unchecked.

    >>> as_bits([0, 1, 1])
    array([0, 1, 1])
    """
    if isinstance(values, jax.core.Tracer):
        return values
    array = values if isinstance(values, jax.Array) else _numeric(values)
    if array.dtype == np.uint8 and isinstance(array, np.ndarray) and array.max(initial=0) <= 1:
        return array  # without flags as large as the table
    other = np.asarray((array != 0) & (array != 1))
    if other.any():
        first = np.asarray(array)[other].flat[0]
        hint = "; for +1/-1 values use bits_from_signs" if first == -1 else ""
        raise ValueError(f"bits must be 0 or 1, got {first!s}{hint}")
    return array


def bits_from_signs(signs: ArrayLike) -> UInt8[np.ndarray, "..."]:
    """Bit 0 for +1 and bit 1 for -1, entry by entry.

    >>> bits_from_signs([1, -1])
    array([0, 1], dtype=uint8)
    """
    array = _numeric(signs)
    other = np.abs(array) != 1
    if other.any():
        raise ValueError(f"signs must be +1 or -1, got {array[other].flat[0]!s}")
    return (array < 0).astype(np.uint8)


def signs_from_bits(bits: ArrayLike) -> Int8[jax.Array, "..."]:
    """+1 for bit 0 and -1 for bit 1, entry by entry.

    >>> signs_from_bits([0, 1])
    Array([ 1, -1], dtype=int8)
    """
    return 1 - 2 * jnp.asarray(as_bits(bits)).astype(jnp.int8)


def _numeric(values: ArrayLike) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"expected a rectangular array of numbers: {error}") from None
    if array.dtype == bool:
        return array.astype(np.uint8)
    if not np.issubdtype(array.dtype, np.number):
        raise ValueError(f"expected numbers, got {array.dtype} values such as {array.flat[0]!r}")
    return array
