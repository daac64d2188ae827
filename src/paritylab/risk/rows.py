"""Risks from rows of data inside compiled training loops: all inputs, a sample, fresh batches."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from paritylab.problem.losses import Loss
from paritylab.problem.sampling import binary_digits, draw_bits
from paritylab.risk.result import Model, predictions
from paritylab.risk.routes.case import Target

#: Where the gradient comes from: the exact population, all 2^n rows, one sample, fresh batches.
DATA = ("population", "all", "sample", "fresh")
MAX_ALL_BITS = 20


class Rows(NamedTuple):
    """Bit strings, their labels, and the share of each row in the mean."""

    bits: Float[Array, "N n"]
    labels: Float[Array, " N"]
    shares: Float[Array, " N"]


def draw_rows(key: Any, target: Target, size: int, *, uniform: bool) -> Rows:
    """Fresh labelled rows of one target."""
    noise = (1 - jnp.abs(target.contrast)) / 2
    bits, flips = draw_bits(key, target.probabilities, noise, size, uniform)
    bits = bits.astype(jnp.result_type(float))
    return Rows(bits, _labels(bits, target) * flips, jnp.full(size, 1 / size))


def every_row(target: Target) -> Rows:
    """All 2^n strings with their probabilities and noiseless labels."""
    n = target.indicator.shape[0]
    bits = binary_digits(jnp.arange(1 << n, dtype=jnp.uint32), n).astype(jnp.result_type(float))
    p = jnp.asarray(target.probabilities)[None, :]
    shares = jnp.prod(jnp.where(bits > 0, p, 1 - p), axis=1)
    return Rows(bits, _labels(bits, target), shares)


def empirical_risk(model: Model, rows: Rows, loss: Loss, noise: Any = 0.0) -> Float[Array, ""]:
    """outer(Σ share·pointwise); `noise` averages over label flips not yet in the labels."""
    statistic = loss.noisy(rows.labels, predictions(model, rows.bits), noise)
    return loss.outer(rows.shares @ statistic)


def data_risk(
    model: Model, loss: Loss, data: str, samples: int, target: Target, key: Any, uniform: bool
) -> Callable[[Any, Any], Array]:
    """risk(parameters, key of the step) for one run, from rows."""
    if data == "all":
        rows = every_row(target)
        noise = (1 - jnp.abs(target.contrast)) / 2
        return lambda p, _: empirical_risk(model.with_parameters(p), rows, loss, noise)
    if data == "sample":
        rows = draw_rows(key, target, samples, uniform=uniform)
        return lambda p, _: empirical_risk(model.with_parameters(p), rows, loss)

    def fresh(p: Any, step_key: Any) -> Array:
        batch = draw_rows(step_key, target, samples, uniform=uniform)
        return empirical_risk(model.with_parameters(p), batch, loss)

    return fresh


def check_data(data: str, samples: int | None, n: int) -> int:
    """The number of rows a kind of data needs, or a clear error."""
    if data not in DATA:
        raise ValueError(f"data must be one of {', '.join(DATA)}, got {data!r}")
    if data == "all" and n > MAX_ALL_BITS:
        raise ValueError(f'data="all" visits 2^n rows and takes n ≤ {MAX_ALL_BITS}, got n={n}')
    if data in ("sample", "fresh"):
        if samples is None or samples < 1:
            raise ValueError(f'data="{data}" needs samples ≥ 1, got {samples}')
        return samples
    if samples is not None:
        raise ValueError(f'data="{data}" uses no samples, got samples={samples}')
    return 0


def _labels(bits: Array, target: Target) -> Array:
    return jnp.sign(target.contrast) * (1 - 2 * jnp.mod(bits @ target.indicator, 2))
