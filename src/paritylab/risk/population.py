"""The front door: population risk at any n without visiting 2^n inputs, by the table of routes."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.models import (
    Cosine,
    HeadAttention,
    PiecewiseLinear,
    Zigzag,
    as_readout,
    default_readout,
)
from paritylab.models.readouts import Readout
from paritylab.precision import AnyArray, float64, one_call
from paritylab.problem import Junta, Parity
from paritylab.problem.losses import Loss, Pointwise, as_loss
from paritylab.risk.result import Risk, RiskGradient
from paritylab.risk.routes import cosine, half_sums, numerical, series, states
from paritylab.risk.routes.statistic import (
    Case,
    RouteRisk,
    Statistic,
    WeightRisk,
    labels_of,
    statistic_of,
)


class Route(NamedTuple):
    """One way to a risk. risk: at fixed weights. in_loop: in compiled loops, whose weights move.

    serves: whether it can serve a statistic. fits: whether it can serve this case of it. once,
    loop: the largest n at the front door and inside loops. most: the largest n if asked for.
    """

    name: str
    risk: Callable[[Case], RouteRisk]
    in_loop: Callable[[Statistic, int], WeightRisk] | None
    serves: Callable[[Statistic], bool] = lambda statistic: True
    fits: Callable[[Case], bool] = lambda case: True
    once: float | int = math.inf
    loop: float | int = math.inf
    most: float | int = math.inf


def _has_pieces(statistic: Statistic) -> bool:
    return statistic.pieces is not None


def _is_lattice(case: Case) -> bool:
    """Whether the weights have few distinct values; for values only, without slopes.

    A glance at a few positions spares most calls the sort over all of them.
    """
    weights, most = case.weights, states.MAX_GROUPS + case.problem.k
    scale = max(weights.max(), 1e-300)
    for step in (max(1, case.problem.n // 64), 1):
        if case.slopes or len(np.unique(np.round(weights[::step] / scale, 12))) > most:
            return False
    return states.groups_of(weights, case.problem) is not None


#: The first row that applies is taken. Adding a route is adding a line.
ROUTES = (
    Route("closed form", cosine.risk, cosine.in_loop, lambda statistic: statistic.is_closed),
    Route("half-sums", half_sums.risk, half_sums.in_loop, _has_pieces, once=36, loop=24, most=36),
    Route("enumeration", states.enumerated, states.in_loop, once=20, loop=14, most=26),
    Route("lattice", states.lattice, None, fits=_is_lattice),
    Route("series", series.risk, series.in_loop, _has_pieces),
    Route("series", numerical.risk, numerical.in_loop),
)


def route_once(case: Case, name: str = "auto") -> Route:
    """The row for one risk at fixed weights; name: "auto", or the route that is asked for."""
    fitting = (
        row
        for row in ROUTES
        if case.problem.n <= (row.once if name == "auto" else row.most)
        and row.serves(case.statistic)
        and row.fits(case)
    )
    return _first(fitting, name)


def route_in_loop(statistic: Statistic, n: int, name: str = "auto") -> WeightRisk:
    """The risk for compiled loops by the first row that serves it; name as above."""
    fitting = (
        row
        for row in ROUTES
        if row.in_loop and n <= (row.loop if name == "auto" else row.most) and row.serves(statistic)
    )
    row = _first(fitting, name)
    assert row.in_loop is not None
    return replace(row.in_loop(statistic, n), route=row.name)


def _first(fitting: Iterable[Route], name: str) -> Route:
    """The first row, or the first of that name."""
    rows = []
    for row in fitting:
        if name in ("auto", row.name):
            return row
        rows.append(row.name)
    possible = ", ".join(dict.fromkeys(rows))
    raise ValueError(f"route {name!r} does not apply here; possible: {possible}")


def population_risk(
    attention: AnyArray | HeadAttention,
    problem: Parity | Junta,
    *,
    readout: str | Readout | None = None,
    loss: str | Loss | Pointwise = "squared_hinge",
    tolerance: float = 1e-6,
    route: str = "auto",
) -> Risk:
    """The risk of ŷ = readout((k/heads) Σ_i Σ_j γ_i[j] x_j) over all 2^n inputs.

    attention: γ, shape (heads, n), rows summing to one; or a `HeadAttention`, whose attention is
    then computed in float64. Rows of an array may miss one by 1e-9 (1e-5 in float32) and are scaled
    to sum to one: `.error` cannot know what they lost, so pass the model where there is one.
    readout: "zigzag", "cos" or a scalar function of s; by default the model's own, or for an array
    `default_readout`: the zigzag of a parity, straight lines through the values of a symmetric
    junta. loss: a name, a function of (y, ŷ) or a `Loss`. tolerance: what the series aims for;
    `.error` says what was reached and `.kind` whether that is mere rounding. route: a name in
    `ROUTES`, for comparisons. A readout that no route resolves is refused.

    >>> import numpy as np
    >>> risk = population_risk(np.full((3, 100_000), 1e-5), Parity(100_000, (5, 77, 4096)))
    >>> print(f"{risk.value:.4f} by {risk.route}")
    7.9096 by lattice
    """
    return _population(attention, problem, readout, loss, tolerance, route, False)[0]


def population_gradient(
    attention: AnyArray | HeadAttention,
    problem: Parity | Junta,
    *,
    readout: str | Readout | None = None,
    loss: str | Loss | Pointwise = "squared_hinge",
    tolerance: float = 1e-6,
    route: str = "auto",
) -> RiskGradient:
    """The risk and its gradient with respect to the attention matrix, shape (heads, n).

    Arguments as in `population_risk`.
    """
    risk, gradient, error = _population(attention, problem, readout, loss, tolerance, route, True)
    assert gradient is not None
    return RiskGradient(risk, gradient, error)


def model_gradient(
    model: HeadAttention,
    problem: Parity | Junta,
    *,
    loss: str | Loss | Pointwise = "squared_hinge",
    tolerance: float = 1e-6,
) -> RiskGradient:
    """The risk of a k-head model over all inputs and its gradient in the model's own parameters.

    model: a `HeadAttention` with soft attention; its readout is used. Other arguments as in
    `population_risk`.
    """
    with one_call(model, loss), float64():
        attention, pull_back = jax.vjp(
            lambda p: model.with_parameters(p).attention(), jnp.asarray(model.parameters())
        )
        found = population_gradient(
            attention, problem, readout=model.readout, loss=loss, tolerance=tolerance
        )
        (gradient,) = pull_back(jnp.asarray(found.gradient))
        return RiskGradient(found.risk, np.asarray(gradient))


def _population(
    attention: AnyArray | HeadAttention,
    problem: Parity | Junta,
    readout: str | Readout | None,
    loss: str | Loss | Pointwise,
    tolerance: float,
    route: str,
    slopes: bool,
) -> tuple[Risk, np.ndarray | None, np.ndarray | None]:
    """The risk, its gradient in the attention (heads, n) if slopes are asked for, its error."""
    with one_call(attention, readout, loss):
        if isinstance(attention, HeadAttention):
            readout = attention.readout if readout is None else readout
            with float64():
                attention = attention.attention()
        shares = _checked(attention, problem)
        scale = problem.k / len(shares)
        statistic = checked_statistic(readout, loss, [problem])
        weights = shares.sum(axis=0) * scale
        found, risk = risk_of_weights(weights, problem, statistic, tolerance, route, slopes)
    if found.slopes is None:
        return risk, None, None
    gradient = np.broadcast_to(np.asarray(found.slopes) * scale, shares.shape)
    error = found.slopes_error
    return risk, gradient, None if error is None else np.full(shares.shape, error * scale)


def checked_statistic(
    readout: str | Readout | None,
    loss: str | Loss | Pointwise,
    problems: Sequence[Parity | Junta],
) -> Statistic:
    """The statistic of what a user passed, for problems of one k; where no readout is named, the
    `default_readout` of the first."""
    first, loss = problems[0], as_loss(loss)
    if first.k < 1:
        raise ValueError("the model needs a parity set with at least one position, got k=0")
    if isinstance(readout, Zigzag | PiecewiseLinear | Cosine):  # these need no trial call
        link: Readout = readout
    else:
        link = default_readout(first) if readout is None else as_readout(readout, first.k)
    juntas = any(isinstance(problem, Junta) for problem in problems)
    return statistic_of(link, loss, first.k, labels_of(problems, loss) if juntas else None)


def risk_of_weights(
    weights: np.ndarray,
    problem: Parity | Junta,
    statistic: Statistic,
    tolerance: float = 1e-6,
    route: str = "auto",
    slopes: bool = False,
) -> tuple[RouteRisk, Risk]:
    """The risk at weights g ≥ 0 (n,), Σ g = k up to rounding, by the table of routes."""
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance}")
    # Scaled, so that s never exceeds k.
    case = Case(statistic, weights * (problem.k / weights.sum()), problem, tolerance, slopes)
    with float64():
        row = route_once(case, route)
        found = row.risk(case)
    if math.isnan(found.value):
        raise ValueError(f"the readout or the loss is not a number somewhere on [0, {problem.k}]")
    return found, Risk(found.value, found.error, row.name, "exact" if found.exact else "numerical")


def _checked(attention: AnyArray, problem: Parity | Junta) -> np.ndarray:
    """The shares in float64."""
    given = np.asarray(attention)
    shares = given.astype(np.float64)
    if shares.ndim != 2 or shares.shape[1] != problem.n:
        raise ValueError(f"attention must have shape (heads, n={problem.n}), got {shares.shape}")
    if problem.k < 1:
        raise ValueError("the model needs a parity set with at least one position, got k=0")
    if not np.all(shares >= 0):
        raise ValueError("attention must be nonnegative and finite; found a negative entry or NaN")
    sums = shares.sum(axis=1)
    if (row := first_miss(given.dtype, sums, np.ones(len(sums)))) is not None:
        raise ValueError(
            f"every row of attention must sum to 1, got a row that sums to {sums[row]}; "
            "divide it by its sum: a / a.sum(axis=1, keepdims=True)"
        )
    return shares


def first_miss(kind: np.dtype, totals: np.ndarray, wanted: np.ndarray) -> int | None:
    """The first of the sums that misses what it should be by more than rounding explains.

    kind: of the array that was passed; sums of float32 numbers may miss by 1e-5, others by 1e-9.
    """
    allowed = 1e-5 if kind.kind == "f" and kind.itemsize < 8 else 1e-9
    missed = np.flatnonzero(~(np.abs(totals - wanted) <= allowed * np.maximum(wanted, 1.0)))
    return int(missed[0]) if len(missed) else None
