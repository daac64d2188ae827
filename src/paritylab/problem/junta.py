"""Targets beyond parity: any function of k ≤ 12 hidden bits, with label noise and biased inputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import SupportsFloat, Unpack

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num

from paritylab._support.checks import shortened, whole
from paritylab.problem.hidden_set import (
    AbstractHiddenSet,
    Distribution,
    checked_bias,
    checked_noise,
    checked_subset,
)
from paritylab.problem.parity import MOST_BITS

#: A table holds 2^k values.
MAX_BITS = 12

#: Fourier coefficients below this share of the largest value are rounding.
_ZERO = 1e-12


@dataclass(frozen=True)
class Junta(AbstractHiddenSet):
    """The learning problem y = table[u], u the bits of the hidden set B read as a number.

    n: number of bits. subset: the set B, 0-based; its first position is the lowest binary digit of
    u. Stored sorted, with the table put in the same order. table: 2^k values, k ≤ 12; ±1 for a
    Boolean function (true is -1, as bit 1 is -1), any finite numbers for a real target. noise: ν in
    [0, 0.5), ±1 tables only. bias: P(x_j = 1), one number for all bits or one per bit.

    >>> conjunction = Junta(5, (1, 3), (1, 1, 1, -1))
    >>> int(conjunction.label(np.array([0, 1, 0, 1, 0])))
    -1
    """

    n: int
    subset: tuple[int, ...]
    table: tuple[float, ...]
    noise: float = 0.0
    bias: float | tuple[float, ...] = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", whole("n", self.n))
        given = tuple(self.subset)
        object.__setattr__(self, "subset", checked_subset(given, self.n))
        whole("k, the number of hidden bits,", self.k, 1, MAX_BITS)
        table = np.asarray(self.table, dtype=np.float64)
        if table.shape != (1 << self.k,):
            need = f"{self.k} hidden bits need a table of {1 << self.k} values"
            raise ValueError(f"{need}, got {table.shape}")
        if not np.isfinite(table).all():
            raise ValueError(f"a table needs finite values, got {shortened(self.table)}")
        digits = [given.index(position) for position in self.subset]
        table = table[bit_patterns(self.k) @ (1 << np.array(digits))]
        object.__setattr__(self, "table", tuple(table.tolist()))
        object.__setattr__(self, "noise", checked_noise(self.noise))
        if self.noise and not self.is_boolean:
            raise ValueError("label noise flips signs and needs a table of +1 and -1")
        object.__setattr__(self, "bias", checked_bias(self.bias, self.n))

    @classmethod
    def of(
        cls,
        n: int,
        subset: Sequence[int],
        function: Callable[[Int[np.ndarray, " k"]], SupportsFloat],
        *,
        noise: float = 0.0,
        bias: float | Sequence[float] = 0.5,
    ) -> "Junta":
        """The junta of a Python function of the k hidden bits, an array of 0 and 1 in the order of
        `subset`. noise, bias: as in `Junta`.

        >>> Junta.of(6, (4, 1), lambda x: 1 - 2 * (x[0] & (1 - x[1]))).table
        (1.0, 1.0, -1.0, 1.0)
        """
        k = whole("k, the number of hidden bits,", len(subset), 1, MAX_BITS)
        values = [float(function(bits)) for bits in bit_patterns(k)]
        return cls(n, tuple(subset), tuple(values), noise, checked_bias(bias, whole("n", n)))

    @classmethod
    def conjunction(cls, n: int, subset: Sequence[int], **options: Unpack[Distribution]) -> "Junta":
        """-1 where all hidden bits are 1."""
        return cls.of(n, subset, lambda x: 1 - 2 * x.all(), **options)

    @classmethod
    def majority(cls, n: int, subset: Sequence[int], **options: Unpack[Distribution]) -> "Junta":
        """-1 where more than half of the hidden bits are 1; k odd."""
        if len(subset) % 2 == 0:
            raise ValueError(f"a majority needs an odd number of bits, got {len(subset)}")
        return cls.of(n, subset, lambda x: 1 - 2 * (2 * x.sum() > len(x)), **options)

    @classmethod
    def not_all_equal(
        cls, n: int, subset: Sequence[int], **options: Unpack[Distribution]
    ) -> "Junta":
        """-1 where the hidden bits differ; the parity for k = 2."""
        return cls.of(n, subset, lambda x: 1 - 2 * (0 < x.sum() < len(x)), **options)

    @classmethod
    def multiplexer(
        cls, n: int, address: Sequence[int], data: Sequence[int], **options: Unpack[Distribution]
    ) -> "Junta":
        """(-1)^x of the data bit that the address bits, lowest digit first, point at.

        >>> Junta.multiplexer(9, (0,), (3, 7)).k
        3
        """
        a = len(address)
        if len(data) != 1 << a:
            raise ValueError(f"{a} address bits point at {1 << a} data bits, got {len(data)}")

        def chosen(x: Int[np.ndarray, " k"]) -> float:
            return float(1 - 2 * x[a + int(x[:a] @ (1 << np.arange(a)))])

        return cls.of(n, (*address, *data), chosen, **options)

    @classmethod
    def from_parities(
        cls, n: int, coefficients: Mapping[tuple[int, ...], float], **options: Unpack[Distribution]
    ) -> "Junta":
        """Σ_S coefficient_S·χ_S, χ_S the parity of the positions S.

        >>> Junta.from_parities(4, {(0,): 0.5, (0, 2): 0.5}).table
        (1.0, -1.0, 0.0, 0.0)
        """
        subset = sorted({j for positions in coefficients for j in positions})

        def total(x: Int[np.ndarray, " k"]) -> float:
            value = dict(zip(subset, 1 - 2 * x.astype(int), strict=True))
            return float(sum(c * np.prod([value[j] for j in s]) for s, c in coefficients.items()))

        return cls.of(n, subset, total, **options)

    @classmethod
    def staircase(cls, n: int, subset: Sequence[int], **options: Unpack[Distribution]) -> "Junta":
        """χ_{1} + χ_{12} + … + χ_{1…k}, the positions in the order given: a real target of leap 1.

        >>> Junta.staircase(8, (5, 2, 6)).leap
        1
        """
        steps = {tuple(subset[: i + 1]): 1.0 for i in range(len(subset))}
        return cls.from_parities(n, steps, **options)

    @property
    def is_boolean(self) -> bool:
        """Whether every value is +1 or -1."""
        return all(abs(value) == 1 for value in self.table)

    @cached_property
    def values(self) -> Float[np.ndarray, " size"]:
        """The table as an array (2^k,)."""
        return np.array(self.table)

    @property
    def by_count(self) -> tuple[float, ...] | None:
        """f at 0, 1, …, k ones; None if f is not a function of that number alone."""
        ones = bit_patterns(self.k).sum(axis=1)
        levels = [self.values[ones == count] for count in range(self.k + 1)]
        if any(np.ptp(level) > 0 for level in levels):
            return None
        return tuple(float(level[0]) for level in levels)

    def labels_unchecked(self, bits: Array) -> Num[Array, "..."]:
        """`label` for arrays (..., n) known to hold bits; whole numbers if every value is ±1."""
        hidden = bits[..., np.asarray(self.subset)].astype(jnp.int32)
        numbers = hidden @ (1 << np.arange(self.k, dtype=np.int32))
        kind = jnp.int8 if self.is_boolean else jnp.result_type(float)
        return jnp.asarray(self.values, kind)[numbers]

    def fourier(self) -> dict[tuple[int, ...], float]:
        """Coefficients f̂(S) = E[f·χ_S] for fair bits, by set of positions; zeros are left out.

        >>> Junta.conjunction(5, (1, 3)).fourier()
        {(): 0.5, (1,): 0.5, (3,): 0.5, (1, 3): -0.5}
        """
        coefficients = walsh_transform(self.values) / len(self.table)
        scale = np.abs(self.values).max()
        patterns, positions = bit_patterns(self.k).astype(bool), np.array(self.subset)
        sets = {
            tuple(positions[pattern].tolist()): float(value)
            for pattern, value in zip(patterns, coefficients, strict=True)
            if abs(value) > _ZERO * scale
        }
        return dict(sorted(sets.items(), key=lambda item: (len(item[0]), item[0])))

    @property
    def relevant(self) -> tuple[int, ...]:
        """The positions that f depends on."""
        return tuple(sorted({j for positions in self.fourier() for j in positions}))

    @property
    def leap(self) -> int:
        """Most bits that must be found at once when the sets of the Fourier expansion are taken in
        the best order; 1 for a staircase, k for a parity, 0 for a constant."""
        sets = [set(positions) for positions in self.fourier()]
        everything: set[int] = set().union(*sets)
        reached: set[int] = set()
        largest = 0
        while reached != everything:
            step = min((each - reached for each in sets if each - reached), key=len)
            largest, reached = max(largest, len(step)), reached | step
        return largest


def walsh_transform(values: Float[np.ndarray, " size"]) -> Float[np.ndarray, " size"]:
    """Σ_x values[x]·(-1)^|S ∧ x| for every bit mask S; size is a power of two.

    >>> walsh_transform(np.array([1.0, 0.0, 0.0, 1.0])).tolist()
    [2.0, 0.0, 0.0, 2.0]
    """
    step = 1
    while step < values.size:
        pairs = values.reshape(-1, 2, step)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], 1).ravel()
        step *= 2
    return values


def bit_patterns(k: int) -> Int[np.ndarray, "size k"]:
    """All 2^k strings of k bits; string number u has bit i equal to (u >> i) & 1."""
    return (np.arange(1 << k)[:, None] >> np.arange(k)[None, :]) & 1


def random_junta(
    key: int,
    n: int,
    k: int,
    *,
    values: Sequence[float] = (-1.0, 1.0),
    noise: float = 0.0,
    bias: float | Sequence[float] = 0.5,
) -> Junta:
    """A random table on a random set, drawn until f depends on all k positions.

    values: what the entries of the table are drawn from, each equally likely.

    >>> random_junta(0, 20, 3).k
    3
    """
    n = whole("n", n, 1, MOST_BITS)
    k = whole("k", k, 1, min(n, MAX_BITS))
    generator = np.random.default_rng(key)
    subset = tuple(generator.choice(n, size=k, replace=False).tolist())
    for _ in range(1000):
        table = tuple(generator.choice(np.asarray(values, float), 1 << k).tolist())
        junta = Junta(n, subset, table, noise, checked_bias(bias, n))
        if len(junta.relevant) == k:
            return junta
    raise ValueError(f"no table of values {values} depends on all {k} bits; give two values")
