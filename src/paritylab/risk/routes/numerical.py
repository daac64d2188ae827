"""The series for a statistic known only by its values: any n, with an estimated error.

The statistic f(s) is sampled on a grid over an interval that holds all but 1e-15 of s, faded out
beyond, and expanded in a Fourier series by a fast transform. The mean is Σ_m c_m E[e^{iω_m s}], and
each expectation is a product over positions. Smooth functions need few terms: their coefficients
fall fast. Kinks and jumps need many, unless the product falls first, as it does when many positions
share the attention; a jump under few sharp heads is refused.

The same is done with every other point and half the terms. The error is four times the sum of what
the two series differ by, term by term, without cancellation. It is an estimate, not a bound: a
feature narrower than the grid (a value at one sum, a spike) leaves no trace in either series.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

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
from paritylab.risk.routes.series import layout_of
from paritylab.risk.routes.statistic import (
    EPS,
    Case,
    JuntaTarget,
    Labelled,
    RouteRisk,
    Statistic,
    Target,
    WeightRisk,
    evaluated,
    labelled,
    risk_through_outer,
)

#: Terms that are tried first, and at most; the sums of a junta's hidden bits times terms, at most.
_FEWEST_TERMS, _MOST_TERMS, _MOST_ENTRIES = 512, 16384, 1 << 24
#: A loop pays for every term at every step.
_LOOP_FEWEST, _LOOP_TERMS, _LOOP_GOAL = 256, 2048, 1e-6
#: Off by more than this share of the statistic's size, a series is not resolved.
_UNRESOLVED, _LOOP_UNRESOLVED = 1e-4, 1e-3
#: Off by more than this share of the size at a typical point, the grid does not see the function.
_BLIND = 1e-3
#: The error is so many times what fine and coarse series differ by: at a jump the fine one is off
#: by about as much as it differs from the coarse one.
_SAFETY = 4
#: Points of the grid for every term, on twice the interval.
_OVERSAMPLING = 4


class Expansion(NamedTuple):
    """f(s) ≈ Re Σ_m c_m e^{iω_m s} for every part of f: even and odd, or one for every label.

    coarse: the same from half the grid, zero from M/2 on. size: the largest |f| seen. blind: the
    mean of |f - series| at random points where that is no small share of the size, or else 0: a
    wave faster than the grid shows here.
    """

    fine: Complex[np.ndarray, "parts M"]
    coarse: Complex[np.ndarray, "parts M"]
    frequencies: Float[np.ndarray, " M"]
    size: float
    blind: float


def expand(statistic: Statistic, start: float, reach: float, terms: int) -> Expansion:
    """The series on [start, start+R].

    f is multiplied by a window that is 1 on the interval and fades to 0 over R/2 at both ends, so
    that its periodic continuation is as smooth as f itself. Where f is not a number beyond [0, k],
    it is continued by its end values.
    """
    fade, points = reach / 2, _OVERSAMPLING * terms
    step, origin = 2 * reach / points, start - fade
    x = origin + step * np.arange(points)
    # erf(5.9) is 1 to the last digit, so the window is 1 and 0 where it should be.
    slope = 2 * 5.9 / fade
    window = (erf(slope * (x - start + fade / 2)) - erf(slope * (x - start - reach - fade / 2))) / 2
    values = evaluated(statistic, x)
    if not np.isfinite(values[:, window > 0]).all():
        values = evaluated(statistic, np.clip(x, max(start, 0.0), min(start + reach, statistic.k)))
        if not np.isfinite(values).all():
            raise ValueError(
                f"the readout or loss, or its slope, is not a number somewhere on "
                f"[0, {statistic.k}]"
            )
    values = np.where(window > 0, values * window, 0.0)
    frequencies = np.pi * np.arange(terms) / reach
    fine, coarse = np.fft.fft(values) / points, np.fft.fft(values[:, ::2]) / (points // 2)
    coarse[:, terms // 2 :] = 0
    turn = np.where(frequencies > 0, 2, 1) * np.exp(-1j * frequencies * origin)
    fine, coarse = fine[:, :terms] * turn, coarse[:, :terms] * turn
    size = float(np.abs(values).max())
    between = start + reach * np.random.default_rng(0).random(256)
    between = np.clip(between, 0.0, float(statistic.k))
    series = np.real(fine @ np.exp(1j * np.outer(frequencies, between)))
    typical = float(np.abs(series - evaluated(statistic, between)).mean(axis=1).max())
    return Expansion(fine, coarse, frequencies, size, typical if typical > _BLIND * size else 0.0)


class _Sum(NamedTuple):
    """What one expansion gives: the mean, how far it is from that of half as many terms, rounding.

    A term is off by the rounding of its angle ω_m s, which grows with m, and every coefficient by
    the rounding of the largest value in it.
    """

    expansion: Expansion
    mean: float
    error: float
    rounding: float


def risk(case: Case) -> RouteRisk:
    """Value and slopes of the first number of terms that reaches the tolerance, or of the best."""
    best, terms, most = None, _FEWEST_TERMS, _MOST_TERMS
    if isinstance(case.problem, Junta):
        most = min(most, _MOST_ENTRIES >> case.problem.k)
    while terms <= most:
        found = _summed(case, terms)
        if best is None or found.error < best.error:
            best = found
        if best.error <= 1e-3 * case.tolerance * max(1.0, best.expansion.size):
            break
        terms *= 2
    assert best is not None
    expansion, loss = best.expansion, case.statistic.loss
    advice = "use sampled_risk or declare its structure (PiecewiseLinear)"
    _refuse_unresolved(case.statistic, expansion, best.error, _UNRESOLVED, advice)
    slopes = _at_weights(case, expansion, _slopes_and_waves)[0] if case.slopes else None
    return risk_through_outer(
        loss, best.mean, best.error + best.rounding, exact=False, slopes=slopes
    )


def _summed(case: Case, terms: int) -> _Sum:
    """The mean by so many terms."""
    weights, problem = case.weights, case.problem
    # Hoeffding: s is within 4.2·√Σg² of its mean but for 1e-15 of the inputs.
    centre, width = float(weights @ problem.probabilities), 4.2 * math.sqrt(weights @ weights)
    low, high = max(0.0, centre - width), min(float(problem.k), centre + width)
    margin = 1e-9 * problem.k
    expansion = expand(case.statistic, low - margin, high - low + 2 * margin, terms)
    mean, waves = _at_weights(case, expansion, _mean_and_waves)
    sizes, apart = np.abs(np.asarray(waves)), np.abs(expansion.fine - expansion.coarse)
    error = max(_SAFETY * float(np.sum(apart * sizes)), expansion.blind)
    phases = float(np.sum(np.abs(expansion.fine) * sizes, axis=0) @ (4 + np.pi * np.arange(terms)))
    rounding = EPS * (16 * phases + 64 * abs(float(mean)))
    rounding += EPS * expansion.size * (4 + float(np.sum(sizes, axis=1).max()))
    return _Sum(expansion, float(mean), error, rounding)


def _at_weights(case: Case, expansion: Expansion, function: Callable[..., Any]) -> Any:
    """What `_mean_and_waves` or its derivative gives for an expansion at the weights of a case."""
    problem, frequencies = case.problem, expansion.frequencies
    # A junta's hidden bits are summed over, so they have no factor of their own.
    subset = () if isinstance(problem, Junta) else problem.subset
    layout = layout_of(case.weights, subset, frequencies[-1])
    given = case.weights, case.target, expansion.fine, frequencies, layout
    return function(*given, fair=problem.is_uniform)


@partial(jax.jit, static_argnames="fair")
def _mean_and_waves(
    weights: Float[Array, " n"],
    target: Target | Labelled,
    coefficients: Complex[Array, "parts M"],
    frequencies: Float[Array, " M"],
    layout: Layout,
    *,
    fair: bool,
) -> tuple[Array, Array]:
    """Re Σ_m c_m φ(ω_m), and the waves φ themselves."""
    p = jnp.asarray(target.probabilities)
    spectrum = partial(
        characteristic, probabilities=p, frequencies=frequencies, layout=layout, fair=fair
    )
    waves = _waves(weights, target, frequencies[1], frequencies.shape[0], spectrum)
    return jnp.sum((coefficients * waves).real), waves


_slopes_and_waves = jax.jit(jax.grad(_mean_and_waves, has_aux=True), static_argnames="fair")


def _waves(
    weights: Float[Array, " n"],
    target: Target | Labelled,
    base: Float[Array, ""] | float,
    terms: int,
    spectrum: Callable[[Array], tuple[Array, Array]],
) -> Complex[Array, "parts M"]:
    """E[e^{iω_m s}] times what multiplies each part of the statistic, at ω_m = m·base.

    A parity's even part has factor 1 and its odd part contrast·χ_B. A junta's label r has the share
    of r, a table over its hidden bits, which are summed over; the others are independent of them.
    spectrum: from weights to E[e^{iωs}] and E[e^{iωs} χ_B].
    """
    if isinstance(target, Target):
        plain, signed = spectrum(weights)
        return jnp.stack([plain, target.contrast * signed])
    head = head_sums(weights, target, target.subset)
    plain, _ = spectrum(weights.at[target.subset].set(0.0))
    inside = powers(jnp.exp(1j * base * jnp.asarray(head.sums)), terms) @ head.chances.T
    return (plain[:, None] * inside).T


def in_loop(statistic: Statistic, n: int) -> WeightRisk:
    """The risk for compiled loops: as many terms as reproduce the statistic on all of [0, k]."""
    expansion = _loop_expansion(statistic)
    coefficients, base, terms = expansion.fine, expansion.frequencies[1], expansion.fine.shape[1]
    outer = statistic.loss.outer

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        known, none = labelled(target, statistic.labels), jnp.zeros_like(weights)
        spectrum = partial(
            dense_characteristic,
            indicator=known.indicator if isinstance(known, Target) else none,
            probabilities=known.probabilities,
            base=base,
            terms=terms,
        )
        waves = _waves(weights, known, base, terms, spectrum)
        return outer(jnp.sum((coefficients * waves).real))

    rounding = 64 * EPS * float(np.abs(coefficients).sum()) * n**0.5
    error = _SAFETY * float(np.abs(expansion.fine - expansion.coarse).sum()) + rounding
    return WeightRisk(function, error)


def _loop_expansion(statistic: Statistic) -> Expansion:
    """The series that serves all of [0, k] inside a loop, at any weights."""
    terms = _LOOP_FEWEST
    while True:
        found = expand(statistic, 0.0, float(statistic.k), terms)
        apart = max(found.blind, float(np.abs(found.fine - found.coarse).sum()))
        if apart <= _LOOP_GOAL * max(1.0, found.size) or terms >= _LOOP_TERMS:
            break
        terms *= 2
    advice = "train on rows (Fresh or Sample) or declare its structure (PiecewiseLinear)"
    _refuse_unresolved(statistic, found, apart, _LOOP_UNRESOLVED, advice)
    return found


def _refuse_unresolved(
    statistic: Statistic, found: Expansion, error: float, share: float, advice: str
) -> None:
    if not error <= share * found.size:
        raise ValueError(
            f"{len(found.frequencies)} terms miss this readout with loss {statistic.loss.name} by "
            f"{error:.1g} on [0, {statistic.k}]; {advice}"
        )
