"""Risk from random samples, with its standard error: the sibling that checks every route."""

import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from paritylab.checks import whole
from paritylab.models.protocol import Model
from paritylab.precision import float64
from paritylab.problem import Junta, Parity, batches
from paritylab.problem.callables import mark_of, one_call
from paritylab.problem.keys import Key
from paritylab.problem.losses import Loss, Pointwise, as_loss
from paritylab.risk.result import Risk, check_predicts, outer_derivatives, predictions


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
        check_predicts(model, problem.n)
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
