"""Samples in streams of batches, and every input in chunks."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int8, Num, UInt8, UInt32

from paritylab._support.checks import whole
from paritylab._support.padding import padded_size
from paritylab._support.precision import AnyArray
from paritylab.problem.hidden_set import check_problem
from paritylab.problem.junta import Junta
from paritylab.problem.keys import MOST_SEEDS, Key, as_key as as_key, seed_of as seed_of  # noqa: PLC0414
from paritylab.problem.parity import Parity


class Batch(NamedTuple):
    """Bit strings and their labels in {+1, -1}, noise included; real for a real junta."""

    bits: UInt8[Array, "size n"]
    labels: Num[Array, " size"]


#: Bits that are drawn or listed at once.
_AT_ONCE = 2**33


def fold_keys(key: Array, numbers: np.ndarray) -> Array:
    """fold_in(key, number) for every number (N,), as an array of N keys; one compiled call."""
    padded = np.resize(numbers, padded_size(len(numbers)))
    words = np.asarray(_fold(key, padded))[: len(numbers)]
    keys: Array = jax.random.wrap_key_data(jnp.asarray(words))
    return keys


@jax.jit
def _fold(key: Array, numbers: Array) -> UInt32[Array, "N words"]:
    return jax.random.key_data(jax.vmap(partial(jax.random.fold_in, key))(numbers))


def each_key(keys: Array) -> list[Array]:
    """The keys of an array one by one, without compiling for its length."""
    words = np.asarray(jax.random.key_data(keys))
    return [jax.random.wrap_key_data(jnp.asarray(each)) for each in words]


def normals(key: Key, shape: tuple[int, ...], dtype: type[np.floating] | None = None) -> np.ndarray:
    """What jax.random.normal draws; every number depends on its place alone, so a few sizes are
    compiled for all shapes.

    >>> bool((normals(3, (2, 5)) == jax.random.normal(jax.random.key(3), (2, 5))).all())
    True
    """
    size = int(np.prod(shape))
    kind = jax.dtypes.canonicalize_dtype(float if dtype is None else dtype)
    drawn = jax.random.normal(as_key(key), (padded_size(size),), kind)
    return np.asarray(drawn)[:size].reshape(shape)


def sample(problem: Parity | Junta, key: Key, size: int) -> Batch:
    """`size` labelled samples of the problem.

    >>> sample(Parity(6, (0, 2)), key=0, size=4).bits.shape
    (4, 6)
    """
    check_problem(problem)
    size = whole("size", size, 1, _AT_ONCE // problem.n)
    bits, flips = draw_bits(
        as_key(key), problem.probabilities, problem.noise, size, problem.is_uniform
    )
    return Batch(bits, problem.labels_unchecked(bits) * flips)


def batches(
    problem: Parity | Junta, key: Key, samples: int, batch_size: int = 65536
) -> Iterator[Batch]:
    """`samples` labelled samples as a stream of batches; only one batch is held at a time.

    Batch i is drawn with fold_in(key, i), so a stream can be replayed or entered anywhere.
    """
    check_problem(problem)
    batch_size = whole("batch_size", batch_size, 1)
    samples = whole("samples", samples, 1, MOST_SEEDS * batch_size)  # then keys would repeat
    key = as_key(key)
    for index, start in enumerate(range(0, samples, batch_size)):
        size = min(batch_size, samples - start)
        yield sample(problem, jax.random.fold_in(key, index), size)


def all_bits(n: int, chunk: int = 65536) -> Iterator[UInt8[Array, "size n"]]:
    """All 2^n bit strings in chunks; string number i has bit j equal to (i >> j) & 1.

    >>> [chunk.shape for chunk in all_bits(5, chunk=16)]
    [(16, 5), (16, 5)]
    """
    n, chunk = whole("n", n), whole("chunk", chunk)
    if not 1 <= n <= 40:
        raise ValueError(f"enumeration visits 2^n strings and needs 1 ≤ n ≤ 40, got n={n}")
    size = min(1 << n, 1 << (min(max(1, chunk), _AT_ONCE // n).bit_length() - 1))
    low_bits = size.bit_length() - 1
    low = binary_digits(jnp.arange(size, dtype=jnp.uint32), low_bits)
    for prefix in range(1 << (n - low_bits)):
        high = np.array([(prefix >> j) & 1 for j in range(n - low_bits)], dtype=np.uint8)
        yield jnp.concatenate([low, jnp.broadcast_to(high[None, :], (size, n - low_bits))], axis=1)


@partial(jax.jit, static_argnums=1)
def binary_digits(indices: UInt32[Array, " size"], digits: int) -> UInt8[Array, "size digits"]:
    """The lowest `digits` binary digits of each index, lowest first."""
    shifts = jnp.arange(digits, dtype=indices.dtype)
    return ((indices[:, None] >> shifts[None, :]) & 1).astype(jnp.uint8)


def draw_signs(key: Array, rows: int, n: int) -> Float[Array, "rows n"]:
    """`rows` strings of n fair signs, from packed random bits."""
    packed = packed_signs(key, rows, n)
    return 1 - 2 * jnp.unpackbits(packed, axis=1, count=n).astype(jnp.float32)


def packed_signs(key: Array, rows: int, n: int) -> UInt8[Array, "rows bytes"]:
    """The bits behind `draw_signs`, eight to a byte, highest first; 1 stands for the sign -1."""
    return jax.random.bits(key, (rows, -(-n // 8)), jnp.uint8)


@partial(jax.jit, static_argnums=(3, 4))
def draw_bits(
    key: Array,
    probabilities: Float[AnyArray, " n"],
    noise: Float[AnyArray, ""] | float,
    size: int,
    uniform: bool,
) -> tuple[UInt8[Array, "size n"], Int8[Array, " size"]]:
    """`size` bit strings (size, n) and the signs ±1 by which label noise multiplies labels."""
    n = probabilities.shape[0]
    bits_key, noise_key = jax.random.split(key)
    if uniform:
        bits = jnp.unpackbits(packed_signs(bits_key, size, n), axis=1, count=n)
    else:
        # float32 draws in every mode: the same key gives the same bits with x64 on or off.
        draws = jax.random.uniform(bits_key, (size, n), jnp.float32)
        bits = (draws < probabilities.astype(jnp.float32)[None, :]).astype(jnp.uint8)
    flipped = jax.random.uniform(noise_key, (size,), jnp.float32) < noise
    return bits, (1 - 2 * flipped.astype(jnp.int8)).astype(jnp.int8)
