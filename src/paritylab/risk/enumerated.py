"""Risk and gradient by visiting all 2^n inputs: the reference every other route is held to."""

import math
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from paritylab.models.protocol import Model, parameters_of, with_parameters
from paritylab.precision import float64
from paritylab.problem import Junta, Parity
from paritylab.problem.callables import mark_of, one_call
from paritylab.problem.losses import Loss, Pointwise, as_loss
from paritylab.problem.sampling import binary_digits
from paritylab.risk.result import Risk, RiskGradient, check_predicts, outer_derivatives, predictions
from paritylab.risk.routes.targets import JuntaTarget, Target, labels_at, target_of

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
        check_predicts(model, n)
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
