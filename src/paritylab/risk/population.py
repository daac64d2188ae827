"""The front door of the exact engine: population risk at any n without visiting 2^n inputs."""

import math
import sys
from functools import lru_cache, partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.models import Cosine, HeadAttention, WeightedReadout, as_readout
from paritylab.models.readouts import Readout
from paritylab.precision import float64
from paritylab.problem import Parity
from paritylab.problem.losses import LOSSES, Loss, as_loss
from paritylab.risk.enumerated import enumerated_gradient
from paritylab.risk.result import Risk, RiskGradient, outer_derivatives
from paritylab.risk.routes import half_sums
from paritylab.risk.routes.characteristic import layout_of
from paritylab.risk.routes.cosine import cosine_risk
from paritylab.risk.routes.lattice import groups_of, lattice_mean
from paritylab.risk.routes.pieces import pieces_of, scale_of
from paritylab.risk.routes.plan import kinked_plan
from paritylab.risk.routes.series import kinked_mean, smooth_coefficients, smooth_mean

Route = Literal["auto", "closed form", "half-sums", "lattice", "series", "enumeration"]

_EPS = sys.float_info.epsilon


def population_risk(
    attention,
    problem: Parity,
    *,
    readout: str | Readout | None = None,
    loss: str | Loss = "squared_hinge",
    tolerance: float = 1e-6,
    route: Route = "auto",
) -> Risk:
    """The exact risk of ŷ = readout((k/heads) Σ_i Σ_j γ_i[j] x_j) over all inputs.

    attention: γ, shape (heads, n), rows summing to one; or a `HeadAttention`, whose attention is
    then computed in float64. An array is taken as it is: `.error` cannot know what it lost if it
    was computed in float32, so pass the model where there is one. readout: "zigzag", "cos" or a
    scalar function of s; by default the model's own, or the zigzag for an array. loss: a name or a
    `Loss`. tolerance: what the series aims for; `.error` says what was reached. route: leave it to
    "auto" unless two routes are to be compared.

    >>> import numpy as np
    >>> risk = population_risk(np.full((3, 100_000), 1e-5), Parity(100_000, (5, 77, 4096)))
    >>> print(f"{risk.value:.4f} by {risk.route}")
    7.9096 by lattice
    """
    return _population(attention, problem, readout, loss, tolerance, route, False).risk


def population_gradient(
    attention,
    problem: Parity,
    *,
    readout: str | Readout | None = None,
    loss: str | Loss = "squared_hinge",
    tolerance: float = 1e-6,
    route: Route = "auto",
) -> RiskGradient:
    """The exact risk and its gradient with respect to the attention matrix, shape (heads, n)."""
    return _population(attention, problem, readout, loss, tolerance, route, True)


def model_gradient(model, problem: Parity, **options) -> RiskGradient:
    """The exact risk of a k-head model and its gradient in the model's own parameters.

    model: a `HeadAttention` with soft attention; its readout is used. Options as above.
    """
    with float64():
        attention, pull_back = jax.vjp(
            lambda p: model.with_parameters(p).attention(), jnp.asarray(model.parameters())
        )
        found = population_gradient(attention, problem, readout=model.readout, **options)
        (gradient,) = pull_back(jnp.asarray(found.gradient))
        return RiskGradient(found.risk, np.asarray(gradient))


def _population(attention, problem, readout, loss, tolerance, route, with_gradient) -> RiskGradient:
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance}")
    if isinstance(attention, HeadAttention):
        readout = attention.readout if readout is None else readout
        with float64():
            attention = attention.attention()
    attention = _checked(attention, problem)
    readout, loss = as_readout("zigzag" if readout is None else readout, problem.k), as_loss(loss)
    heads = attention.shape[0]
    # Rows that sum to one only up to float32 rounding are scaled, so that s never exceeds k.
    weights = attention.sum(axis=0)
    weights *= problem.k / weights.sum()
    with float64():
        pieces = pieces_of(readout, loss)
        found = _chosen(route, weights, problem, readout, loss, pieces, with_gradient)
        arguments = (weights, problem, readout, loss, pieces, tolerance, with_gradient)
        risk, slopes = _ROUTES[found](*arguments)
        if route == "auto" and risk.error > tolerance and problem.n <= 20 and found == "series":
            risk, slopes = _enumeration(*arguments)
    if math.isnan(risk.value):
        raise ValueError(f"the readout or the loss is not a number somewhere on [0, {problem.k}]")
    if slopes is None:
        return RiskGradient(risk, None)
    gradient = np.broadcast_to(np.asarray(slopes) * (problem.k / heads), attention.shape)
    return RiskGradient(risk, gradient)


