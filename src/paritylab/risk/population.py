"""The front door: population risk at any n without visiting 2^n inputs, by the table of routes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from paritylab._support.precision import AnyArray, float64
from paritylab._support.user_functions import one_call
from paritylab.models import (
    Cosine,
    HeadAttention,
    PiecewiseLinear,
    Zigzag,
    as_readout,
    default_readout,
)
from paritylab.models.readouts import Readout
from paritylab.problem import Junta, Parity
from paritylab.problem.losses import Loss, Pointwise, as_loss
from paritylab.risk.result import Kind, Risk, RiskGradient
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
    for step in (max(1, case.problem.n // 64), 1):
        if case.slopes or len(np.unique(np.round(weights[::step] / weights.max(), 12))) > most:
            return False
    return states.groups_of(weights, case.problem) is not None


#: The first row that applies is taken. Adding a route is adding a line.
ROUTES = (
    Route("closed form", cosine.risk, cosine.in_loop, lambda statistic: statistic.is_closed),
    Route("half-sums", half_sums.risk, half_sums.in_loop, _has_pieces, once=36, loop=24, most=36),
    Route("enumeration", states.enumerated, states.in_loop, once=20, loop=14, most=26),
    Route("lattice", states.lattice, None, fits=_is_lattice),
    Route("Fourier series", series.risk, series.in_loop, _has_pieces),
    Route("black box", numerical.risk, numerical.in_loop),
)


def route_in_loop(statistic: Statistic, n: int, name: str = "auto") -> WeightRisk:
    """The risk for compiled loops by the first row that serves it; name: as `route` above."""
    row = _row(name, n, "loop", lambda row: row.in_loop is not None and row.serves(statistic))
    assert row.in_loop is not None
    return replace(row.in_loop(statistic, n), route=row.name)


def _row(
    name: str, n: int, place: Literal["once", "loop"], usable: Callable[[Route], bool]
) -> Route:
    """The first usable row at this n, or the first of that name."""
    possible: list[str] = []
    for row in ROUTES:
        if n <= (getattr(row, place) if name == "auto" else row.most) and usable(row):
            if name in ("auto", row.name):
                return row
            possible.append(row.name)
    possible = list(dict.fromkeys(possible))
    raise ValueError(f"route {name!r} does not apply here; possible: {', '.join(possible)}")


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
    risk, gradient = _population(attention, problem, readout, loss, tolerance, route, True)
    return RiskGradient(risk, gradient)


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
) -> tuple[Risk, np.ndarray | None]:
    """The risk, and its gradient in the attention (heads, n) if slopes are asked for."""
    with one_call(attention, readout, loss):
        if isinstance(attention, HeadAttention):
            readout = attention.readout if readout is None else readout
            with float64():
                attention = attention.attention()
        given = np.asarray(attention)
        if given.ndim != 2 or given.shape[1] != problem.n:
            raise ValueError(f"attention must have shape (heads, n={problem.n}), got {given.shape}")
        shares = _checked_rows(given, np.ones(len(given)), "attention")
        scale = problem.k / len(shares)
        statistic = _statistic(readout, loss, [problem])
        weights = shares.sum(axis=0) * scale
        risk, found = _risk_of_weights(weights, problem, statistic, tolerance, route, slopes)
    return risk, None if found is None else np.broadcast_to(found * scale, shares.shape)


def _statistic(
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
    return statistic_of(link, loss, first.k, labels_of(problems, loss))


def _risk_of_weights(
    weights: np.ndarray,
    problem: Parity | Junta,
    statistic: Statistic,
    tolerance: float = 1e-6,
    route: str = "auto",
    slopes: bool = False,
) -> tuple[Risk, np.ndarray | None]:
    """The risk at weights g ≥ 0 (n,), Σ g = k up to rounding, by the table of routes; its slopes
    in g if they are asked for."""
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance}")
    # Scaled, so that s never exceeds k.
    case = Case(statistic, weights * (problem.k / weights.sum()), problem, tolerance, slopes)
    with float64():
        row = _row(route, problem.n, "once", lambda row: row.serves(statistic) and row.fits(case))
        found = row.risk(case)
    if math.isnan(found.value):
        raise ValueError(f"the readout or the loss is not a number somewhere on [0, {problem.k}]")
    risk = Risk(found.value, found.error, row.name, "exact" if found.exact else "numerical")
    return risk, None if found.slopes is None else np.asarray(found.slopes)


def _checked_rows(given: np.ndarray, wanted: np.ndarray, what: str) -> np.ndarray:
    """The rows in float64, nonnegative and each with the sum that is wanted.

    Sums of float32 numbers may miss it by 1e-5, others by 1e-9.
    """
    rows = given.astype(np.float64)
    if not np.all(rows >= 0):
        raise ValueError(f"{what} must be nonnegative and finite; found a negative entry or NaN")
    sums = rows.sum(axis=1)
    allowed = 1e-5 if given.dtype.kind == "f" and given.dtype.itemsize < 8 else 1e-9
    missed = np.flatnonzero(np.abs(sums - wanted) > allowed * np.maximum(wanted, 1.0))
    if len(missed):
        row = missed[0]
        raise ValueError(
            f"row {row} of {what} must sum to {wanted[row]:g}, got {sums[row]:.12g}; "
            f"multiply it by {wanted[row]:g} and divide by its sum"
        )
    return rows


class Risks(NamedTuple):
    """Risks of many runs. kind: "exact" only if every one of them is."""

    values: Float[np.ndarray, " runs"]
    errors: Float[np.ndarray, " runs"]
    kind: Kind


def population_risks(
    weights: Float[AnyArray, "runs n"],
    problems: Parity | Junta | Sequence[Parity | Junta],
    *,
    readout: str | Readout | None = None,
    loss: str | Loss | Pointwise = "squared_hinge",
) -> Risks:
    """`population_risk` of every run: one compiled call for the closed form, else a loop.

    weights: g of every run, as `HeadAttention.weights` gives them: g ≥ 0 and Σ_j g_j = k. problems:
    one per run or one for all. Other arguments as in `population_risk`.

    >>> from paritylab.problem import random_parity
    >>> problems = [random_parity(seed, 40, 2) for seed in range(3)]
    >>> sharp = [HeadAttention.on(problem, tau=1e-4).weights() for problem in problems]
    >>> bool(np.all(population_risks(np.stack(sharp), problems).values < 1e-9))
    True
    """
    given = np.asarray(weights)
    targets = [problems] * len(given) if isinstance(problems, Parity | Junta) else list(problems)
    sizes = sorted({target.n for target in targets})
    if given.shape != (len(targets), *sizes):
        raise ValueError(
            f"weights must have shape (runs, n), got {given.shape} for {len(targets)} problems "
            f"with n in {sizes}"
        )
    rows = _checked_rows(given, np.array([len(each.subset) for each in targets]), "weights")
    with one_call(readout, loss):
        one_kind = len({(len(each.subset), type(each)) for each in targets}) == 1
        if one_kind and (readout == "cos" or isinstance(readout, Cosine)):
            statistic = _statistic(readout, loss, targets)
            if statistic.is_closed:
                rows = rows * (statistic.k / rows.sum(axis=1, keepdims=True))
                return Risks(*cosine.many(statistic, rows, targets), "exact")
        found = [
            _risk_of_weights(row, target, _statistic(readout, loss, [target]))[0]
            for row, target in zip(rows, targets, strict=True)
        ]
    values, errors = (np.array([getattr(r, name) for r in found]) for name in ("value", "error"))
    exact = all(risk.kind == "exact" for risk in found)
    return Risks(values, errors, "exact" if exact else "numerical")
