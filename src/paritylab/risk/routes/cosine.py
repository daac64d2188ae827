"""Closed form for the readout cos(πs): one frequency, any n, any loss of the lab.

|cos| ≤ 1 makes every hinge a polynomial, so with c = E[y cos πs] and q = E[cos 2πs] all six losses
are simple functions of c and q.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.models.readouts import Cosine
from paritylab.problem.losses import LOSSES
from paritylab.risk.routes.case import EPS, Case, Found, Looped, Statistic, Target, target_of


def applies(statistic: Statistic, case: Case | None = None) -> bool:
    """For cos(πs) and the lab's own losses."""
    return isinstance(statistic.readout, Cosine) and statistic.loss in LOSSES.values()


def risk(case: Case) -> Found:
    """Value and slopes to rounding."""
    target, name = target_of(case.problem), case.statistic.loss.name
    (value, swing), slopes = _value_and_slopes(case.weights, *target, name)
    error = _rounding(case.problem.n, np.asarray(value), np.asarray(swing), name)
    return Found(float(value), float(error), True, slopes if case.slopes else None)


def many(statistic: Statistic, weights: Any, targets: Target) -> tuple[np.ndarray, np.ndarray]:
    """Values and errors (runs,) of weights (runs, n) on stacked targets."""
    name = statistic.loss.name
    values, swings = map(np.asarray, _values(weights, *targets, name))
    return values, _rounding(weights.shape[1], values, swings, name)


def looped(statistic: Statistic, n: int) -> Looped:
    """The risk for compiled loops; as exact as `risk`."""
    name = statistic.loss.name

    def function(weights: Float[Array, " n"], target: Target) -> Float[Array, ""]:
        return cosine_risk(weights, *target.arrays(), name)

    return Looped(function, 64 * EPS * n**0.5)


def _rounding(n: int, values: np.ndarray, swings: np.ndarray, loss: str) -> Any:
    """How far rounding carries values; the logarithm magnifies it where a phase nearly cancels."""
    if loss != "log_correlation":
        return 32 * EPS * (n**0.5 + np.abs(values))
    with np.errstate(divide="ignore"):
        return 32 * EPS * (n**0.5 / np.abs(swings) + np.abs(values))


def _risk_and_swing(
    weights: Any, indicator: Any, probabilities: Any, contrast: Any, loss: str
) -> tuple[Array, Array]:
    """The risk, and the cosine of the phase of E[e^{iπs} χ_B] that it contains as a factor."""
    _, phase = log_characteristic(weights, indicator, probabilities, jnp.pi)
    return cosine_risk(weights, indicator, probabilities, contrast, loss), jnp.cos(phase)


_value_and_slopes = jax.jit(jax.value_and_grad(_risk_and_swing, has_aux=True), static_argnums=4)


@partial(jax.jit, static_argnums=4)
def _values(weights: Any, indicators: Any, probabilities: Any, contrasts: Any, loss: str) -> Any:
    one = jax.vmap(partial(_risk_and_swing, loss=loss))
    return one(weights, indicators, probabilities, contrasts)


def log_characteristic(
    weights: Float[Array, " n"],
    indicator: Float[Array, " n"],
    probabilities: Float[Array, " n"],
    frequency: float,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Modulus (as a logarithm) and phase of E[e^{iωs} Π_{j∈B} (-1)^{x_j}], s = Σ_j g_j x_j.

    Bit j contributes e^{iωg/2}(cos + i(2p-1) sin) off B and e^{iωg/2}((1-2p) cos - i sin) on B, at
    ωg/2; moduli add up in the log domain. indicator: 1 on B; all zeros gives plain E[e^{iωs}].
    """
    half = frequency * weights / 2
    cos, sin, lean = jnp.cos(half), jnp.sin(half), 1 - 2 * probabilities
    on = indicator > 0
    real = jnp.where(on, lean * cos, cos)
    imaginary = jnp.where(on, -sin, -lean * sin)
    modulus = jnp.sum(jnp.log(jnp.hypot(real, imaginary)))
    return modulus, jnp.sum(half + jnp.arctan2(imaginary, real))


def log_correlation(
    weights: Float[Array, " n"],
    indicator: Float[Array, " n"],
    probabilities: Float[Array, " n"],
    contrast: Float[Array, ""],
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """log|E[y cos πs]| and its sign; for fair bits Π_{j∉B} cos(πg_j/2) Π_{j∈B} sin(πg_j/2)."""
    modulus, phase = log_characteristic(weights, indicator, probabilities, jnp.pi)
    swing = jnp.cos(phase) * contrast
    return modulus + jnp.log(jnp.abs(swing)), jnp.sign(swing)


def cosine_risk(
    weights: Float[Array, " n"],
    indicator: Float[Array, " n"],
    probabilities: Float[Array, " n"],
    contrast: Float[Array, ""],
    loss: str,
) -> Float[Array, ""]:
    """The population risk of cos(πs) for one of the lab's losses by name."""
    log_c, sign = log_correlation(weights, indicator, probabilities, contrast)
    if loss == "log_correlation":
        return -log_c
    c = sign * jnp.exp(log_c)
    if loss in _OF_CORRELATION:
        return _OF_CORRELATION[loss](c)
    modulus, phase = log_characteristic(
        weights, jnp.zeros_like(indicator), probabilities, 2 * jnp.pi
    )
    mean_square = (1 + jnp.exp(modulus) * jnp.cos(phase)) / 2
    return 1 - 2 * c + mean_square if loss == "squared_hinge" else (1 - 2 * c + mean_square) / 2


_OF_CORRELATION: dict[str, Callable[[Array], Array]] = {
    "hinge": lambda c: 1 - c,
    "mean_hinge_squared": lambda c: (1 - c) ** 2,
    "correlation": lambda c: -c,
}
