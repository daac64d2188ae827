"""The expectation as a plain sum over all 2^n attended sums: any statistic, small n."""

from functools import partial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.risk.routes.statistic import (
    EPS,
    Case,
    LoopRisk,
    RouteRisk,
    Statistic,
    at_rounded_sums,
    evaluated,
    risk_through_outer,
)
from paritylab.risk.routes.targets import JuntaTarget, Target, halves, labelled

#: 2^_INNER sums are evaluated at a time.
_INNER = 15


def risk(case: Case) -> RouteRisk:
    """Value and slopes to rounding.

    Sums are rounded too. Where one lies on a jump, or a slope on a kink, the error counts what
    the other side would give.
    """
    n, statistic = case.problem.n, case.statistic
    both = halves(case.weights, case.target, _INNER)
    inner, outer = (tuple(map(np.asarray, half)) for half in (both.left, both.right))
    shift = 2 * n * EPS * statistic.k
    # Of the statistic and, if asked for, of its derivative: mean, what rounding moves, the largest.
    totals = np.zeros((1 + case.slopes, 3))
    inner_slopes, outer_slopes = np.zeros(len(inner[0])), np.zeros(len(outer[0]))
    for number, (start, chance) in enumerate(zip(outer[0], outer[1].T, strict=True)):
        sums, shares = inner[0] + start, inner[1] * chance[:, None]
        for row, total in enumerate(totals):
            function = partial(evaluated, statistic, slopes=row == 1)
            values, moved = at_rounded_sums(function, sums, shift, statistic.k)
            if row == 1:
                moved[:, sums == 0] = 0  # the empty sum is exact, and belongs to no weight
                slopes = np.sum(shares * values, axis=0)
                inner_slopes += slopes
                outer_slopes[number] = slopes.sum()
            total[0] += np.sum(shares * values)
            total[1] += np.sum(np.abs(shares) * moved)
            total[2] = max(total[2], np.abs(values).max())
    errors = 64 * n * EPS * (1 + totals[:, 2]) + totals[:, 1]
    return risk_through_outer(
        statistic.loss,
        float(totals[0, 0]),
        float(errors[0]),
        exact=True,
        slopes=both.gathered(inner_slopes, outer_slopes) if case.slopes else None,
        slopes_error=float(errors[1]) if case.slopes else None,
    )


def in_loop(statistic: Statistic, n: int) -> LoopRisk:
    """The risk for compiled loops; its error is that of rounding, away from jumps."""

    def function(weights: Float[Array, " n"], target: Target | JuntaTarget) -> Float[Array, ""]:
        every = halves(weights, labelled(target, statistic.labels), n).left
        return statistic.loss.outer(
            jnp.sum(every.chances * statistic.parts(jnp.asarray(every.sums)))
        )

    size = np.abs(evaluated(statistic, np.linspace(0, statistic.k, 4096))).max()
    return LoopRisk(function, 64 * n * EPS * (1 + float(size)))
