"""The series for a statistic known only by its values: any n, refused where it is not resolved.

Dominant weights are enumerated; over the sum x of the others the statistic becomes one function F,
sampled on a grid, faded out beyond the interval that holds all but 1e-15 of x, and expanded in a
Fourier series. F minus the series, at points off the grid and at random inputs, says how far the
mean may be off; what is narrower than the grid is looked for in the readout's operations (`narrow`)
and counts too.
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from paritylab.precision import float64
from paritylab.problem import Junta
from paritylab.risk.routes.case import (
    EPS,
    Case,
    LoopRisk,
    RouteRisk,
    Statistic,
    evaluated,
    risk_through_outer,
)
from paritylab.risk.routes.characteristic import Layout, characteristic, layout_of
from paritylab.risk.routes.expansion import Expansion, Mix, expand, refuse_unresolved
from paritylab.risk.routes.moving import dense_characteristic
from paritylab.risk.routes.narrow import Hidden, hidden_mean, highest_hidden, worst_change
from paritylab.risk.routes.plan import enumerated_always, largest_besides
from paritylab.risk.routes.series import powers
from paritylab.risk.routes.sums import head_sums, partial_sums
from paritylab.risk.routes.targets import JuntaTarget, Target, labelled, target_of

#: Numbers of enumerated weights that are tried, each with its largest number of terms.
_ATTEMPTS = ((0, 8192), (6, 2048), (10, 256))
#: A loop pays for every term at every step.
_LOOP_TERMS, _LOOP_GOAL = 2048, 1e-6
#: Off by more than this share of the statistic's size, a series is not resolved.
_UNRESOLVED, _LOOP_UNRESOLVED = 1e-4, 1e-3
_SAMPLES = 1 << 16


class Split(NamedTuple):
    """Dominant positions, the weights without them, and what of B is left among the others."""

    heavy: np.ndarray
    light: np.ndarray
    subset: np.ndarray


def applies(statistic: Statistic, case: Case | None = None) -> bool:
    """For every statistic; `risk` and `in_loop` refuse what they cannot resolve."""
    return True


def risk(case: Case) -> RouteRisk:
    """Value and slopes with errors measured off the grid and at random inputs."""
    split, mix, expansion = _best(case)
    weighted = expansion.about_zero() * _factors(case)[:, None]
    layout = layout_of(split.light, split.subset, expansion.frequencies[-1])
    mean, waves, slopes = _summed(
        split.light,
        case.problem.probabilities,
        weighted[0],
        expansion.frequencies,
        layout,
        fair=case.problem.is_uniform,
        slopes=case.slopes,
    )
    waves, value = np.asarray(waves), float(mean)
    half = np.sum((weighted[0] * waves).real[:, : waves.shape[1] // 2])
    allowed = expansion.misses[0] + expansion.half_misses[0] + 1e-12 * expansion.size[0]
    if not abs(value - half) <= float(allowed.sum()):
        raise ValueError(
            f"the series gives a mean of {value:.6g} and with half its terms {half:.6g}; "
            "use sampled_risk"
        )
    drawn = _draw(case, split, _sample_size(split, mix, expansion))
    errors = _measured_errors(case, drawn, mix, expansion, value)
    hidden = _hidden(case, drawn, float(expansion.size[0].max()))
    errors[0] += hidden.mean + _wobble(case, drawn, slopes=False)
    sizes = np.sum(np.abs(weighted[0] * waves), axis=0)
    rounding = 16 * EPS * float(sizes @ (4 + np.pi * np.arange(len(sizes)))) + 64 * EPS * abs(value)
    # Dominant weights are averaged out with signs that cancel: F is off by the rounding of what
    # is averaged, and so is every coefficient.
    scale = float(np.abs(evaluated(case.statistic, drawn.sums)).max())
    rounding += EPS * scale * (4 + float(np.sum(np.abs(waves), axis=1).max()))
    slopes_error = None
    if case.slopes:
        slopes = np.array(slopes)
        slopes[split.heavy] = np.sum((weighted[2:] * waves).real, axis=(1, 2))
        slopes_error = float(errors[1:].max()) + rounding * expansion.frequencies[-1]
        slopes_error += hidden.slope + _wobble(case, drawn, slopes=True)
    return risk_through_outer(
        case.statistic.loss,
        value,
        float(errors[0]) + rounding,
        exact=False,
        slopes=slopes,
        slopes_error=slopes_error,
    )


def in_loop(statistic: Statistic, n: int) -> LoopRisk:
    """The risk for compiled loops: as many terms as reproduce the statistic on all of [0, k]."""
    if statistic.labels is not None:
        return _junta_in_loop(statistic, n)
    mix = Mix(statistic, np.zeros(1), np.ones((1, 2, 1)), slopes=False)
    (coefficients,), frequencies, error = _loop_expansion(mix, n)

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        assert isinstance(target, Target)
        plain, signed = dense_characteristic(
            weights, target.indicator, target.probabilities, frequencies[1], len(frequencies)
        )
        terms = coefficients[0] * plain + target.contrast * coefficients[1] * signed
        return statistic.loss.outer(jnp.sum(terms.real))

    return LoopRisk(function, error)


def _junta_in_loop(statistic: Statistic, n: int) -> LoopRisk:
    """The same with a wave for every label, from all values of the hidden bits."""
    assert statistic.labels is not None
    every = [
        Mix(statistic._replace(labels=(label,)), np.zeros(1), np.ones((1, 1, 1)), slopes=False)
        for label in statistic.labels
    ]
    found = [_loop_expansion(mix, n) for mix in every]
    terms = max(len(each.frequencies) for each in found)
    base = found[0].frequencies[1]
    padded = [np.pad(each.coefficients[0, 0], (0, terms - len(each.frequencies))) for each in found]
    coefficients = np.stack(padded)

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        assert isinstance(target, JuntaTarget)
        junta = labelled(target, statistic.labels)
        head = head_sums(weights, junta, junta.subset)
        light, none = weights.at[junta.subset].set(0.0), jnp.zeros_like(weights)
        plain, _ = dense_characteristic(light, none, junta.probabilities, base, terms)
        inside = powers(jnp.exp(1j * base * head.sums), terms) @ head.chances.T
        return statistic.loss.outer(jnp.sum((coefficients.T * plain[:, None] * inside).real))

    return LoopRisk(function, sum(each.error for each in found))


class _LoopExpansion(NamedTuple):
    coefficients: Complex[np.ndarray, "rows parts M"]
    frequencies: Float[np.ndarray, " M"]
    error: float


def _loop_expansion(mix: Mix, n: int) -> _LoopExpansion:
    """The series that serves all of [0, k] inside a loop, and how far it may be off."""
    statistic = mix.statistic
    expansion = expand(mix, 0.0, float(statistic.k), _LOOP_TERMS, _LOOP_GOAL)
    advice = 'train on rows (data="fresh" or "sample") or declare its structure (PiecewiseLinear)'
    refuse_unresolved(expansion, statistic, _LOOP_UNRESOLVED, advice)
    coefficients = expansion.about_zero()
    rounding = 64 * EPS * float(np.abs(coefficients).sum()) * n**0.5
    hidden = highest_hidden(statistic, n)
    if _LOOP_UNRESOLVED * float(expansion.size[0].max()) < hidden < math.inf:
        raise ValueError(
            f"this readout with loss {statistic.loss.name} has values at single sums, or spikes, "
            f"that the series misses by up to {hidden:.1g}; {advice}"
        )
    error = float(expansion.misses.sum()) + rounding + hidden + worst_change(statistic, n).change
    return _LoopExpansion(coefficients, expansion.frequencies, error)


def _factors(case: Case) -> Float[np.ndarray, " parts"]:
    """By what the parts of F are multiplied: the contrast belongs to the odd part of a parity."""
    if isinstance(case.problem, Junta):
        return np.ones(1)
    return np.array([1.0, float(target_of(case.problem).contrast)])


def _best(case: Case) -> tuple[Split, Mix, Expansion]:
    """The first attempt that reaches the goal, or else the one that misses least."""
    best = None
    for heavy, terms in _ATTEMPTS:
        split, mix, (start, reach) = _attempt(case, min(heavy, case.problem.n - 1))
        expansion = expand(mix, start, reach, terms, 1e-4 * case.tolerance)
        if best is None or expansion.misses[0].sum() < best[2].misses[0].sum():
            best = split, mix, expansion
        if np.all(expansion.misses <= 1e-4 * case.tolerance * np.maximum(1, expansion.size)):
            break
    assert best is not None
    advice = "use sampled_risk or declare its structure (PiecewiseLinear)"
    refuse_unresolved(best[2], case.statistic, _UNRESOLVED, advice)
    return best


def _attempt(case: Case, heavy_count: int) -> tuple[Split, Mix, tuple[float, float]]:
    """Average over the dominant weights; where the sum of the others begins and how far it goes."""
    weights, problem = case.weights, case.problem
    always = enumerated_always(problem)
    more = min(max(heavy_count - len(always), 0), problem.n - len(always))
    heavy = np.append(always, largest_besides(weights, always, more))
    light = weights.copy()
    light[heavy] = 0.0
    with float64():
        if isinstance(problem, Junta):
            head = head_sums(jnp.asarray(weights), case.target, heavy)
        else:  # the contrast comes later, so that misses are those of the parts themselves
            parts = (weights[heavy], problem.indicator[heavy], problem.probabilities[heavy])
            head = partial_sums(*map(jnp.asarray, parts))
        sums, chances = map(np.asarray, head)
    set_bits = (np.arange(len(sums))[None, :] >> np.arange(len(heavy))[:, None]) & 1
    rows = np.concatenate([np.ones((1, len(sums))), set_bits]) if case.slopes else [1.0]
    table = np.stack([row * chances for row in rows])
    # Hoeffding: the light sum is within 4.2·√Σg² of its mean but for 1e-15 of the inputs.
    mean, width = float(light @ problem.probabilities), 4.2 * math.sqrt(float(light @ light))
    low, high = max(0.0, mean - width), min(float(light.sum()), mean + width)
    margin = 1e-9 * problem.k
    subset = np.setdiff1d(problem.subset, heavy).astype(int)
    interval = (low - margin, high - low + 2 * margin)
    return Split(heavy, light, subset), Mix(case.statistic, sums, table, case.slopes), interval


class _Drawn(NamedTuple):
    """Random inputs: light sums, signs χ of the light positions of B, and whole sums."""

    light: Float[np.ndarray, " N"]
    signs: Float[np.ndarray, " N"]
    sums: Float[np.ndarray, " N"]


def _sample_size(split: Split, mix: Mix, expansion: Expansion) -> int:
    rows, _, terms = expansion.coefficients.shape
    costs = (terms * rows, 16 * mix.sums.size, len(split.light))
    return int(np.clip((1 << 25) // max(costs), 256, _SAMPLES))


def _hidden(case: Case, drawn: _Drawn, size: float) -> Hidden:
    """What narrow features may add to the mean; refused where that is no small share."""
    hidden = hidden_mean(case, drawn.sums)
    if _UNRESOLVED * size < hidden.mean < math.inf:
        instead = 'route="enumeration" or ' if case.problem.n <= 26 else ""
        raise ValueError(
            f"this readout with loss {case.statistic.loss.name} has values at single sums, or "
            f"spikes, that the series misses: up to {hidden.mean:.1g} of the mean; "
            f"use {instead}sampled_risk"
        )
    return hidden


def _wobble(case: Case, drawn: _Drawn, *, slopes: bool) -> float:
    """What the rounding of sums may do to the mean, or its slopes, where one sits on a jump.

    Random inputs are charged by the empirical Bernstein inequality at confidence 1 - 1e-6, the
    input of ones alone by its chance: its sum is k, a likely place of a jump.
    """
    problem, count = case.problem, len(drawn.sums)
    shift = 2 * problem.n * EPS * problem.k
    s = np.append(drawn.sums, float(problem.k))
    beside = [np.clip(s + side * shift, 0, problem.k) for side in (-1, 0, 1)]
    below, here, above = (evaluated(case.statistic, each, slopes=slopes) for each in beside)
    moved = np.maximum(np.abs(below - here), np.abs(above - here)).sum(axis=0)
    moved[s == 0] = 0.0  # a sum of nothing is not rounded, and has no slope in any weight
    seen, chance = moved[:-1], float(np.prod(problem.probabilities))
    spread = 5.4 * seen.std() / count**0.5 + 34 * seen.max() / count
    return float(seen.mean() + spread + chance * moved[-1])


def _measured_errors(
    case: Case, drawn: _Drawn, mix: Mix, expansion: Expansion, value: float
) -> Float[np.ndarray, " rows"]:
    """How far the mean and the slopes may be off, from random inputs; refuses a contradiction.

    With r = F - series at N random inputs the error E[r] is bounded by the empirical Bernstein
    inequality at confidence 1 - 1e-6: |mean r| + 5.4·SE + 34·max|r|/N, and always by max|r|.
    """
    x, signs, _ = drawn
    factors = _factors(case)
    truth = mix(x)
    gap = truth - expansion(x)
    count = len(x)
    most = np.maximum(expansion.misses, np.abs(gap).max(axis=-1)) @ np.abs(factors)
    # Row by row: the sign of an input multiplies the odd part.
    turned = factors[:, None] * np.stack([np.ones(count), signs])[: len(factors)]
    combined = np.sum(gap * turned, axis=1)
    centre = np.append(np.abs(combined[:1].mean(axis=1)), np.abs(combined[1:]).mean(axis=1))
    errors = np.minimum(most, centre + 5.4 * combined.std(axis=1) / count**0.5 + 34 * most / count)
    seen = np.sum(truth[0] * turned, axis=0)
    allowed = 5 * seen.std() / count**0.5 + errors[0] + 1e-9 * expansion.size[0].sum()
    # Rare inputs may all be absent from the sample.
    allowed += 34 * float(np.abs(seen - value).max()) / count
    if not abs(seen.mean() - value) <= allowed:
        raise ValueError(
            f"the series gives a mean of {value:.6g} but {count} random inputs give "
            f"{seen.mean():.6g} ± {seen.std() / count**0.5:.1g}; use sampled_risk"
        )
    return np.asarray(errors)


def _draw(case: Case, split: Split, count: int) -> _Drawn:
    """`count` random inputs."""
    generator, p = np.random.default_rng(0), case.problem.probabilities
    chunk = max(1, (1 << 22) // len(p))
    parts = []
    for start in range(0, count, chunk):
        bits = generator.random((min(chunk, count - start), len(p))) < p
        odd = np.count_nonzero(bits[:, split.subset], axis=1) % 2
        parts.append((bits @ split.light, 1.0 - 2.0 * odd, bits @ case.weights))
    return _Drawn(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def smooth_mean(
    weights: Float[Array, " n"],
    probabilities: Float[Array, " n"],
    coefficients: Complex[Array, "parts M"],
    frequencies: Float[Array, " M"],
    layout: Layout,
    *,
    fair: bool,
) -> tuple[Float[Array, ""], Complex[Array, "parts M"]]:
    """Re Σ_m [c_m φ(ω_m) + d_m φ_χ(ω_m)], and φ, φ_χ themselves; φ alone for a single part."""
    waves = jnp.stack(characteristic(weights, probabilities, frequencies, layout, fair=fair))
    waves = waves[: coefficients.shape[0]]
    return jnp.sum((coefficients * waves).real), waves


@partial(jax.jit, static_argnames=("fair", "slopes"))
def _summed(
    weights: Array,
    probabilities: Array,
    coefficients: Array,
    frequencies: Array,
    layout: Layout,
    *,
    fair: bool,
    slopes: bool,
) -> tuple[Array, Array, Array | None]:
    """`smooth_mean` and, if slopes are asked for, its gradient in the weights."""
    function = partial(smooth_mean, fair=fair)
    arguments = (weights, probabilities, coefficients, frequencies, layout)
    if not slopes:
        return *function(*arguments), None
    (mean, waves), gradient = jax.value_and_grad(function, has_aux=True)(*arguments)
    return mean, waves, gradient
