"""The population risk as a function that compiled training loops can differentiate."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.readouts import Cosine, Readout
from paritylab.problem import Parity
from paritylab.problem.losses import LOSSES, Loss
from paritylab.risk.routes.cosine import cosine_risk
from paritylab.risk.routes.half_sums import half_sum_mean
from paritylab.risk.routes.moving import dense_characteristic, moving_mean
from paritylab.risk.routes.pieces import pieces_of
from paritylab.risk.routes.series import smooth_coefficients

#: Half-sums cost 2^(n/2); above this the series is faster.
MAX_HALF_SUM_BITS = 24
SMOOTH_TERMS = 256


class Target(NamedTuple):
    """A parity problem as arrays, so that one compiled call serves many targets.

    indicator: 1 on B (n,). probabilities: P(x_j = 1), (n,). contrast: sign·(1-2ν), ().
    """

    indicator: Any
    probabilities: Any
    contrast: Any


def target_of(problem: Parity) -> Target:
    """The problem's arrays."""
    contrast = np.asarray(problem.sign * (1 - 2 * problem.noise), dtype=np.float64)
    return Target(problem.indicator, problem.probabilities, contrast)


def _arrays(target: Target) -> Target:
    return Target(*map(jnp.asarray, target))


WeightRisk = Callable[[Float[Array, " n"], Target], Float[Array, ""]]


def weight_risk(readout: Readout, loss: Loss, n: int, k: int) -> WeightRisk:
    """The population risk of ŷ = readout(Σ_j g_j x_j) as a function of g and the target.

    Exact for the cos readout and for the zigzag up to 24 bits; beyond, and for readouts of your
    own, a series with a fixed number of terms. Call it in float64.
    """
    if isinstance(readout, Cosine) and LOSSES.get(loss.name) is loss:
        return lambda weights, target: cosine_risk(weights, *_arrays(target), loss.name)
    pieces = pieces_of(readout, loss)
    if pieces is not None:
        mean = half_sum_mean if n <= MAX_HALF_SUM_BITS else moving_mean
        return lambda weights, target: loss.outer(mean(weights, *_arrays(target), pieces))
    frequencies, coefficients = smooth_coefficients(readout, loss, float(k), 1.0, SMOOTH_TERMS)

    def smooth(weights, target):
        plain, signed = dense_characteristic(
            weights, target.indicator, target.probabilities, frequencies[1], SMOOTH_TERMS
        )
        terms = coefficients[0] * plain + target.contrast * coefficients[1] * signed
        return loss.outer(jnp.sum(terms.real))

    return smooth
