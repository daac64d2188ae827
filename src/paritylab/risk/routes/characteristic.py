"""Characteristic functions of the attended sum for many frequencies, O(n + n_large·M).

The bits are independent, so with s = Σ_j g_j x_j

    E e^{iωs} = Π_j (1 - p_j + p_j e^{iωg_j}),    E e^{iωs} χ_B = the same, with -p_j for j in B.

Every factor turned by e^{-iωg/2} is cos(ωg/2) - i(1-2p) sin(ωg/2), real for fair bits, and for a
bit of B (1-2p) cos(ωg/2) - i sin(ωg/2). A million factors at thousands of frequencies would cost
n·M. But a position with a small weight enters only through power sums Σ_j g_j^r: the logarithm of
its factor is a short series in ωg, whose coefficients are the cumulants of a bit. Only the
positions of B and the few large weights get a factor of their own.
"""

from functools import cache
from math import factorial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float, Inexact, Int

from paritylab._support.precision import AnyArray

#: A weight is small if ω·g/2 stays below this; the series below is then good to about 1e-12.
SMALL_HALF_ANGLE = 0.25
#: Powers of ωg in that series, and weights that are summed at a time, which fit a cache.
_ORDER, _CHUNK = 12, 8192
#: Coefficients of x², x⁴, … x^_ORDER in log cos x.
_LOG_COS = (-1 / 2, -1 / 12, -1 / 45, -17 / 2520, -31 / 14175, -691 / 935550)


class Layout(NamedTuple):
    """Which positions get a factor of their own.

    subset: positions of B. large: other positions with large weights, padded with n (out of
    range). Both are chosen outside compiled code.
    """

    subset: Int[AnyArray, " k"]
    large: Int[AnyArray, " L"]


def characteristic(
    weights: Float[Array, " n"],
    probabilities: Float[Array, " n"],
    frequencies: Float[Array, " M"],
    layout: Layout,
    *,
    fair: bool,
) -> tuple[Array, Array]:
    """E[e^{iωs}] and E[e^{iωs} Π_{j∈B} (-1)^{x_j}] at every frequency, s = Σ_j g_j x_j.

    fair: every probability is 1/2, which keeps all factors real.
    """
    rest = weights.at[layout.subset].set(0.0).at[layout.large].set(0.0, mode="drop")
    bulk = _small_factor(rest, probabilities, frequencies, fair)

    def take(a: Array, index: AnyArray) -> Array:
        return a.at[index].get(mode="fill", fill_value=0.0)

    half = frequencies[:, None] / 2
    inside = half * weights[layout.subset][None, :]
    large = half * take(weights, layout.large)[None, :]
    if fair:
        common, turn = bulk * product(jnp.cos(large)), (-1j) ** layout.subset.shape[0]
        plain, signed = product(jnp.cos(inside)), product(jnp.sin(inside))
    else:
        lean, turn = 1 - 2 * probabilities[layout.subset][None, :], 1.0
        lean_large = 1 - 2 * take(probabilities, layout.large)[None, :]
        common = bulk * product(jnp.cos(large) - 1j * lean_large * jnp.sin(large))
        plain = product(jnp.cos(inside) - 1j * lean * jnp.sin(inside))
        signed = product(lean * jnp.cos(inside) - 1j * jnp.sin(inside))
    carrier = jnp.exp(1j * frequencies * jnp.sum(weights) / 2) * common
    return carrier * plain, turn * carrier * signed


def dense_characteristic(
    weights: Float[Array, " n"],
    indicator: Float[AnyArray, " n"],
    probabilities: Float[AnyArray, " n"],
    base: Float[AnyArray, ""] | float,
    terms: int,
) -> tuple[Complex[Array, " M"], Complex[Array, " M"]]:
    """E[e^{iωs}] and E[e^{iωs} χ_B] at ω = 0, base, 2·base, …: one factor per position."""
    turns = powers(jnp.exp(1j * base * weights), terms)
    p, signs = jnp.asarray(probabilities)[None, :], 1 - 2 * jnp.asarray(indicator)[None, :]
    return product(1 - p + p * turns), product(1 - p + signs * p * turns)


def powers(z: Complex[Array, " size"], terms: int) -> Complex[Array, "terms size"]:
    """z⁰ … z^(M-1) by doubling: a cosine per entry would cost ten times as much."""
    table = jnp.ones((1, *z.shape), z.dtype)
    while table.shape[0] < terms:
        table, z = jnp.concatenate([table, table * z[None]]), z * z
    return table[:terms]


