"""The series for declared pieces: any n, with an estimate of what truncation leaves out."""

from functools import partial
from typing import Any

import jax
from jaxtyping import Array, Float

from paritylab.risk.routes.case import (
    EPS,
    Case,
    Found,
    Looped,
    Statistic,
    found_through_outer,
)
from paritylab.risk.routes.moving import LOOP_ERROR, moving_mean
from paritylab.risk.routes.pieces import scale_of
from paritylab.risk.routes.plan import kinked_plan
from paritylab.risk.routes.series import kinked_mean
from paritylab.risk.routes.targets import labelled


def applies(statistic: Statistic, case: Case | None = None) -> bool:
    """For declared pieces."""
    return statistic.pieces is not None


def risk(case: Case) -> Found:
    """Value and slopes with the series' estimated error; exact where that is mere rounding."""
    problem, pieces = case.problem, case.statistic.pieces
    assert pieces is not None
    plan, tail = kinked_plan(case.weights, problem, pieces, case.tolerance)
    compiled = kinked_gradient if case.slopes else kinked_value
    arguments = (case.weights, case.target, pieces, plan)
    mean, kink, slopes = compiled(*arguments, fair=problem.is_uniform)
    terms = len(plan.frequencies)
    rounding = 16 * (terms + problem.n**0.5) * EPS * scale_of(pieces, problem.k)
    truncation = float(tail.beyond(terms, float(kink)))
    return found_through_outer(
        case.statistic.loss,
        float(mean),
        truncation + rounding,
        exact=bool(truncation <= rounding),
        slopes=slopes,
    )


def looped(statistic: Statistic, n: int) -> Looped:
    """The risk for compiled loops, from a fixed number of terms."""
    pieces, outer = statistic.pieces, statistic.loss.outer
    assert pieces is not None

    def function(weights: Float[Array, " n"], target: Any) -> Float[Array, ""]:
        return outer(moving_mean(weights, labelled(target, statistic.labels), pieces))

    return Looped(function, LOOP_ERROR * scale_of(pieces, statistic.k))


@partial(jax.jit, static_argnames="fair")
def kinked_value(*arguments: Any, fair: bool) -> tuple[Array, Array, None]:
    """Mean and total kink of `kinked_mean`."""
    mean, kink = kinked_mean(*arguments, fair=fair)
    return mean, kink, None


@partial(jax.jit, static_argnames="fair")
def kinked_gradient(*arguments: Any, fair: bool) -> tuple[Array, Array, Array]:
    """Mean, total kink and slopes of `kinked_mean`."""
    function = partial(kinked_mean, fair=fair)
    (mean, kink), slopes = jax.value_and_grad(function, has_aux=True)(*arguments)
    return mean, kink, slopes
