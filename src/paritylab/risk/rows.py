"""Risks from rows of data inside compiled training loops: all inputs, a sample, fresh batches."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from paritylab.models.protocol import Model
from paritylab.precision import AnyArray
from paritylab.problem.losses import Loss
from paritylab.problem.sampling import binary_digits, draw_bits
from paritylab.risk.result import predictions
from paritylab.risk.routes.targets import JuntaTarget, Target, labels_at


class WeightedRows(NamedTuple):
    """Bit strings, their labels, and the share of each row in the mean."""

    bits: Float[Array, "N n"]
    labels: Float[Array, " N"]
    shares: Float[Array, " N"]


Rows = WeightedRows


def draw_rows(
    key: Array, target: Target | JuntaTarget, size: int, *, uniform: bool
) -> WeightedRows:
    """Fresh labelled rows of one target."""
    noise = (1 - jnp.abs(target.contrast)) / 2
    bits, flips = draw_bits(key, target.probabilities, noise, size, uniform)
    bits = bits.astype(jnp.result_type(float))
    return WeightedRows(bits, labels_at(bits, target) * flips, jnp.full(size, 1 / size))


def every_row(target: Target | JuntaTarget) -> WeightedRows:
    """All 2^n strings with their probabilities and noiseless labels."""
    n = target.probabilities.shape[0]
    bits = binary_digits(jnp.arange(1 << n, dtype=jnp.uint32), n).astype(jnp.result_type(float))
    p = jnp.asarray(target.probabilities)[None, :]
    shares = jnp.prod(jnp.where(bits > 0, p, 1 - p), axis=1)
    return WeightedRows(bits, labels_at(bits, target), shares)


def empirical_risk(
    model: Model, rows: WeightedRows, loss: Loss, noise: AnyArray | float = 0.0
) -> Float[Array, ""]:
    """outer(Σ share·pointwise); `noise` averages over label flips not yet in the labels."""
    statistic = loss.noisy(rows.labels, predictions(model, rows.bits), noise)
    return loss.outer(rows.shares @ statistic)