def _checked(attention, problem: Parity) -> np.ndarray:
    attention = np.asarray(attention, dtype=np.float64)
    if attention.ndim != 2 or attention.shape[1] != problem.n:
        raise ValueError(f"attention must have shape (heads, n={problem.n}), got {attention.shape}")
    if problem.k < 1:
        raise ValueError("the model needs a parity set with at least one position, got k=0")
    if not np.all(attention >= 0):
        raise ValueError("attention must be nonnegative and finite; found a negative entry or NaN")
    sums = attention.sum(axis=1)
    worst = sums[np.argmax(np.abs(sums - 1))]
    if not abs(worst - 1) < 1e-5:
        raise ValueError(f"every row of attention must sum to 1, got a row that sums to {worst}")
    return attention


def _chosen(route, weights, problem, readout, loss, pieces, with_gradient) -> str:
    closed = isinstance(readout, Cosine) and LOSSES.get(loss.name) is loss
    possible = {
        "closed form": closed,
        "half-sums": pieces is not None and problem.n <= half_sums.MAX_BITS,
        "lattice": pieces is not None and not with_gradient,
        "series": True,
        "enumeration": True,
    }
    if route != "auto":
        if not possible.get(route):
            options = ", ".join(name for name, can in possible.items() if can)
            raise ValueError(f"route {route!r} does not apply here; possible: {options}")
        return route
    possible["lattice"] = possible["lattice"] and groups_of(weights, problem) is not None
    return next(name for name, can in possible.items() if can)


def _closed_form(weights, problem, readout, loss, pieces, tolerance, with_gradient):
    arguments = (weights, problem.indicator, problem.probabilities, _contrast(problem))
    value, slopes = _cosine_compiled(*arguments, loss.name)
    error = 32 * _EPS * (problem.n**0.5 + abs(float(value)))
    return Risk(float(value), error, "closed form"), slopes if with_gradient else None


@partial(jax.jit, static_argnums=4)
def _cosine_compiled(weights, indicator, probabilities, contrast, loss):
    return jax.value_and_grad(cosine_risk)(weights, indicator, probabilities, contrast, loss)


