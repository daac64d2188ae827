"""Risk and gradient of the XOR weights from rows, one batch of them in memory at a time."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from paritylab.models.readouts import Readout
from paritylab.precision import AnyArray
from paritylab.problem.losses import Loss
from paritylab.problem.sampling import draw_bits


def batch_rows(n: int, samples: int) -> int:
    """Rows drawn at a time; a function of the problem alone, so that a key gives the same rows in
    blocks of any size."""
    return min(samples, max(16, min(4096, (1 << 20) // n)))


def rows_risk(
    weights: Float[Array, " n"],
    pair: Int[AnyArray, "2"],
    key: PRNGKeyArray,
    samples: int,
    *,
    readout: Readout,
    loss: Loss,
    noise: Float[AnyArray, ""] | float = 0.0,
    probabilities: Float[AnyArray, " n"] | None = None,
) -> tuple[Float[Array, ""], Float[Array, " n"]]:
    """The risk of weights g on `samples` rows drawn by `key`, and ∂risk/∂g = outer'·Xᵀr/N.

    pair: i and j. noise: ν. probabilities: P(bit = 1) of every position, fair bits if None.
    """
    n, size = weights.shape[0], batch_rows(weights.shape[0], samples)
    fair = probabilities is None
    chances = jnp.full(n, 0.5, weights.dtype) if probabilities is None else probabilities
    visit = jax.vmap(jax.value_and_grad(lambda z, y: loss.pointwise(y, readout(z))))

    def batch(totals: tuple[Array, Array], index: Array) -> tuple[tuple[Array, Array], None]:
        bits, flips = draw_bits(jax.random.fold_in(key, index), chances, noise, size, fair)
        signs = 1 - 2 * bits.astype(weights.dtype)
        labels = -signs[:, pair[0]] * signs[:, pair[1]] * flips
        values, forces = visit(signs @ weights, labels)
        kept = index * size + jnp.arange(size) < samples
        value, force = totals
        value = value + jnp.sum(jnp.where(kept, values, 0))
        return (value, force + jnp.where(kept, forces, 0) @ signs), None

    start = (jnp.zeros((), weights.dtype), jnp.zeros(n, weights.dtype))
    (value, force), _ = jax.lax.scan(batch, start, jnp.arange(-(-samples // size)))
    risk, slope = jax.value_and_grad(loss.outer)(value / samples)
    return risk, slope * force / samples
