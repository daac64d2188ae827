"""One XOR step in other arithmetics."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from paritylab.learning.xor.exact import worst_case, xor_risk
from paritylab.models import Bowl, RandomSigns, attend
from paritylab.precision import float64


def step_in_precision(kind: str, *, n: int, width: int, gain: float, seed: int) -> float:
    """Worst-case error of one step in float64, float32, bfloat16, or float32 with a softmax that
    does not subtract its maximum ("naive"); the hidden pair is positions 0 and 1."""
    dtype = {"naive": "float32"}.get(kind, kind)
    with float64():
        table = RandomSigns.draw(seed, n, width).table
        eta = jnp.asarray(gain * n * n / 2, dtype)
        weights = _weights_after_step(jnp.asarray(table, dtype), eta, naive=kind == "naive")
        return float(worst_case(weights.astype("float64"), jnp.arange(n) < 2, Bowl()).error)


@partial(jax.jit, static_argnames="naive")
def _weights_after_step(
    table: Float[Array, "n width"], eta: Float[Array, ""], *, naive: bool
) -> Float[Array, " n"]:
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
    return weights(-eta * gradient)
