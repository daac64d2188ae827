"""One XOR step in other arithmetics."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.learning.xor.exact import worst_case, xor_risk
from paritylab.models import Bowl, RandomSigns, attend
from paritylab.precision import float64


def steps_in_precision(
    kind: str, *, n: int, width: int, gains: Any, seed: int
) -> Float[np.ndarray, " gains"]:
    """Worst-case error of one step at each gain in float64, float32, bfloat16, or float32 with a
    softmax that does not subtract its maximum ("naive"); the hidden pair is positions 0 and 1."""
    dtype = {"naive": "float32"}.get(kind, kind)
    with float64():
        table = RandomSigns.draw(seed, n, width).table
        etas = jnp.asarray(np.asarray(gains) * n * n / 2, dtype)
        return np.asarray(_errors(jnp.asarray(table, dtype), etas, naive=kind == "naive"))


@partial(jax.jit, static_argnames="naive")
def _errors(
    table: Float[Array, "n width"], etas: Float[Array, " gains"], *, naive: bool
) -> Float[Array, " gains"]:
    on_pair = jnp.arange(table.shape[0]) < 2

    def weights(direction: Array) -> Array:
        scores = table @ direction
        if naive:
            terms = jnp.exp(scores)
            return terms / jnp.sum(terms)
        return attend(scores)

    zero = jnp.zeros(table.shape[1], table.dtype)
    # Two equal heads share the gradient of their common direction.
    gradient = jax.grad(lambda direction: xor_risk(weights(direction), on_pair))(zero) / 2

    def error(eta: Array) -> Array:
        g = weights(-eta * gradient).astype("float64")
        return jnp.asarray(worst_case(g, on_pair, Bowl()).error)

    return jax.lax.map(error, etas)
