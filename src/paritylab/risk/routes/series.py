"""The expectation of declared pieces as a series of characteristic functions: any n.

Dominant weights are enumerated, and for each of their partial sums u the function f(u+·) is
expanded in cosines on an interval around the mean of the other weights' sum that holds all but
1e-15 of it.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Complex, Float, Int

from paritylab.precision import AnyArray
from paritylab.risk.routes.characteristic import Layout, characteristic
from paritylab.risk.routes.pieces import Pieces
from paritylab.risk.routes.sums import head_sums
from paritylab.risk.routes.targets import Labelled, Target


class Plan(NamedTuple):
    """How a series is summed; chosen outside compiled code.

    heavy: positions to enumerate, first those of B for a junta. layout: which of the
    others get a factor of their own. frequencies: M of them. reach: R, the length of the interval
    of expansion. start: where it begins.
    """

    heavy: Int[AnyArray, " H"]
    layout: Layout
    frequencies: Float[AnyArray, " M"]
    reach: Float[AnyArray, ""]
    start: Float[AnyArray, ""]


def kinked_mean(
    weights: Float[Array, " n"],
    target: Target | Labelled,
    pieces: Pieces,
    plan: Plan,
    *,
    fair: bool,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """What `half_sum_mean` gives, and the total kink that limits the truncation.

    The second number K bounds the coefficients left out: |a_m| ≤ 2K/(R ω_m²).
    """
    head = head_sums(weights, target, plan.heavy)
    light = weights.at[plan.heavy].set(0.0)
    frequencies = jnp.asarray(plan.frequencies)
    coefficients, kink = cosine_coefficients(
        head.sums + plan.start, head.chances, pieces, frequencies, plan.reach
    )
    waves = characteristic(
        light, jnp.asarray(target.probabilities), frequencies, plan.layout, fair=fair
    )
    terms = joined_waves(coefficients, *waves, target) * jnp.exp(-1j * frequencies * plan.start)
    return jnp.sum(terms.real), kink


def joined_waves(
    coefficients: Float[Array, "rows M"],
    plain: Complex[Array, " M"],
    signed: Complex[Array, " M"],
    target: Target | Labelled,
) -> Complex[Array, " M"]:
    """Σ of coefficients times waves; a junta's B is enumerated, so that all rows share one wave."""
    if isinstance(target, Labelled):
        return jnp.sum(coefficients, axis=0) * plain
    return coefficients[0] * plain + coefficients[1] * signed


def cosine_coefficients(
    shifts: Float[Array, " U"],
    chances: Float[Array, "rows U"],
    pieces: Pieces,
    frequencies: Float[Array, " M"],
    reach: Float[AnyArray, ""] | float,
) -> tuple[Float[Array, "rows M"], Float[Array, ""]]:
    """Σ_u chance_u·a_m(u) for every row of the pieces: cosine series of f(u+x) on [0, R].

    a_m = (2/(Rω²)) {(-1)^m f'(u+R) - f'(u) - Σ_p [slope_p cos ωx_p - curve_p sin(ωx_p)/ω]}, the sum
    over the knots x_p = t_p - u inside (0, R); a_0 is the mean of f(u+·) over [0, R].
    """
    terms = frequencies.shape[0]
    omega = jnp.where(frequencies > 0, frequencies, 1.0)
    scale = 2 / (reach * omega**2)
    alternating = jnp.where(jnp.arange(terms) % 2 == 0, 1.0, -1.0)

    def of_knot(knot: tuple[Array, Array, Array]) -> tuple[Array, ...]:
        t, slope, curve = knot
        x = (t - shifts)[None, :]
        inside = (x > 0) & (x < reach)
        near_end = slope[:, None] * (x < reach) + curve[:, None] * jnp.maximum(reach - x, 0)
        near_start = slope[:, None] * (x <= 0) + curve[:, None] * jnp.maximum(-x, 0)
        means = _mean_over_interval(x, slope[:, None], curve[:, None], reach)
        turns = powers(jnp.exp(1j * jnp.pi / reach * jnp.where(inside, x, 0.0))[0], terms)
        cos, sin = (chances * inside) @ turns.real.T, (chances * inside) @ turns.imag.T
        waves = slope[:, None] * cos - curve[:, None] * sin / omega[None, :]
        kink = jnp.sum(jnp.abs(chances) * inside * jnp.abs(slope)[:, None])
        return means, near_end, near_start, waves, kink

    table = (jnp.asarray(pieces.knots), jnp.asarray(pieces.slope).T, jnp.asarray(pieces.curve).T)
    means, ends, starts, waves, kink = _sum_over_knots(of_knot, table, shifts.size * terms)
    means = means + jnp.asarray(pieces.start)[:, None]
    ends, starts = jnp.sum(chances * ends, axis=1), jnp.sum(chances * starts, axis=1)
    edges = ends[:, None] * alternating[None, :] - starts[:, None]
    constant = jnp.sum(chances * means, axis=1)
    coefficients = jnp.asarray(scale[None, :] * (edges - waves)).at[:, 0].set(constant)
    return coefficients, kink + jnp.sum(jnp.abs(ends)) + jnp.sum(jnp.abs(starts))


def _sum_over_knots(
    of_knot: Callable[[tuple[Array, Array, Array]], tuple[Array, ...]],
    table: tuple[Array, Array, Array],
    size: int,
) -> tuple[Array, ...]:
    """Σ_p of_knot(p): all at once while that fits a cache, one by one beyond."""
    if size * len(table[0]) <= 2**18:
        return tuple(jnp.sum(terms, axis=0) for terms in jax.vmap(of_knot)(table))
    shapes = jax.eval_shape(of_knot, jax.tree.map(lambda a: a[0], table))
    zeros = tuple(jnp.zeros(each.shape, each.dtype) for each in shapes)

    def add(
        totals: tuple[Array, ...], knot: tuple[Array, Array, Array]
    ) -> tuple[tuple[Array, ...], None]:
        return tuple(map(jnp.add, totals, of_knot(knot))), None

    return jax.lax.scan(add, zeros, table)[0]


def powers(z: Complex[Array, " size"], terms: int) -> Complex[Array, "terms size"]:
    """z⁰ … z^(M-1) by doubling: a cosine per entry would cost ten times as much."""
    table = jnp.ones((1, *z.shape), z.dtype)
    while table.shape[0] < terms:
        table, z = jnp.concatenate([table, table * z[None]]), z * z
    return table[:terms]


def _mean_over_interval(
    x: Array, slope: Array, curve: Array, reach: Float[AnyArray, ""] | float
) -> Array:
    """Mean over [0, R] of slope·(·-x)₊ + curve·(·-x)₊²/2, without cancellation."""
    before, inside = x <= 0, (x > 0) & (x < reach)
    beyond = reach - x
    line = jnp.where(before, reach / 2 - x, jnp.where(inside, beyond**2 / (2 * reach), 0.0))
    square = jnp.where(
        before, reach**2 / 3 - reach * x + x**2, jnp.where(inside, beyond**3 / (3 * reach), 0.0)
    )
    return jnp.asarray(slope * line + curve / 2 * square)
