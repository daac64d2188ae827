"""Which inputs a trained model listens to: how much its output changes when one bit is flipped."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

#: Random strings on which outputs are compared.
STRINGS = 256


def influences(
    model: Any, n: int, *, strings: int = STRINGS, seed: int = 0
) -> Float[np.ndarray, " n"]:
    """E[(ŷ(x) - ŷ(x with bit j flipped))²] for every j, over fair random strings.

    model: a predictor of one bit string, any.

    >>> from paritylab import Parity, parity_network
    >>> found = influences(parity_network(Parity(6, (1, 4))), 6)
    >>> np.flatnonzero(found > 1e-6).tolist()
    [1, 4]
    """
    bits = np.random.default_rng(seed).integers(0, 2, (strings, n)).astype(np.float32)
    return np.asarray(_influences(model, bits), dtype=np.float64)


@jax.jit
def _influences(model: Any, bits: Any) -> Float[Array, " n"]:
    made = jax.vmap(model)(bits)

    def of_bit(mask: Any) -> Float[Array, ""]:
        return jnp.mean((jax.vmap(model)(jnp.abs(bits - mask[None])) - made) ** 2)

    return jax.lax.map(of_bit, jnp.eye(bits.shape[1], dtype=bits.dtype))


def most_influential(models: Sequence[Any], n: int, k: int) -> list[tuple[int, ...]]:
    """The k positions each model listens to most, sorted."""
    found = [influences(model, n) for model in models]
    return [tuple(sorted(np.argsort(-each, kind="stable")[:k].tolist())) for each in found]
