"""The front door: population risk at any n without visiting 2^n inputs."""

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.models import HeadAttention, as_readout, default_readout
from paritylab.models.readouts import Readout
from paritylab.precision import AnyArray, float64
from paritylab.problem import Junta, Parity
from paritylab.problem.hidden_set import check_problem
from paritylab.problem.losses import Loss, Pointwise, as_loss
from paritylab.risk.result import Risk, RiskGradient
from paritylab.risk.routes.case import Case, RouteRisk, Statistic, statistic_of
from paritylab.risk.routes.targets import labels_of
from paritylab.risk.table import route_once

#: How far the sum of a row may miss one: in float32, in float64, and what is rounding there.
_FLOAT32, _FLOAT64, ROUNDED = 1e-5, 1e-9, 1e-13


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
    then computed in float64. Rows of a float64 array must sum to one within 1e-9, and what is left
    of the difference is inside `.error`; rows of a float32 array are scaled to sum to one, and
    `.error` cannot know what they lost, so pass the model where there is one. readout: "zigzag",
    "cos" or a
    scalar function of s; by default the model's own, or for an array `default_readout`: the zigzag
    of a parity, straight lines through the values of a symmetric junta. loss: a name, a function of
    (y, ŷ) or a `Loss`. tolerance: what the series aims for; `.error` says what was reached and
    `.kind` whether that is mere rounding. route: a name in `risk.table`, for comparisons. A readout
    that no route resolves is refused.

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
    route: str = "auto",
) -> RiskGradient:
    """The risk of a k-head model over all inputs and its gradient in the model's own parameters.

    model: a `HeadAttention` with soft attention; its readout is used. Other arguments as in
    `population_risk`.
    """
    with float64():
        attention, pull_back = jax.vjp(
            lambda p: model.with_parameters(p).attention(), jnp.asarray(model.parameters())
        )
        found = population_gradient(
            attention,
            problem,
            readout=model.readout,
            loss=loss,
            tolerance=tolerance,
            route=route,
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
    check_problem(problem)
    if isinstance(attention, HeadAttention):
        readout = attention.readout if readout is None else readout
        with float64():
            attention = attention.attention()
    shares, off = _checked(attention, problem)
    heads = shares.shape[0]
    weights = shares.sum(axis=0) * (problem.k / heads)
    statistic = checked_statistic(readout, loss, [problem])
    found, risk = risk_of_weights(weights, problem, statistic, tolerance, route, slopes, off)
    if found.slopes is None:
        return risk, None, None
    scale = problem.k / heads
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
    link = default_readout(first) if readout is None else as_readout(readout, first.k)
    juntas = any(isinstance(problem, Junta) for problem in problems)
    return statistic_of(link, loss, first.k, labels_of(problems, loss) if juntas else None)


def risk_of_weights(
    weights: np.ndarray,
    problem: Parity | Junta,
    statistic: Statistic,
    tolerance: float,
    route: str = "auto",
    slopes: bool = False,
    off: float = 0.0,
) -> tuple[RouteRisk, Risk]:
    """The risk at weights g ≥ 0 (n,), Σ g = k up to rounding, by the table of routes.

    off: by what share the weights of a float64 array miss their sum; its effect joins the error.
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance}")
    # Scaled, so that s never exceeds k.
    weights = weights * (problem.k / weights.sum())
    case = Case(statistic, weights, problem, tolerance, slopes)
    with float64():
        row = route_once(case, route)
        found = row.module.risk(case)
        if off > ROUNDED:
            moved = row.module.risk(case._replace(weights=weights * (1 - off), slopes=False))
            found = found._replace(error=found.error + 2 * abs(found.value - moved.value))
    if math.isnan(found.value):
        raise ValueError(f"the readout or the loss is not a number somewhere on [0, {problem.k}]")
    return found, Risk(found.value, found.error, row.name, "exact" if found.exact else "numerical")


def _checked(attention: AnyArray, problem: Parity | Junta) -> tuple[np.ndarray, float]:
    """The shares in float64, and by how much the worst row of a float64 array misses one."""
    given = np.asarray(attention)
    shares = given.astype(np.float64)
    if shares.ndim != 2 or shares.shape[1] != problem.n:
        raise ValueError(f"attention must have shape (heads, n={problem.n}), got {shares.shape}")
    if problem.k < 1:
        raise ValueError("the model needs a parity set with at least one position, got k=0")
    if not np.all(shares >= 0):
        raise ValueError("attention must be nonnegative and finite; found a negative entry or NaN")
    sums = shares.sum(axis=1)
    worst = float(sums[np.argmax(np.abs(sums - 1))])
    off = float(missed_shares(given.dtype, np.array(worst), np.ones(())))
    if math.isinf(off):
        raise ValueError(
            f"every row of attention must sum to 1, got a row that sums to {worst}; "
            "divide it by its sum: a / a.sum(axis=1, keepdims=True)"
        )
    return shares, off


def missed_shares(kind: np.dtype, totals: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """By what share sums miss what they should be; 0 where float32 explains it, ∞ if too much.

    kind: of the array that was passed.
    """
    off = np.abs(totals - wanted) / np.maximum(wanted, 1.0)
    if kind.kind == "f" and kind.itemsize < 8:
        return np.where(off < _FLOAT32, 0.0, np.inf)
    return np.where(off <= _FLOAT64, off, np.inf)
