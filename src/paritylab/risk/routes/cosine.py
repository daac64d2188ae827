"""Closed form for the readout cos(πs): one frequency, any n, any loss of the lab.

|cos| ≤ 1 makes every hinge a polynomial, so with c = E[y cos πs] and q = E[cos 2πs] all six losses
are simple functions of c and q.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float


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
    weights, indicator, probabilities, contrast
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


_OF_CORRELATION: dict[str, Callable] = {
    "hinge": lambda c: 1 - c,
    "mean_hinge_squared": lambda c: (1 - c) ** 2,
    "correlation": lambda c: -c,
}
