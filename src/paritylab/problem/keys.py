"""Seeds and keys: what a random draw starts from."""

import jax
import numpy as np
from jaxtyping import Array

from paritylab.checks import told

#: An integer seed or a jax key.
Key = int | np.integer | Array
#: Seeds from here on would repeat earlier ones.
MOST_SEEDS = 2**32


def as_key(key: Key) -> Array:
    """A jax key from an integer seed; a key passes unchanged.

    jax repeats its seeds modulo 2³², so larger ones are refused rather than drawn twice.
    """
    if isinstance(key, Array):
        return key
    is_whole = isinstance(key, int | np.integer) and not isinstance(key, bool)
    if not is_whole or not 0 <= key < MOST_SEEDS:
        raise ValueError(f"a seed is a whole number from 0 to 2³² - 1, got {told(key)}")
    return jax.random.key(int(key))
