"""The population risk as a function that compiled training loops can differentiate."""

from contextlib import suppress
from functools import lru_cache

import jax

from paritylab._support.precision import float64
from paritylab._support.user_functions import call_in_progress, mark_of
from paritylab.models.readouts import Readout, as_readout
from paritylab.problem.losses import Loss, Pointwise, as_loss
from paritylab.risk.population import route_in_loop
from paritylab.risk.routes.pieces import Labels
from paritylab.risk.routes.statistic import (
    JuntaTarget,
    Target,
    WeightRisk,
    labelled,
    labels_of,
    stacked_targets,
    statistic_of,
    target_of,
)

__all__ = [
    "JuntaTarget",
    "Target",
    "WeightRisk",
    "labelled",
    "labels_of",
    "stacked_targets",
    "target_of",
    "weight_risk",
]


def weight_risk(
    readout: str | Readout,
    loss: str | Loss | Pointwise,
    n: int,
    k: int,
    *,
    route: str = "auto",
    labels: Labels = None,
) -> WeightRisk:
    """The population risk of ŷ = readout(Σ_j g_j x_j) as a function of g and the target.

    labels: for juntas, `labels_of` all of them; the target is then `target_of` a junta.

    The route is the first of `ROUTES` that serves this n inside loops. Equal arguments give
    the same object, so that compiled loops are found again; a user's function gives a new one in
    every call of `learn`, whose mark it carries. Call it in float64.
    """
    readout, loss = as_readout(readout, k), as_loss(loss)
    mark = mark_of(readout, loss)
    with float64(), jax.ensure_compile_time_eval():
        if mark is None or mark is call_in_progress():
            with suppress(TypeError):  # a readout that holds arrays cannot be looked up
                return _once(readout, loss, n, k, route, labels, mark)
        return _weight_risk(readout, loss, n, k, route, labels, mark)


def _weight_risk(
    readout: Readout, loss: Loss, n: int, k: int, route: str, labels: Labels, mark: object
) -> WeightRisk:
    """`weight_risk` of checked arguments; mark: of the call in which a user's function was met."""
    return route_in_loop(statistic_of(readout, loss, k, labels), n, route)


_once = lru_cache(maxsize=256)(_weight_risk)
