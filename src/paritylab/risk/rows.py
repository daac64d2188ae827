"""Risks of any model from rows of inputs: all 2^n of them, a sample, rows inside compiled loops.

Enumeration is the reference that every other route is held to; sampling checks what is too large
for it. Inside training loops the rows carry their shares of the mean.
"""

import math
import sys
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.checks import whole
from paritylab._support.precision import AnyArray, float64
from paritylab._support.user_functions import mark_of, one_call
from paritylab.models.protocol import Model, check_model, parameters_of, with_parameters
from paritylab.problem import Junta, Parity, batches
from paritylab.problem.keys import Key
from paritylab.problem.losses import Loss, Pointwise, as_loss
from paritylab.problem.sampling import binary_digits, draw_bits
from paritylab.risk.result import Risk, RiskGradient, outer_derivatives
from paritylab.risk.routes.statistic import JuntaTarget, Target, labels_at, target_of

#: Largest n that enumeration accepts: 2^26 inputs take about a minute on two cores.
MAX_BITS = 26

_CHUNK_BITS = 14


def enumerated_risk(
    model: Model, problem: Parity | Junta, loss: str | Loss | Pointwise = "squared_hinge"
) -> Risk:
    """The population risk, summed over all 2^n inputs in chunks, float64.

    >>> from paritylab.models import parity_network
    >>> problem = Parity(8, (1, 4, 6))
    >>> enumerated_risk(parity_network(problem), problem).value
    0.0
    """
    return _enumerated(model, problem, as_loss(loss), with_gradient=False).risk


def enumerated_gradient(
    model: Model, problem: Parity | Junta, loss: str | Loss | Pointwise = "squared_hinge"
) -> RiskGradient:
    """The population risk and its gradient, summed over all 2^n inputs in chunks, float64."""
    return _enumerated(model, problem, as_loss(loss), with_gradient=True)


def _enumerated(
    model: Model, problem: Parity | Junta, loss: Loss, with_gradient: bool
) -> RiskGradient:
    n = problem.n
    if n > MAX_BITS:
        raise ValueError(
            f"enumeration visits 2^n inputs and accepts n ≤ {MAX_BITS}, got n={n}; "
            "use population_risk or sampled_risk"
        )
    with one_call(model, loss), float64():
        check_model(model, n, trains=False)
        mean, largest, gradient = _sum_over_inputs(
            model, target_of(problem), problem.noise, loss, with_gradient, mark_of(model, loss)
        )
        if math.isnan(mean):
            raise ValueError("the model or the loss is not a number on some input")
        value, slope, _ = outer_derivatives(loss, float(mean))
        # Rounding of an n-term sum, magnified by the largest statistic met on the way.
        error = 64 * n * sys.float_info.epsilon * (1 + float(largest)) * max(1.0, abs(slope))
        gradient = jax.tree.map(lambda g: np.asarray(slope * g), gradient)
        return RiskGradient(Risk(value, error, "enumeration"), gradient)


@eqx.filter_jit
def _sum_over_inputs(
    model: Model,
    target: Target | JuntaTarget,
    noise: float,
    loss: Loss,
    with_gradient: bool,
    mark: object,
) -> tuple[Array, Array, object]:
    """E[statistic], the largest |statistic|, and the gradient of the mean as a tree, or ().

    The low 14 bits are visited at once, the others one value after another: a compiled loop whose
    memory does not grow with n. mark: new for a user's model or loss, which is then traced anew.
    """
    probabilities = target.probabilities
    n = probabilities.shape[0]
    low = min(n, _CHUNK_BITS)
    low_digits = binary_digits(jnp.arange(1 << low, dtype=jnp.uint32), low)

    def chunk_mean(parameters: object, prefix: Array) -> tuple[Array, Array]:
        high_digits = binary_digits(prefix[None].astype(jnp.uint32), n - low)
        high_digits = jnp.broadcast_to(high_digits, (1 << low, n - low))
        bits = jnp.concatenate([low_digits, high_digits], axis=1).astype(jnp.result_type(float))
        y = labels_at(bits, target)
        chance = jnp.prod(jnp.where(bits > 0, probabilities[None], 1 - probabilities[None]), axis=1)
        statistic = loss.noisy(y, predictions(with_parameters(model, parameters), bits), noise)
        return jnp.sum(chance * statistic), jnp.max(jnp.abs(statistic))

    parameters = parameters_of(model)

    def add(
        totals: tuple[Array, Array, object], prefix: Array
    ) -> tuple[tuple[Array, Array, object], None]:
        mean, largest, gradient = totals
        if with_gradient:
            visited = jax.value_and_grad(chunk_mean, has_aux=True)(parameters, prefix)
        else:
            visited = chunk_mean(parameters, prefix), ()
        (part, part_largest), part_gradient = visited
        gradient = jax.tree.map(jnp.add, gradient, part_gradient)
        return (mean + part, jnp.maximum(largest, part_largest), gradient), None

    zero = jnp.zeros(())
    start = (zero, zero, jax.tree.map(jnp.zeros_like, parameters if with_gradient else ()))
    totals, _ = jax.lax.scan(add, start, jnp.arange(1 << (n - low)))
    return totals


def sampled_risk(
    model: Model,
    problem: Parity | Junta,
    loss: str | Loss | Pointwise = "squared_hinge",
    *,
    samples: int = 100_000,
    key: Key = 0,
    batch_size: int = 65536,
) -> Risk:
    """The risk as a mean over fresh samples; `.error` is one standard error.

    For losses that are functions of a mean the error comes from the delta method,
    |outer'(mean)|·SE(mean).
    """
    loss = as_loss(loss)
    whole("batch_size", batch_size, 1)
    if whole("samples", samples) < 2:
        raise ValueError(f"a standard error needs at least 2 samples, got {samples}")
    total, squares, mark = 0.0, 0.0, mark_of(model, loss)
    with one_call(model, loss), float64():
        check_model(model, problem.n, trains=False)
        for batch in batches(problem, key, samples, batch_size):
            part, part_squares = _sums(model, batch.bits, batch.labels, loss, mark)
            total += float(part)
            squares += float(part_squares)
        mean = total / samples
        if math.isnan(mean):
            raise ValueError("the model or the loss is not a number on some input")
        variance = max(0.0, squares / samples - mean**2) * samples / (samples - 1)
        value, slope, _ = outer_derivatives(loss, mean)
    return Risk(value, abs(slope) * math.sqrt(variance / samples), "sampling", "sampled")


@eqx.filter_jit
def _sums(
    model: Model, bits: Array, labels: Array, loss: Loss, mark: object
) -> tuple[Array, Array]:
    """Sums of the statistic and its square; mark: new for a user's model or loss."""
    statistic = loss.pointwise(labels, predictions(model, bits))
    return jnp.sum(statistic), jnp.sum(statistic**2)


def predictions(model: Model, bits: AnyArray) -> Array:
    """Predictions for a batch of bit strings; the model sees one at a time."""
    return jax.vmap(model)(jnp.asarray(bits, jnp.result_type(float)))


class WeightedRows(NamedTuple):
    """Bit strings, their labels, and the share of each row in the mean."""

    bits: Float[Array, "N n"]
    labels: Float[Array, " N"]
    shares: Float[Array, " N"]


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
