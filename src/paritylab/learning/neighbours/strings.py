"""Labelled strings for the neighbours' nets, drawn outside the compiled loops.

A step of these nets is so small that drawing random numbers inside the loop would take longer to
compile than all runs take to train.
"""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from paritylab.precision import AnyArray
from paritylab.problem import Junta, Parity


class Strings(NamedTuple):
    """packed: strings, 8 bits a byte (..., ceil(n/8)). labels: ±1 (...), noise included."""

    packed: np.ndarray
    labels: np.ndarray


def generator_of(key: jax.Array, number: int) -> np.random.Generator:
    """Stream `number` of one run."""
    words = np.asarray(jax.random.key_data(key)).ravel().tolist()
    return np.random.default_rng([*words, number])


def draw_strings(
    generator: np.random.Generator,
    target: Parity | Junta,
    shape: tuple[int, ...],
    mixture: float = 0.0,
) -> Strings:
    """Strings of the target, of any shape. mixture: share in which the hidden bits share a sign.

    >>> rows = draw_strings(np.random.default_rng(0), Parity(6, (0, 3, 4)), (100,), mixture=1.0)
    >>> bits = np.unpackbits(rows.packed, axis=-1, count=6)
    >>> sorted(set(map(tuple, bits[:, [0, 3, 4]].tolist())))
    [(0, 0, 0), (1, 1, 1)]
    """
    n = target.n
    if target.is_uniform:
        packed = generator.integers(0, 256, (*shape, -(-n // 8)), dtype=np.uint8)
    else:
        bits = generator.random((*shape, n), dtype=np.float32) < target.probabilities
        packed = np.packbits(bits, axis=-1)
    if mixture > 0:
        _share_a_sign(generator, packed, target.subset, mixture)
    hidden = [(packed[..., j >> 3] >> (7 - (j & 7))) & 1 for j in target.subset]
    if isinstance(target, Junta):
        number = sum(bit.astype(np.int32) << place for place, bit in enumerate(hidden))
        labels = target.values[number].astype(np.float32)
    else:
        odd = np.bitwise_xor.reduce(np.stack(hidden)) if hidden else np.zeros(shape, np.uint8)
        labels = np.float32(target.sign) * (1 - 2 * odd.astype(np.float32))
    if target.noise:
        labels = np.where(generator.random(shape) < target.noise, -labels, labels)
    return Strings(packed, labels)


def _share_a_sign(
    generator: np.random.Generator, packed: np.ndarray, subset: tuple[int, ...], mixture: float
) -> None:
    """Set all bits of the subset to one fair bit, in a share of the rows, in place."""
    chosen = generator.random(packed.shape[:-1]) < mixture
    ones = generator.random(packed.shape[:-1]) < 0.5
    mask = np.zeros(packed.shape[-1], dtype=np.uint8)
    for j in subset:
        mask[j >> 3] |= np.uint8(1 << (7 - (j & 7)))
    same = np.where(ones[..., None], packed | mask, packed & ~mask)
    packed[...] = np.where(chosen[..., None], same, packed)


def signs_of(packed: AnyArray, n: int) -> Float[jax.Array, "... n"]:
    """Packed strings (..., ceil(n/8)) as ±1, float32, inside compiled code; bit 1 is -1."""
    bits = jax.numpy.unpackbits(jax.numpy.asarray(packed), axis=-1, count=n)
    return 1 - 2 * bits.astype(jax.numpy.float32)
