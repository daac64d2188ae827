"""The series for a statistic known only by its values: any n, refused where it is not resolved.

Dominant weights are enumerated; over the sum x of the others the statistic becomes one function F,
sampled on a grid, faded out beyond the interval that holds all but 1e-15 of x, and expanded in a
Fourier series. F minus the series, at points off the grid and at random inputs, says how far the
mean may be off.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float
from scipy.special import erf

from paritylab.precision import float64
from paritylab.risk.routes.case import (
    EPS,
    Case,
    Found,
    Looped,
    Statistic,
    Target,
    found_through_outer,
    target_of,
)
from paritylab.risk.routes.characteristic import Layout, characteristic, layout_of
from paritylab.risk.routes.half_sums import partial_sums
from paritylab.risk.routes.moving import dense_characteristic
from paritylab.risk.routes.plan import largest

#: Numbers of enumerated weights that are tried, each with its largest number of terms.
_ATTEMPTS = ((0, 8192), (6, 2048), (10, 256))
_FEWEST_TERMS = 256
#: A loop pays for every term at every step.
_LOOP_TERMS, _LOOP_GOAL = 2048, 1e-6
#: Off by more than this share of the statistic's size, a series is not resolved.
_UNRESOLVED, _LOOP_UNRESOLVED = 1e-4, 1e-3
_OVERSAMPLING = 8
_BLOCK = 4096
_SAMPLES = 1 << 16


class Mix(NamedTuple):
    """F(x) = Σ_u chance_u f(u+x): the statistic with the dominant weights averaged out.

    sums: u (U,). chances: (1+H, 2, U); row 0 for F, row j only where dominant bit j is set.
    slopes: rows of F are then F, F', and the share of F' that belongs to each dominant bit.
    clip: the statistic is not a number beyond [0, k] and is continued by its end values.
    """

    statistic: Statistic
    sums: Float[np.ndarray, " U"]
    chances: Float[np.ndarray, "rows 2 U"]
    slopes: bool
    clip: bool = False

    def __call__(self, x: Float[np.ndarray, " P"]) -> Float[np.ndarray, "rows 2 P"]:
        blocks = np.resize(x, (-(-len(x) // _BLOCK), _BLOCK))
        with float64():
            values = [np.asarray(_mixed(self, block)) for block in blocks]
        return np.concatenate(values, axis=-1)[..., : len(x)]


class Expansion(NamedTuple):
    """F(x) ≈ Re Σ_m c_m e^{iω_m (x - origin)}.

    coefficients: c (rows, 2, M), even and odd part. misses, half_misses: the largest |F - series|
    seen off the grid (rows, 2), with all and with half of the terms. size: the largest |F|
    (rows, 2).
    """

    coefficients: Complex[np.ndarray, "rows 2 M"]
    frequencies: Float[np.ndarray, " M"]
    origin: float
    misses: Float[np.ndarray, "rows 2"]
    half_misses: Float[np.ndarray, "rows 2"]
    size: Float[np.ndarray, "rows 2"]

    def __call__(self, x: Float[np.ndarray, " P"]) -> Float[np.ndarray, "rows 2 P"]:
        turn = np.exp(1j * self.frequencies[1] * (x - self.origin))
        total = np.zeros((*self.coefficients.shape[:2], len(x)), complex)
        for column in np.moveaxis(self.coefficients, -1, 0)[::-1]:
            total = total * turn + column[..., None]
        return total.real

    def about_zero(self) -> Complex[np.ndarray, "rows 2 M"]:
        """Coefficients of e^{iω_m x}."""
        return self.coefficients * np.exp(-1j * self.frequencies * self.origin)


class Split(NamedTuple):
    """Dominant positions, the weights without them, and what of B is left among the others."""

    heavy: np.ndarray
    light: np.ndarray
    subset: np.ndarray


def applies(statistic: Statistic, case: Case | None = None) -> bool:
    """For every statistic; `risk` and `looped` refuse what they cannot resolve."""
    return True


def risk(case: Case) -> Found:
    """Value and slopes with errors measured off the grid and at random inputs."""
    contrast = float(target_of(case.problem).contrast)
    split, mix, expansion = _best(case)
    factors = np.array([1.0, contrast])
    weighted = expansion.about_zero() * factors[:, None]
    layout = layout_of(split.light, split.subset, expansion.frequencies[-1])
    compiled = _gradient if case.slopes else _value
    mean, waves, slopes = compiled(
        split.light,
        case.problem.probabilities,
        weighted[0],
        expansion.frequencies,
        layout,
        fair=case.problem.is_uniform,
    )
    waves, value = np.asarray(waves), float(mean)
    half = np.sum((weighted[0] * waves).real[:, : waves.shape[1] // 2])
    allowed = expansion.misses[0] + expansion.half_misses[0] + 1e-12 * expansion.size[0]
    if not abs(value - half) <= float(allowed.sum()):
        raise ValueError(
            f"the series gives a mean of {value:.6g} and with half its terms {half:.6g}; "
            "use sampled_risk"
        )
    errors = _measured_errors(case, split, mix, expansion, value)
    sizes = np.sum(np.abs(weighted[0] * waves), axis=0)
    rounding = 16 * EPS * float(sizes @ (4 + np.pi * np.arange(len(sizes)))) + 64 * EPS * abs(value)
    slopes_error = None
    if case.slopes:
        slopes = np.array(slopes)
        slopes[split.heavy] = np.sum((weighted[2:] * waves).real, axis=(1, 2))
        slopes_error = float(errors[1:].max()) + rounding * expansion.frequencies[-1]
    return found_through_outer(
        case.statistic.loss,
        value,
        float(errors[0]) + rounding,
        exact=False,
        slopes=slopes,
        slopes_error=slopes_error,
    )


def looped(statistic: Statistic, n: int) -> Looped:
    """The risk for compiled loops: as many terms as reproduce the statistic on all of [0, k]."""
    mix = Mix(statistic, np.zeros(1), np.ones((1, 2, 1)), slopes=False)
    expansion = _expand(mix, 0.0, float(statistic.k), _LOOP_TERMS, _LOOP_GOAL)
    advice = 'train on rows (data="fresh" or "sample") or declare its structure (PiecewiseLinear)'
    _refuse_unresolved(expansion, statistic, _LOOP_UNRESOLVED, advice)
    (coefficients,), frequencies = expansion.about_zero(), expansion.frequencies

    def function(weights: Float[Array, " n"], target: Target) -> Float[Array, ""]:
        plain, signed = dense_characteristic(
            weights, target.indicator, target.probabilities, frequencies[1], len(frequencies)
        )
        terms = coefficients[0] * plain + target.contrast * coefficients[1] * signed
        return statistic.loss.outer(jnp.sum(terms.real))

    rounding = 64 * EPS * float(np.abs(coefficients).sum()) * n**0.5
    return Looped(function, float(expansion.misses.sum()) + rounding)


def _best(case: Case) -> tuple[Split, Mix, Expansion]:
    """The first attempt that reaches the goal, or else the one that misses least."""
    best = None
    for heavy, terms in _ATTEMPTS:
        split, mix, (start, reach) = _attempt(case, min(heavy, case.problem.n - 1))
        expansion = _expand(mix, start, reach, terms, 1e-4 * case.tolerance)
        if best is None or expansion.misses[0].sum() < best[2].misses[0].sum():
            best = split, mix, expansion
        if np.all(expansion.misses <= 1e-4 * case.tolerance * np.maximum(1, expansion.size)):
            break
    assert best is not None
    advice = "use sampled_risk or declare its structure (PiecewiseLinear)"
    _refuse_unresolved(best[2], case.statistic, _UNRESOLVED, advice)
    return best


def _refuse_unresolved(
    expansion: Expansion, statistic: Statistic, share: float, advice: str
) -> None:
    miss, size = float(expansion.misses[0].max()), float(expansion.size[0].max())
    if not miss <= share * size:
        raise ValueError(
            f"{len(expansion.frequencies)} terms miss this readout with loss "
            f"{statistic.loss.name} by {miss:.1g} on [0, {statistic.k}]; {advice}"
        )


def _attempt(case: Case, heavy_count: int) -> tuple[Split, Mix, tuple[float, float]]:
    """Average over the dominant weights; where the sum of the others begins and how far it goes."""
    weights, problem = case.weights, case.problem
    heavy = largest(weights, heavy_count)
    light = weights.copy()
    light[heavy] = 0.0
    with float64():
        parts = (weights[heavy], problem.indicator[heavy], problem.probabilities[heavy])
        sums, chances = map(np.asarray, partial_sums(*map(jnp.asarray, parts)))
    set_bits = (np.arange(len(sums))[None, :] >> np.arange(heavy_count)[:, None]) & 1
    rows = np.concatenate([np.ones((1, len(sums))), set_bits]) if case.slopes else [1.0]
    table = np.stack([row * chances for row in rows])
    # Hoeffding: the light sum is within 4.2·√Σg² of its mean but for 1e-15 of the inputs.
    mean, width = float(light @ problem.probabilities), 4.2 * math.sqrt(float(light @ light))
    low, high = max(0.0, mean - width), min(float(light.sum()), mean + width)
    margin = 1e-9 * problem.k
    subset = np.setdiff1d(problem.subset, heavy).astype(int)
    interval = (low - margin, high - low + 2 * margin)
    return Split(heavy, light, subset), Mix(case.statistic, sums, table, case.slopes), interval


def _expand(mix: Mix, start: float, reach: float, most_terms: int, goal: float) -> Expansion:
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


def _measured_errors(
    case: Case, split: Split, mix: Mix, expansion: Expansion, value: float
) -> Float[np.ndarray, " rows"]:
    """How far the mean and the slopes may be off, from random inputs; refuses a contradiction.

    With r = F - series at N random inputs the error E[r] is bounded by the empirical Bernstein
    inequality at confidence 1 - 1e-6: |mean r| + 5.4·SE + 34·max|r|/N, and always by max|r|.
    """
    rows, _, terms = expansion.coefficients.shape
    costs = (terms * rows, 16 * mix.sums.size, len(split.light))
    budget = (1 << 25) // max(costs)
    x, signs = _draw(case, split, int(np.clip(budget, 256, _SAMPLES)))
    contrast = float(target_of(case.problem).contrast)
    truth = mix(x)
    gap = truth - expansion(x)
    count = len(x)
    most = np.maximum(expansion.misses, np.abs(gap).max(axis=-1)) @ np.array([1.0, abs(contrast)])
    combined = gap[:, 0] + contrast * signs * gap[:, 1]
    centre = np.append(np.abs(combined[:1].mean(axis=1)), np.abs(combined[1:]).mean(axis=1))
    errors = np.minimum(most, centre + 5.4 * combined.std(axis=1) / count**0.5 + 34 * most / count)
    drawn = truth[0, 0] + contrast * signs * truth[0, 1]
    allowed = 5 * drawn.std() / count**0.5 + errors[0] + 1e-9 * expansion.size[0].sum()
    # Rare inputs may all be absent from the sample.
    allowed += 34 * float(np.abs(drawn - value).max()) / count
    if not abs(drawn.mean() - value) <= allowed:
        raise ValueError(
            f"the series gives a mean of {value:.6g} but {count} random inputs give "
            f"{drawn.mean():.6g} ± {drawn.std() / count**0.5:.1g}; use sampled_risk"
        )
    return errors


def _draw(case: Case, split: Split, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Light sums and signs χ of the light positions of B, for `count` random inputs."""
    generator, p = np.random.default_rng(0), case.problem.probabilities
    chunk = max(1, (1 << 22) // len(p))
    x, signs = [], []
    for start in range(0, count, chunk):
        bits = generator.random((min(chunk, count - start), len(p))) < p
        x.append(bits @ split.light)
        signs.append(1.0 - 2.0 * (np.count_nonzero(bits[:, split.subset], axis=1) % 2))
    return np.concatenate(x), np.concatenate(signs)


@eqx.filter_jit
def _mixed(mix: Mix, x: Any) -> Float[Array, "rows 2 P"]:
    """F and, if asked for, its slopes at P points, a few at a time."""
    reach = mix.statistic.k

    def parts(s: Array) -> Array:
        return mix.statistic.parts(jnp.clip(s, 0, reach) if mix.clip else s)

    def some(points: Array) -> Array:
        s = points[None, :] + jnp.asarray(mix.sums)[:, None]
        if not mix.slopes:
            return jnp.einsum("rcu,cup->rcp", jnp.asarray(mix.chances), parts(s))
        values, steep = jax.jvp(parts, (s,), (jnp.ones_like(s),))
        first = jnp.einsum("rcu,cup->rcp", jnp.asarray(mix.chances[:1]), values)
        return jnp.concatenate([first, jnp.einsum("rcu,cup->rcp", jnp.asarray(mix.chances), steep)])

    size = max(1, (1 << 17) // mix.sums.size)
    blocks = jax.lax.map(some, jnp.reshape(jnp.asarray(x), (-1, min(size, len(x)))))
    return jnp.moveaxis(blocks, 0, 2).reshape(*blocks.shape[1:3], -1)


def smooth_mean(
    weights: Float[Array, " n"],
    probabilities: Float[Array, " n"],
    coefficients: Complex[Array, "2 M"],
    frequencies: Float[Array, " M"],
    layout: Layout,
    *,
    fair: bool,
) -> tuple[Float[Array, ""], Complex[Array, "2 M"]]:
    """Re Σ_m [c_m φ(ω_m) + d_m φ_χ(ω_m)], and φ, φ_χ themselves."""
    waves = jnp.stack(characteristic(weights, probabilities, frequencies, layout, fair=fair))
    return jnp.sum((coefficients * waves).real), waves


@partial(jax.jit, static_argnames="fair")
def _value(*arguments: Any, fair: bool) -> tuple[Array, Array, None]:
    return *smooth_mean(*arguments, fair=fair), None


@partial(jax.jit, static_argnames="fair")
def _gradient(*arguments: Any, fair: bool) -> tuple[Array, Array, Array]:
    function = partial(smooth_mean, fair=fair)
    (mean, waves), slopes = jax.value_and_grad(function, has_aux=True)(*arguments)
    return mean, waves, slopes
