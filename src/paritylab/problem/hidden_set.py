"""What parities and juntas share: n bits, a hidden set among them, label noise, biased inputs.

Bits are {0,1} and signs {+1,-1}; conversions are explicit, never guessed.
"""

import abc
import numbers
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int8, Num, UInt8
from numpy.typing import ArrayLike

from paritylab._support.checks import check_kind, shortened, whole
from paritylab._support.precision import AnyArray


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


class Distribution(TypedDict, total=False):
    """noise: ν, the chance of a flipped label. bias: P(x_j = 1), one number or one per bit."""

    noise: float
    bias: float | Sequence[float]


class AbstractHiddenSet(abc.ABC):
    """A target that depends on the bits of a hidden set B among n.

    n: number of bits. subset: B, sorted. noise: ν. bias: P(x_j = 1), one number or n of them.
    """

    n: int
    subset: tuple[int, ...]
    noise: float
    bias: float | tuple[float, ...]

    @abc.abstractmethod
    def labels_unchecked(self, bits: Array) -> Num[Array, "..."]:
        """`label` for arrays (..., n) known to hold bits."""

    @property
    def k(self) -> int:
        """Size of the hidden set."""
        return len(self.subset)

    @property
    def is_uniform(self) -> bool:
        """Whether every bit is fair."""
        return self.bias == 0.5

    @cached_property
    def probabilities(self) -> Float[np.ndarray, " n"]:
        """P(x_j = 1) for every position j, shape (n,)."""
        return np.broadcast_to(np.asarray(self.bias, dtype=np.float64), (self.n,))

    @cached_property
    def indicator(self) -> Float[np.ndarray, " n"]:
        """1 on B, 0 elsewhere, shape (n,)."""
        mask = np.zeros(self.n)
        mask[list(self.subset)] = 1.0
        return mask

    def label(self, bits: ArrayLike) -> Num[Array, "..."]:
        """Noiseless label of one bit string (n,) or of many (..., n)."""
        checked = jnp.asarray(as_bits(bits))
        if checked.ndim == 0 or checked.shape[-1] != self.n:
            raise ValueError(
                f"expected bit strings of length n={self.n}, got an array of shape {checked.shape}"
            )
        return self.labels_unchecked(checked)


def check_problem(problem: object) -> None:
    """A clear error where a parity or a junta is expected and something else came."""
    check_kind("problem", problem, AbstractHiddenSet, "a Parity or a Junta")


def checked_noise(noise: object) -> float:
    """A chance ν in [0, 0.5) that a label is flipped."""
    if not (isinstance(noise, numbers.Real) and 0 <= float(noise) < 0.5):
        raise ValueError(f"noise must be in [0, 0.5), got {shortened(noise)}")
    return float(noise)


def checked_subset(subset: Sequence[int], n: int) -> tuple[int, ...]:
    """Positions among n, sorted, none twice."""
    check_kind("subset", subset, Iterable, "a list of positions")
    members = sorted(whole("a position", j) for j in subset)
    if len(members) > n:
        raise ValueError(f"k must be at most n={n}, got k={len(members)} positions")
    for position in members:
        if not 0 <= position < n:
            raise ValueError(f"positions must be in 0..{n - 1}, got {position}")
    for first, second in pairwise(members):
        if first == second:
            raise ValueError(f"positions must not repeat, got {first} twice")
    return tuple(members)


def checked_bias(bias: ArrayLike, n: int) -> float | tuple[float, ...]:
    """P(x_j = 1): one number for all bits, or one per bit."""
    values = np.asarray(bias, dtype=np.float64)
    if values.shape not in ((), (n,)):
        raise ValueError(f"bias must be one number or n={n} of them, got shape {values.shape}")
    outside = values[~((values > 0) & (values < 1))]
    if outside.size:
        raise ValueError(f"bias must lie strictly between 0 and 1, got {float(outside.flat[0])}")
    if values.ndim and np.ptp(values) > 0:
        return tuple(values.tolist())
    return float(values.flat[0])
