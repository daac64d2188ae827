"""The series for a statistic known only by its values: any n, with an estimated error.

Dominant weights are enumerated. Over the sum x of the others the statistic becomes one function
F(x) = Σ_u P(u) f(u+x). It is sampled on a grid over the interval that holds all but 1e-15 of x,
faded out beyond, and expanded in a Fourier series by a fast transform; the mean is
Σ_m c_m E[e^{iω_m x}], and each expectation is a product over positions. Smooth functions need few
terms. A jump needs many, unless the product falls first; more enumerated weights then blur it.

The same is done with every other point and half the terms. The error is four times the sum of what
the two series differ by, term by term, without cancellation. It is an estimate, not a bound: a
feature narrower than the grid (a value at one sum, a spike) leaves no trace in either series.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float
from scipy.special import erf

from paritylab.problem import Junta
from paritylab.risk.routes.characteristic import (
    Layout,
    characteristic,
    dense_characteristic,
    powers,
)
from paritylab.risk.routes.half_sums import head_sums
from paritylab.risk.routes.series import heaviest, layout_of
from paritylab.risk.routes.statistic import (
    EPS,
    Case,
    JuntaTarget,
    RouteRisk,
    Statistic,
    Target,
    WeightRisk,
    evaluated,
    labelled,
    risk_through_outer,
)

#: Numbers of enumerated weights that are tried, each with its largest number of terms.
_ATTEMPTS = ((0, 8192), (6, 2048), (10, 512))
_FEWEST_TERMS = 256
#: A loop pays for every term at every step.
_LOOP_TERMS, _LOOP_GOAL = 2048, 1e-6
#: Off by more than this share of the statistic's size, a series is not resolved.
_UNRESOLVED, _LOOP_UNRESOLVED = 1e-4, 1e-3
#: Off by more than this share of the size at a typical point, the grid does not see the function.
_BLIND = 1e-3
#: The error is so many times what fine and coarse series differ by: at a jump the fine one is off
#: by about as much as it differs from the coarse one.
_SAFETY = 4
#: Points of the grid for every term, on twice the interval.
_OVERSAMPLING = 4

#: F (rows, parts, P) at points x (P,).
_Function = Callable[[np.ndarray], np.ndarray]


class Expansion(NamedTuple):
    """F(x) ≈ Re Σ_m c_m e^{iω_m x}.

    coarse: the same from half the grid, zero from M/2 on. size: the largest |F| seen. blind: the
    mean of |F - series| at random points where that is no small share of the size, or else 0: a
    wave faster than the grid shows here.
    """

    fine: Complex[np.ndarray, "rows parts M"]
    coarse: Complex[np.ndarray, "rows parts M"]
    frequencies: Float[np.ndarray, " M"]
    size: float
    blind: float


def risk(case: Case) -> RouteRisk:
    """Value and slopes of the first attempt that reaches the tolerance, or of the best."""
    best, goal = None, 1e-3 * case.tolerance
    for heavy, most in _ATTEMPTS:
        split = _split(case, min(heavy, case.problem.n - 1))
        terms = min(2 * _FEWEST_TERMS, most)
        while True:
            found = _summed(case, split, terms)
            if best is None or found.error < best.error:
                best = found
            if found.error <= goal * max(1.0, found.size) or terms >= most:
                break
            terms *= 2
        if best.error <= goal * max(1.0, best.size):
            break
    assert best is not None
    advice = "use sampled_risk or declare its structure (PiecewiseLinear)"
    _refuse_unresolved(case.statistic, best.terms, best.error, _UNRESOLVED * best.size, advice)
    return risk_through_outer(
        case.statistic.loss,
        best.mean,
        best.error + best.rounding,
        exact=False,
        slopes=best.slopes,
        slopes_error=best.slopes_error,
    )


def in_loop(statistic: Statistic, n: int) -> WeightRisk:
    """The risk for compiled loops: as many terms as reproduce the statistic on all of [0, k].

    A parity needs its even and odd part. A junta has a wave for every label, each averaged over
    the values of the hidden bits.
    """
    expansion = _loop_expansion(statistic)
    coefficients, (_, base, *_) = expansion.fine[0], expansion.frequencies
    terms, outer = len(expansion.frequencies), statistic.loss.outer

    def parity(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        assert isinstance(target, Target)
        plain, signed = dense_characteristic(
            weights, target.indicator, target.probabilities, base, terms
        )
        waves = coefficients[0] * plain + target.contrast * coefficients[1] * signed
        return outer(jnp.sum(waves.real))

    def junta(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        assert isinstance(target, JuntaTarget)
        shares = labelled(target, statistic.labels)
        head = head_sums(weights, shares, shares.subset)
        light, none = weights.at[shares.subset].set(0.0), jnp.zeros_like(weights)
        plain, _ = dense_characteristic(light, none, shares.probabilities, base, terms)
        inside = powers(jnp.exp(1j * base * head.sums), terms) @ head.chances.T
        return outer(jnp.sum((coefficients.T * plain[:, None] * inside).real))

    rounding = 64 * EPS * float(np.abs(coefficients).sum()) * n**0.5
    error = _SAFETY * float(np.abs(expansion.fine - expansion.coarse).sum()) + rounding
    return WeightRisk(parity if statistic.labels is None else junta, error)


def _loop_expansion(statistic: Statistic) -> Expansion:
    """The series that serves all of [0, k] inside a loop, at any weights."""

    def function(x: np.ndarray) -> np.ndarray:
        return evaluated(statistic, x)[None]

    terms = _FEWEST_TERMS
    while True:
        found = expand(function, 0.0, float(statistic.k), terms, statistic)
        apart = max(found.blind, float(np.abs(found.fine - found.coarse).sum()))
        if apart <= _LOOP_GOAL * max(1.0, found.size) or terms >= _LOOP_TERMS:
            break
        terms *= 2
    advice = 'train on rows (data="fresh" or "sample") or declare its structure (PiecewiseLinear)'
    _refuse_unresolved(statistic, terms, apart, _LOOP_UNRESOLVED * found.size, advice)
    return found


def _refuse_unresolved(
    statistic: Statistic, terms: int, error: float, allowed: float, advice: str
) -> None:
    if not error <= allowed:
        raise ValueError(
            f"{terms} terms miss this readout with loss {statistic.loss.name} by {error:.1g} "
            f"on [0, {statistic.k}]; {advice}"
        )


def expand(
    function: _Function, start: float, reach: float, terms: int, statistic: Statistic
) -> Expansion:
    """The series of F on [start, start+R].

    F is multiplied by a window that is 1 on the interval and fades to 0 over R/2 at both ends, so
    that its periodic continuation is as smooth as F itself. Where F is not a number beyond [0, k],
    it is continued by its end values.
    """
    fade, points = reach / 2, _OVERSAMPLING * terms
    step, origin = 2 * reach / points, start - fade
    x = origin + step * np.arange(points)
    slope = 2 * 5.9 / fade
    window = (erf(slope * (x - start + fade / 2)) - erf(slope * (x - start - reach - fade / 2))) / 2
    values = function(x)
    if not np.isfinite(values[..., window > 0]).all():
        values = function(np.clip(x, max(start, 0.0), min(start + reach, statistic.k)))
        if not np.isfinite(values).all():
            raise ValueError(
                f"the readout or loss, or its slope, is not a number somewhere on "
                f"[0, {statistic.k}]"
            )
    values = np.where(window > 0, values * window, 0.0)
    frequencies = np.pi * np.arange(terms) / reach
    fine, coarse = np.fft.fft(values) / points, np.fft.fft(values[..., ::2]) / (points // 2)
    coarse[..., terms // 2 :] = 0
    turn = np.where(frequencies > 0, 2, 1) * np.exp(-1j * frequencies * origin)
    fine, coarse = fine[..., :terms] * turn, coarse[..., :terms] * turn
    size = float(np.abs(values[0]).max())
    between = start + reach * np.random.default_rng(0).random(256)
    between = np.clip(between, 0.0, float(statistic.k))
    series = np.real(fine[0] @ np.exp(1j * np.outer(frequencies, between)))
    typical = float(np.abs(series - function(between)[0]).mean())
    return Expansion(fine, coarse, frequencies, size, typical if typical > _BLIND * size else 0.0)


class _Split(NamedTuple):
    """Dominant positions, the weights without them, what of B is left among the others, partial
    sums u of the dominant ones with chances (rows, parts, U), and where x lies.

    Row 0 of the chances is for F; with slopes, row j only counts u where dominant bit j is set.
    """

    heavy: np.ndarray
    light: np.ndarray
    subset: np.ndarray
    sums: np.ndarray
    chances: np.ndarray
    start: float
    reach: float


def _split(case: Case, heavy_count: int) -> _Split:
    """Enumerate the dominant weights; the hidden bits of a junta are always among them."""
    weights, problem = case.weights, case.problem
    always = problem.k if isinstance(problem, Junta) else 0
    heavy = heaviest(weights, problem, max(heavy_count - always, 0))
    light = weights.copy()
    light[heavy] = 0.0
    sums, chances = head_sums(weights, case.target, heavy)
    set_bits = (np.arange(len(sums))[None, :] >> np.arange(len(heavy))[:, None]) & 1
    rows = np.concatenate([np.ones((1, len(sums))), set_bits]) if case.slopes else np.ones((1, 1))
    # Hoeffding: the light sum is within 4.2·√Σg² of its mean but for 1e-15 of the inputs.
    mean, width = float(light @ problem.probabilities), 4.2 * math.sqrt(float(light @ light))
    low, high = max(0.0, mean - width), min(float(light.sum()), mean + width)
    margin = 1e-9 * problem.k
    return _Split(
        heavy,
        light,
        np.setdiff1d(problem.subset, heavy).astype(int),
        np.asarray(sums),
        rows[:, None, :] * np.asarray(chances)[None],
        low - margin,
        high - low + 2 * margin,
    )


def _averaged(case: Case, split: _Split, x: np.ndarray) -> Float[np.ndarray, "rows parts P"]:
    """F, and with slopes the share of F' that belongs to each dominant bit.

    Parts are even and odd for a parity; a junta's labels are summed into one.
    """
    rule = "rcu,cup->rp" if isinstance(case.problem, Junta) else "rcu,cup->rcp"
    points = (split.sums[:, None] + x[None, :]).ravel()
    found = []
    for slopes in (False, True) if case.slopes else (False,):
        values = evaluated(case.statistic, points, slopes=slopes).reshape(
            -1, len(split.sums), len(x)
        )
        chances = split.chances[1:] if slopes else split.chances[:1]
        found.append(np.einsum(rule, chances, values))
    joined = np.concatenate(found)
    return joined if joined.ndim == 3 else joined[:, None]


class _Found(NamedTuple):
    mean: float
    error: float
    rounding: float
    size: float
    terms: int
    slopes: np.ndarray | None
    slopes_error: float | None


def _summed(case: Case, split: _Split, terms: int) -> _Found:
    """The mean by so many terms, and how far it is from that of half as many."""
    function = partial(_averaged, case, split)
    expansion = expand(function, split.start, split.reach, terms, case.statistic)
    layout = layout_of(split.light, split.subset, expansion.frequencies[-1])
    mean, waves, slopes = _waves_and_slopes(
        split.light,
        case.problem.probabilities,
        np.stack([expansion.fine[0], expansion.coarse[0]]),
        expansion.frequencies,
        layout,
        fair=case.problem.is_uniform,
        slopes=case.slopes,
    )
    waves = np.asarray(waves)
    apart = np.sum(np.abs((expansion.fine - expansion.coarse) * waves), axis=(1, 2))
    sizes = np.sum(np.abs(expansion.fine[0] * waves), axis=0)
    rounding = 16 * EPS * float(sizes @ (4 + np.pi * np.arange(terms))) + 64 * EPS * abs(
        float(mean)
    )
    # Dominant weights are averaged out with signs that cancel, so every coefficient is off by the
    # rounding of what is averaged.
    scale = np.abs(evaluated(case.statistic, np.linspace(0, case.statistic.k, 4096))).max()
    rounding += EPS * float(scale) * (4 + float(np.sum(np.abs(waves), axis=1).max()))
    error = max(_SAFETY * float(apart[0]), expansion.blind)
    found = _Found(float(mean), error, rounding, expansion.size, terms, None, None)
    if not case.slopes:
        return found
    fine, coarse = np.array(slopes)
    fine[split.heavy] = np.sum((expansion.fine[1:] * waves).real, axis=(1, 2))
    coarse[split.heavy] = fine[split.heavy]
    apart_slopes = _SAFETY * (np.abs(fine - coarse).max() + apart[1:].max(initial=0.0))
    apart_slopes += error + rounding * expansion.frequencies[-1]
    return found._replace(slopes=fine, slopes_error=float(apart_slopes))


@partial(jax.jit, static_argnames=("fair", "slopes"))
def _waves_and_slopes(
    weights: Float[Array, " n"],
    probabilities: Float[Array, " n"],
    coefficients: Complex[Array, "grids parts M"],
    frequencies: Float[Array, " M"],
    layout: Layout,
    *,
    fair: bool,
    slopes: bool,
) -> tuple[Array, Array, Array | None]:
    """Re Σ_m [c_m φ(ω_m) + d_m φ_χ(ω_m)] of the first grid, φ and φ_χ themselves, and the gradient
    of the sum in the weights for both grids; a junta has φ alone."""

    def means(some: Array) -> tuple[Array, Array]:
        waves = jnp.stack(characteristic(some, probabilities, frequencies, layout, fair=fair))
        waves = waves[: coefficients.shape[1]]
        return jnp.sum((coefficients * waves[None]).real, axis=(1, 2)), waves

    found, waves = means(weights)
    gradient = jax.jacrev(lambda some: means(some)[0])(weights) if slopes else None
    return found[0], waves, gradient
