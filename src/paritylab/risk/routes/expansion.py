"""A statistic as a Fourier series: dominant weights averaged out, the rest expanded on a grid."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float
from scipy.special import erf

from paritylab.precision import AnyArray, float64
from paritylab.risk.routes.case import Statistic

_FEWEST_TERMS = 256
_OVERSAMPLING = 8
_BLOCK = 4096


class Mix(NamedTuple):
    """F(x) = Σ_u chance_u f(u+x): the statistic with the dominant weights averaged out.

    sums: u (U,). chances: (1+H, parts, U); row 0 for F, row j only where dominant bit j is set.
    Parts of F: even and odd for a parity. A junta's hidden bits are among the dominant ones, and
    the parts for its labels are summed into one. slopes: rows of F are then F, F', and the share of
    F' that belongs to each dominant bit.
    clip: the statistic is not a number beyond [0, k] and is continued by its end values.
    """

    statistic: Statistic
    sums: Float[np.ndarray, " U"]
    chances: Float[np.ndarray, "rows parts U"]
    slopes: bool
    clip: bool = False

    def __call__(self, x: Float[np.ndarray, " P"]) -> Float[np.ndarray, "rows parts P"]:
        blocks = np.resize(x, (-(-len(x) // _BLOCK), _BLOCK))
        with float64():
            values = [np.asarray(_mixed(self, block)) for block in blocks]
        return np.concatenate(values, axis=-1)[..., : len(x)]


class Expansion(NamedTuple):
    """F(x) ≈ Re Σ_m c_m e^{iω_m (x - origin)}.

    coefficients: c (rows, parts, M). misses, half_misses: the largest |F - series| seen off the
    grid (rows, parts), with all and with half of the terms. size: the largest |F| (rows, parts).
    """

    coefficients: Complex[np.ndarray, "rows parts M"]
    frequencies: Float[np.ndarray, " M"]
    origin: float
    misses: Float[np.ndarray, "rows parts"]
    half_misses: Float[np.ndarray, "rows parts"]
    size: Float[np.ndarray, "rows parts"]

    def __call__(self, x: Float[np.ndarray, " P"]) -> Float[np.ndarray, "rows parts P"]:
        turn = np.exp(1j * self.frequencies[1] * (x - self.origin))
        total = np.zeros((*self.coefficients.shape[:2], len(x)), complex)
        for column in np.moveaxis(self.coefficients, -1, 0)[::-1]:
            total = total * turn + column[..., None]
        return total.real

    def about_zero(self) -> Complex[np.ndarray, "rows parts M"]:
        """Coefficients of e^{iω_m x}."""
        return self.coefficients * np.exp(-1j * self.frequencies * self.origin)


def refuse_unresolved(
    expansion: Expansion, statistic: Statistic, share: float, advice: str
) -> None:
    """One clear error if the series misses more than this share of the statistic's size."""
    miss, size = float(expansion.misses[0].max()), float(expansion.size[0].max())
    if not miss <= share * size:
        raise ValueError(
            f"{len(expansion.frequencies)} terms miss this readout with loss "
            f"{statistic.loss.name} by {miss:.1g} on [0, {statistic.k}]; {advice}"
        )


def expand(mix: Mix, start: float, reach: float, most_terms: int, goal: float) -> Expansion:
    """The series on [start, start+R] with the fewest terms that reach the goal, or the most.

    F is multiplied by a window that is 1 on the interval and fades to 0 over R/2 at both ends, so
    that its periodic continuation is as smooth as F itself.
    """
    fade, period, points = reach / 2, 2 * reach, _OVERSAMPLING * most_terms
    step, origin = period / points, start - reach / 2
    x = origin + step * np.arange(points)
    slope = 2 * 5.9 / fade
    window = (erf(slope * (x - start + fade / 2)) - erf(slope * (x - start - reach - fade / 2))) / 2
    values = mix(x)
    if not np.isfinite(values[..., window > 0]).all():
        mix = mix._replace(clip=True)
        values = mix(x)
        if not np.isfinite(values).all():
            what = "readout or loss" if not np.isfinite(values[0]).all() else "slope of the readout"
            raise ValueError(f"the {what} is not a number somewhere on [0, {mix.statistic.k}]")
    spectrum = np.fft.fft(np.where(window > 0, values * window, 0.0))[..., :most_terms] / points
    spectrum[..., 1:] *= 2
    frequencies = 2 * np.pi * np.arange(most_terms) / period
    if mix.slopes:
        spectrum[1] = 1j * frequencies * spectrum[0]
    # A shift that is no simple fraction of the step: a wave hidden from the grid shows here.
    shift = 0.2 + 0.6 * np.random.default_rng(points).random()
    beside = x + shift * step
    inside = (beside >= start) & (beside <= start + reach)
    truth = mix(beside[inside])
    size = np.abs(truth).max(axis=-1)
    terms, half_misses = _FEWEST_TERMS // 2, size
    while True:
        kept = np.zeros((*spectrum.shape[:2], points), complex)
        kept[..., :terms] = spectrum[..., :terms] * np.exp(1j * shift * step * frequencies[:terms])
        misses = np.abs(truth - (points * np.fft.ifft(kept)).real[..., inside]).max(axis=-1)
        enough = terms >= _FEWEST_TERMS and np.all(misses <= goal * np.maximum(1, size))
        if enough or terms >= most_terms:
            series = (spectrum[..., :terms], frequencies[:terms], origin)
            return Expansion(*series, misses, half_misses, size)
        terms, half_misses = 2 * terms, misses


@eqx.filter_jit
def _mixed(mix: Mix, x: Float[AnyArray, " P"]) -> Float[Array, "rows parts P"]:
    """F and, if asked for, its slopes at P points, a few at a time."""
    reach = mix.statistic.k
    rule = "rcu,cup->rcp" if mix.statistic.labels is None else "rcu,cup->rp"

    def mean(chances: AnyArray, values: Array) -> Array:
        found = jnp.einsum(rule, jnp.asarray(chances), values)
        return found if mix.statistic.labels is None else found[:, None]

    def parts(s: Array) -> Array:
        return mix.statistic.parts(jnp.clip(s, 0, reach) if mix.clip else s)

    def some(points: Array) -> Array:
        s = points[None, :] + jnp.asarray(mix.sums)[:, None]
        if not mix.slopes:
            return mean(mix.chances, parts(s))
        values, steep = jax.jvp(parts, (s,), (jnp.ones_like(s),))
        return jnp.concatenate([mean(mix.chances[:1], values), mean(mix.chances, steep)])

    size = max(1, (1 << 17) // mix.sums.size)
    blocks = jax.lax.map(some, jnp.reshape(jnp.asarray(x), (-1, min(size, len(x)))))
    return jnp.moveaxis(blocks, 0, 2).reshape(*blocks.shape[1:3], -1)
