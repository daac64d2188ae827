"""Seeds and keys: what numbers a draw may be given, so that none is drawn twice."""

import hashlib

import jax
import numpy as np
from jaxtyping import Array, Int

from paritylab._support.checks import whole

#: An integer seed or a jax key.
Key = int | np.integer | Array
#: Seeds, and numbers of runs, from here on would repeat earlier ones.
MOST_SEEDS = 2**32


def as_key(key: Key) -> Array:
    """A jax key from an integer seed; a key passes unchanged.

    jax repeats its seeds modulo 2³², so larger ones are refused rather than drawn twice.
    """
    return key if isinstance(key, Array) else jax.random.key(checked_seed(key))


def checked_seed(seed: int | np.integer) -> int:
    """The seed, refused where jax would repeat another one."""
    return whole("a seed", seed, 0, MOST_SEEDS - 1)


def run_numbers(first: int, runs: int) -> Int[np.ndarray, " runs"]:
    """first, first+1, …: what the key of each run is folded with, refused beyond 2³².

    >>> run_numbers(7, 3).tolist()
    [7, 8, 9]
    """
    first = whole("the number of the first run", first, 0, MOST_SEEDS - runs)
    return np.arange(first, first + runs, dtype=np.uint32)


def seed_of(seed: int, draw: int, many: int = 1000) -> int:
    """A seed for draw number `draw` of at most `many` under a seed.

    Different seeds share none below 2³²/many. Larger ones are hashed: two of their draws agree by
    chance alone.

    >>> seed_of(2, 7), seed_of(2**29, 7) == seed_of(0, 7)
    (2007, False)
    """
    plain = many * seed + draw
    if plain < MOST_SEEDS:
        return plain
    return int.from_bytes(hashlib.blake2b(f"{seed} {draw}".encode(), digest_size=4).digest())
