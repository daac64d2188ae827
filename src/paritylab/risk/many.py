"""Population risks of many runs at once, each with its error and all with their kind."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from paritylab.models import Cosine
from paritylab.models.readouts import Readout
from paritylab.precision import AnyArray, float64, one_call
from paritylab.problem import Junta, Parity
from paritylab.problem.losses import Loss, Pointwise
from paritylab.risk.population import checked_statistic, first_miss, risk_of_weights
from paritylab.risk.result import Kind
from paritylab.risk.routes import cosine
from paritylab.risk.routes.statistic import Statistic, stacked_targets

#: Floats that one compiled call may hold at a time.
_BUDGET = 1 << 25


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

    >>> from paritylab.models import HeadAttention
    >>> from paritylab.problem import random_parity
    >>> problems = [random_parity(seed, 40, 2) for seed in range(3)]
    >>> sharp = [HeadAttention.on(problem, tau=1e-4).weights() for problem in problems]
    >>> bool(np.all(population_risks(np.stack(sharp), problems).values < 1e-9))
    True
    """
    kind, weights = np.asarray(weights).dtype, np.asarray(weights, dtype=np.float64)
    targets = [problems] * len(weights) if isinstance(problems, Parity | Junta) else list(problems)
    _check(weights, targets, kind)
    kinds = {(len(problem.subset), type(problem)) for problem in targets}
    with one_call(readout, loss):
        if len(kinds) == 1 and (readout == "cos" or isinstance(readout, Cosine)):
            statistic = checked_statistic(readout, loss, targets)
            if statistic.is_closed:
                return _closed(statistic, weights, targets)
        found = [
            risk_of_weights(row, target, checked_statistic(readout, loss, [target]))[1]
            for row, target in zip(weights, targets, strict=True)
        ]
    values, errors = (np.array([getattr(r, name) for r in found]) for name in ("value", "error"))
    exact = all(risk.kind == "exact" for risk in found)
    return Risks(values, errors, "exact" if exact else "numerical")


def _check(
    weights: Float[np.ndarray, "runs n"], targets: list[Parity | Junta], kind: np.dtype
) -> None:
    """Refuse weights that no model has: negative, or not summing to k. kind: as they came."""
    sizes = sorted({target.n for target in targets})
    if weights.shape != (len(targets), *sizes):
        raise ValueError(
            f"weights must have shape (runs, n), got {weights.shape} for {len(targets)} problems "
            f"with n in {sizes}"
        )
    if not np.all(weights >= 0):
        raise ValueError("weights must be nonnegative and finite; found a negative entry or NaN")
    totals = weights.sum(axis=1)
    wanted = np.array([len(target.subset) for target in targets], np.float64)
    if (run := first_miss(kind, totals, wanted)) is not None:
        raise ValueError(
            f"weights must sum to k in every run, got {totals[run]:.12g} for k={targets[run].k} "
            f"in run {run}; multiply them by k and divide by their sum"
        )


def _closed(
    statistic: Statistic, weights: Float[np.ndarray, "runs n"], targets: list[Parity | Junta]
) -> Risks:
    """All runs in blocks of equal size, the last one filled up with repetitions."""
    runs, n = weights.shape
    weights = weights * (statistic.k / weights.sum(axis=1, keepdims=True))
    stacked = stacked_targets(targets)
    block = max(1, min(1 << (runs - 1).bit_length(), _BUDGET // (64 * n)))
    values, errors = [], []
    for start in range(0, runs, block):
        rows = np.resize(np.arange(start, min(start + block, runs)), block)
        with float64():
            block_targets = jax.tree.map(lambda array, rows=rows: array[rows], stacked)
            some = cosine.many(statistic, weights[rows], block_targets)
        values.append(some[0])
        errors.append(some[1])
    return Risks(np.concatenate(values)[:runs], np.concatenate(errors)[:runs], "exact")