def product(factors: Inexact[Array, "M n"]) -> Inexact[Array, " M"]:
    """Product over positions, pairwise: its derivative is as cheap as itself.

    `jnp.prod` would multiply all the others anew for every factor's derivative.
    """
    n = factors.shape[1]
    if n == 0:
        return jnp.ones(factors.shape[0], factors.dtype)
    padding = jnp.ones((factors.shape[0], (1 << (n - 1).bit_length()) - n), factors.dtype)
    factors = jnp.concatenate([factors, padding], axis=1)
    while (size := factors.shape[1]) > 1:
        factors = factors[:, : size // 2] * factors[:, size // 2 :]
    return factors[:, 0]


def _small_factor(
    weights: Float[Array, " n"],
    probabilities: Float[Array, " n"],
    frequencies: Float[Array, " M"],
    fair: bool,
) -> Array:
    """Π over small weights of the factor without its turn e^{iωg/2}, by power sums.

    For fair bits log Π cos(ωg_j/2) = Σ_r c_r (ω/2)^{2r} Σ_j g_j^{2r}, with log cos x = Σ_r c_r
    x^{2r}. For others log E e^{iωgx} = Σ_r κ_r(p) (iωg)^r / r!; its first term loses the turn.
    """
    if fair:
        sums, exponent = _even_power_sums(weights), jnp.zeros_like(frequencies)
        for order, coefficient in enumerate(_LOG_COS, start=1):
            exponent = exponent + coefficient * sums[order - 1] * (frequencies / 2) ** (2 * order)
        return jnp.exp(exponent)
    exponent = 1j * frequencies * jnp.sum((probabilities - 0.5) * weights)
    power = weights
    for order in range(2, _ORDER + 1):
        power = power * weights
        cumulant = jnp.polyval(jnp.asarray(_bernoulli_cumulant(order)), probabilities)
        total = jnp.sum(cumulant * power) / factorial(order)
        exponent = exponent + total * (1j * frequencies) ** order
    return jnp.exp(exponent)


@jax.custom_vjp
def _even_power_sums(weights: Float[Array, " n"]) -> Float[Array, " orders"]:
    """Σ g², Σ g⁴, … in one pass over memory.

    The backward pass is one polynomial per weight; automatic differentiation would walk through
    memory once per order, both ways.
    """
    sums: Array = jax.lax.platform_dependent(weights, cpu=_sums_of_chunks, default=_sums_at_once)
    return sums


def _sums_of_chunks(weights: Float[Array, " n"]) -> Float[Array, " orders"]:
    """One chunk after the other, each small enough for a cache: an accelerator would start a
    thousand kernels and wait for each."""
    size = min(_CHUNK, weights.shape[0])
    whole = weights.shape[0] // size * size

    def add(totals: Array, chunk: Array) -> tuple[Array, None]:
        return totals + _sums_at_once(chunk), None

    start = _sums_at_once(weights[whole:])
    return jax.lax.scan(add, start, weights[:whole].reshape(-1, size))[0]


def _sums_at_once(weights: Float[Array, " some"]) -> Float[Array, " orders"]:
    square = weights**2
    powers = [square]
    for _ in range(_ORDER // 2 - 1):
        powers.append(powers[-1] * square)
    return jnp.stack([jnp.sum(power) for power in powers])


def _power_sums_forward(weights: Array) -> tuple[Array, Array]:
    return _even_power_sums(weights), weights


def _power_sums_backward(weights: Array, cotangents: Array) -> tuple[Array]:
    square, slope = weights**2, jnp.zeros_like(weights)
    for order in range(_ORDER // 2, 0, -1):
        slope = slope * square + 2 * order * cotangents[order - 1]
    return (slope * weights,)


_even_power_sums.defvjp(_power_sums_forward, _power_sums_backward)


@cache
def _bernoulli_cumulant(order: int) -> tuple[float, ...]:
    """κ_r of a bit as a polynomial in p, highest power first: κ_1 = p, κ_{r+1} = p(1-p) κ_r'."""
    polynomial = np.poly1d([1.0, 0.0])
    for _ in range(order - 1):
        polynomial = np.poly1d([-1.0, 1.0, 0.0]) * polynomial.deriv()
    return tuple(polynomial.coeffs)
