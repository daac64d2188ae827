"""Risk and gradient from random samples, with standard errors."""

import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from paritylab.checks import whole
from paritylab.models.protocol import Model, parameters_of, with_parameters
from paritylab.precision import float64
from paritylab.problem import Junta, Parity, batches
from paritylab.problem.callables import mark_of, one_call
from paritylab.problem.keys import Key
from paritylab.problem.losses import Loss, Pointwise, as_loss
from paritylab.risk.result import Risk, RiskGradient, check_predicts, outer_derivatives, predictions


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
    _check(problem, samples, batch_size)
    total, squares, mark = 0.0, 0.0, mark_of(model, loss)
    with one_call(model, loss), float64():
        check_predicts(model, problem.n)
        for batch in batches(problem, key, samples, batch_size):
            part, part_squares = _sums(model, batch.bits, batch.labels, loss, mark)
            total += float(part)
            squares += float(part_squares)
        return _risk(loss, total, squares, samples)


def sampled_gradient(
    model: Model,
    problem: Parity | Junta,
    loss: str | Loss | Pointwise = "squared_hinge",
    *,
    samples: int = 100_000,
    key: Key = 0,
    batch_size: int = 4096,
) -> RiskGradient:
    """The risk and its gradient from fresh samples, with standard errors of both.

    The gradient's error is read off the scatter between batches, so at least two are drawn.
    """
    loss = as_loss(loss)
    _check(problem, samples, batch_size)
    batch_size = min(batch_size, -(-samples // 2))
    total, squares, mark = 0.0, 0.0, mark_of(model, loss)
    sizes, means, gradients = [], [], []
    with one_call(model, loss), float64():
        check_predicts(model, problem.n)
        for batch in batches(problem, key, samples, batch_size):
            part, part_squares, gradient = _sums_and_gradient(
                model, batch.bits, batch.labels, loss, mark
            )
            total += float(part)
            squares += float(part_squares)
            sizes.append(len(batch.labels))
            means.append(float(part) / sizes[-1])
            gradients.append(jax.tree.map(lambda g, size=sizes[-1]: np.asarray(g) / size, gradient))
        risk = _risk(loss, total, squares, samples)
        gradient, error = _delta_method(loss, np.array(sizes), np.array(means), gradients)
        return RiskGradient(risk, gradient, error)


def _check(problem: Parity | Junta, samples: int, batch_size: int) -> None:
    whole("batch_size", batch_size, 1)
    if whole("samples", samples) < 2:
        raise ValueError(f"a standard error needs at least 2 samples, got {samples}")


def _risk(loss: Loss, total: float, squares: float, samples: int) -> Risk:
    mean = total / samples
    if math.isnan(mean):
        raise ValueError("the model or the loss is not a number on some input")
    variance = max(0.0, squares / samples - mean**2) * samples / (samples - 1)
    value, slope, _ = outer_derivatives(loss, mean)
    return Risk(value, abs(slope) * math.sqrt(variance / samples), "sampling", "sampled")


def _delta_method(
    loss: Loss, sizes: np.ndarray, means: np.ndarray, gradients: list[object]
) -> tuple[object, object]:
    """Gradient of outer(mean) and its standard error, linearised batch by batch.

    With μ the mean, G its gradient and μ_b, G_b those of batch b, the gradient outer'(μ)·G moves by
    outer'(μ)·(G_b - G) + outer''(μ)·G·(μ_b - μ) if batch b alone counted. The variance of the mean
    over batches of shares w_b is Σ_b w_b² of that squared, times B/(B-1) for B batches.
    """
    share = sizes / sizes.sum()
    mean = float(share @ means)
    _, slope, curvature = outer_derivatives(loss, mean)

    correction = len(sizes) / (len(sizes) - 1)

    def combine(parts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        stacked = np.stack(parts)
        per_batch = (-1,) + (1,) * (stacked.ndim - 1)
        average = np.tensordot(share, stacked, axes=1)
        scatter = slope * (stacked - average) + curvature * average * (means - mean).reshape(
            per_batch
        )
        spread = np.sum((share.reshape(per_batch) * scatter) ** 2, axis=0)
        return np.asarray(slope * average), np.asarray(np.sqrt(correction * spread))

    structure = jax.tree.structure(gradients[0])
    leaves = zip(*map(jax.tree.leaves, gradients), strict=True)
    averages, errors = zip(*map(combine, leaves), strict=True)
    return jax.tree.unflatten(structure, averages), jax.tree.unflatten(structure, errors)


def _statistics(
    parameters: object, model: Model, bits: Array, labels: Array, loss: Loss
) -> tuple[Array, Array]:
    statistic = loss.pointwise(labels, predictions(with_parameters(model, parameters), bits))
    return jnp.sum(statistic), jnp.sum(statistic**2)


@eqx.filter_jit
def _sums(
    model: Model, bits: Array, labels: Array, loss: Loss, mark: object
) -> tuple[Array, Array]:
    """Sums of the statistic and its square; mark: new for a user's model or loss."""
    return _statistics(parameters_of(model), model, bits, labels, loss)


@eqx.filter_jit
def _sums_and_gradient(
    model: Model, bits: Array, labels: Array, loss: Loss, mark: object
) -> tuple[Array, Array, object]:
    """`_sums` and the gradient of the first."""
    sums = jax.value_and_grad(_statistics, has_aux=True)
    (total, squares), gradient = sums(parameters_of(model), model, bits, labels, loss)
    return total, squares, gradient
