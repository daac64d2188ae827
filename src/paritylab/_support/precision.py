"""Double precision in jax without a global switch, and what counts as numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import jax
import numpy as np

#: Concrete numbers of a model may be numpy (kept in float64) or jax arrays.
AnyArray = jax.Array | np.ndarray

#: One number, an array of numbers, or a sequence that becomes one.
Numbers = AnyArray | np.generic | float | int | Sequence[float | int | np.generic]


@contextmanager
def float64() -> Iterator[None]:
    """Run the block in float64 with full-precision matrix products; leave `jax.config` alone.

    >>> import jax.numpy as jnp
    >>> with float64():
    ...     print(jnp.asarray(0.5).dtype)
    float64
    """
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield


def keep_float64(value: Numbers) -> AnyArray:
    """A concrete number or array as numpy float64; jax arrays and tracers pass unchanged.

    Models store their numbers this way, so the same model computes in float32 or float64
    depending on where it is called, and loses no digits by having been built elsewhere.
    """
    if isinstance(value, jax.Array):
        return value
    return np.asarray(value, dtype=np.float64)
