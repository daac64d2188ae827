"""The series for declared pieces: any n, with an estimate of what truncation leaves out."""

from functools import partial

import jax
from jaxtyping import Array, Float

from paritylab.risk.routes.case import (
    EPS,
    Case,
    LoopRisk,
    RouteRisk,
    Statistic,
    risk_through_outer,
)
from paritylab.risk.routes.moving import LOOP_ERROR, moving_mean
from paritylab.risk.routes.pieces import Pieces, scale_of
from paritylab.risk.routes.plan import kinked_plan
from paritylab.risk.routes.series import Plan, kinked_mean
from paritylab.risk.routes.targets import JuntaTarget, Labelled, Target, labelled


def applies(statistic: Statistic, case: Case | None = None) -> bool:
    """For declared pieces."""
    return statistic.pieces is not None


def risk(case: Case) -> RouteRisk:
    """Value and slopes with the series' estimated error; exact where that is mere rounding."""
    problem, pieces = case.problem, case.statistic.pieces
    assert pieces is not None
    plan, tail = kinked_plan(case.weights, problem, pieces, case.tolerance)
    arguments = (case.weights, case.target, pieces, plan)
    mean, kink, slopes = kinked_sum(*arguments, fair=problem.is_uniform, slopes=case.slopes)
    terms = len(plan.frequencies)
    rounding = 16 * (terms + problem.n**0.5) * EPS * scale_of(pieces, problem.k)
    truncation = float(tail.beyond(terms, float(kink)))
    return risk_through_outer(
        case.statistic.loss,
        float(mean),
        truncation + rounding,
        exact=bool(truncation <= rounding),
        slopes=slopes,
    )


def in_loop(statistic: Statistic, n: int) -> LoopRisk:
    """The risk for compiled loops, from a fixed number of terms."""
    pieces, outer = statistic.pieces, statistic.loss.outer
    assert pieces is not None

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        return outer(moving_mean(weights, labelled(target, statistic.labels), pieces))

    return LoopRisk(function, LOOP_ERROR * scale_of(pieces, statistic.k))


@partial(jax.jit, static_argnames=("fair", "slopes"))
def kinked_sum(
    weights: Array,
    target: Target | Labelled,
    pieces: Pieces,
    plan: Plan,
    *,
    fair: bool,
    slopes: bool,
) -> tuple[Array, Array, Array | None]:
    """Mean and total kink of `kinked_mean` and, if slopes are asked for, the mean's gradient in the
    weights."""
    function = partial(kinked_mean, fair=fair)
    if not slopes:
        return *function(weights, target, pieces, plan), None
    found = jax.value_and_grad(function, has_aux=True)(weights, target, pieces, plan)
    (mean, kink), gradient = found
    return mean, kink, gradient