def _half_sums(weights, problem, readout, loss, pieces, tolerance, with_gradient):
    arguments = (weights, problem.indicator, problem.probabilities, _contrast(problem), pieces)
    if with_gradient:
        mean, slopes = half_sums.half_sum_value_and_gradient(*arguments)
    else:
        mean, slopes = half_sums.half_sum_value(*arguments), None
    unsorted = 2.0 ** (problem.n // 2 + 2)
    error = (64 * problem.n + unsorted) * _EPS * scale_of(pieces, problem.k)
    return _through_outer(loss, float(mean), error, "half-sums", slopes)


def _lattice(weights, problem, readout, loss, pieces, tolerance, with_gradient):
    groups = groups_of(weights, problem)
    if groups is None:
        raise ValueError("the weights take too many distinct values for the lattice route")
    mean = lattice_mean(weights, problem, groups, pieces)
    # Binomial probabilities are good to about 1e-12 relative; equal means equal to 1e-13.
    error = 1e-11 * scale_of(pieces, problem.k)
    return _through_outer(loss, mean, error, "lattice", None)


def _series(weights, problem, readout, loss, pieces, tolerance, with_gradient):
    if pieces is None:
        return _smooth_series(weights, problem, readout, loss, tolerance, with_gradient)
    plan, tail = kinked_plan(weights, problem, pieces, tolerance)
    compiled = _kinked_gradient if with_gradient else _kinked_value
    mean, kink, slopes = compiled(
        weights,
        problem.indicator,
        problem.probabilities,
        _contrast(problem),
        pieces,
        plan,
        fair=problem.is_uniform,
    )
    terms = len(plan.frequencies)
    rounding = 16 * (terms + problem.n**0.5) * _EPS * scale_of(pieces, problem.k)
    error = tail.beyond(terms, float(kink)) + rounding
    return _through_outer(loss, float(mean), error, "series", slopes)


@partial(jax.jit, static_argnames="fair")
def _kinked_value(*arguments, fair):
    mean, kink = kinked_mean(*arguments, fair=fair)
    return mean, kink, None


@partial(jax.jit, static_argnames="fair")
def _kinked_gradient(*arguments, fair):
    function = partial(kinked_mean, fair=fair)
    (mean, kink), slopes = jax.value_and_grad(function, has_aux=True)(*arguments)
    return mean, kink, slopes


def _smooth_series(weights, problem, readout, loss, tolerance, with_gradient):
    terms = 256
    while True:
        frequencies, coefficients = _coefficients(
            readout, loss, float(problem.k), float(_contrast(problem)), terms
        )
        layout = layout_of(weights, problem.subset, frequencies[-1])
        compiled = _smooth_gradient if with_gradient else _smooth_value
        mean, sizes, slopes = compiled(
            weights,
            problem.probabilities,
            coefficients,
            frequencies,
            layout,
            fair=problem.is_uniform,
        )
        sizes = np.asarray(sizes)
        # The last half of the terms is as large as all that follow unless the decay stops.
        missed = 4 * float(sizes[terms // 2 :].sum())
        if missed <= tolerance * 1e-4 or terms >= 8192:
            break
        terms *= 2
    error = missed + 64 * _EPS * (float(sizes.sum()) + problem.n**0.5)
    return _through_outer(loss, float(mean), error, "series", slopes)


@lru_cache(maxsize=256)
def _coefficients(readout, loss, reach, contrast, terms):
    return smooth_coefficients(readout, loss, reach, contrast, terms)


@partial(jax.jit, static_argnames="fair")
def _smooth_value(*arguments, fair):
    return *smooth_mean(*arguments, fair=fair), None


@partial(jax.jit, static_argnames="fair")
def _smooth_gradient(*arguments, fair):
    function = partial(smooth_mean, fair=fair)
    (mean, sizes), slopes = jax.value_and_grad(function, has_aux=True)(*arguments)
    return mean, sizes, slopes


def _enumeration(weights, problem, readout, loss, pieces, tolerance, with_gradient):
    risk, slopes, _ = enumerated_gradient(WeightedReadout(weights, readout), problem, loss)
    return risk, slopes if with_gradient else None


_ROUTES = {
    "closed form": _closed_form,
    "half-sums": _half_sums,
    "lattice": _lattice,
    "series": _series,
    "enumeration": _enumeration,
}


def _contrast(problem: Parity) -> np.float64:
    """How much of the label survives: sign·(1-2ν)."""
    return np.float64(problem.sign * (1 - 2 * problem.noise))


def _through_outer(loss: Loss, mean: float, error: float, route: str, slopes):
    """Carry a mean, its error and its slopes through the loss's outer function."""
    value, slope, _ = outer_derivatives(loss, mean)
    if loss is LOSSES["log_correlation"] and abs(mean) <= error:
        reached = math.inf
    else:
        ends = [outer_derivatives(loss, mean + side * error)[0] for side in (1, -1)]
        reached = max(abs(end - value) for end in ends) + 4 * _EPS * abs(value)
    if slopes is not None:
        with np.errstate(invalid="ignore"):  # -log|0| has no slope; its error says so
            slopes = slope * np.asarray(slopes)
    return Risk(value, reached, route), slopes
