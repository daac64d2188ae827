"""What trained models are worth: the front door's number, with its error and kind.

Heads whose attention does not see the bits are judged by closed forms at any n (`judge_heads`),
other models on all inputs while these can be visited, else on fresh samples (`judge_models`).
"""

from collections.abc import Iterable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from paritylab._support.precision import AnyArray, float64
from paritylab.learning.contract import SOLVED_RISK, Subset, Trained
from paritylab.learning.data import Data, KnownData, Rows, functions_of
from paritylab.models.protocol import Model, parameters_of
from paritylab.models.readouts import Readout
from paritylab.problem import Junta, Loss, Parity, as_loss
from paritylab.problem.sampling import each_key
from paritylab.risk import Risk, enumerated_risk, population_risks, sampled_risk

#: Up to here every input is visited; beyond, fresh samples stand for them.
MOST_BITS = 20
SAMPLES = 65_536


class Scores(NamedTuple):
    """One entry per run: risk, its error (one standard error if sampled), accuracy or NaN."""

    risk: np.ndarray
    error: np.ndarray
    kind: str
    accuracy: np.ndarray

    def trained(
        self,
        data: Data,
        numbers: PyTree,
        subset: list[Subset],
        *,
        trace: dict[str, np.ndarray],
        stats: dict[str, np.ndarray],
    ) -> Trained:
        """Runs that are solved if their risk, with its error, is below 0.05."""
        return Trained(
            numbers=numbers,
            subset=subset,
            risk=self.risk,
            error=self.error,
            kind=self.kind,
            loss=judging_loss(data),
            solved=self.risk + self.error < SOLVED_RISK,
            trace=trace,
            stats=stats,
        )


def _is_right(y: jax.Array, prediction: jax.Array) -> jax.Array:
    return jnp.where(y * prediction > 0, 1.0, 0.0)


ACCURACY = Loss("accuracy", _is_right)


def judging_loss(data: Data) -> str:
    """The loss a run's risk is of: squared hinge, or ½(ŷ-y)² where a junta's values are real."""
    given = data.targets or ()
    if not (given and isinstance(given[0], Junta)):  # all are of one kind
        return "squared_hinge"
    real = (isinstance(each, Junta) and not each.is_boolean for each in given)
    return "squared" if any(real) else "squared_hinge"


def judge_models(
    models: Iterable[Model],
    data: Data,
    keys: jax.Array,
    *,
    most_bits: int = MOST_BITS,
    samples: int = SAMPLES,
) -> Scores:
    """Any models, one in memory at a time if they come from a generator.

    All inputs are visited up to `most_bits`, `samples` fresh ones beyond; for `Rows` those that
    were held out.
    """
    if isinstance(data, Rows):
        return judge_on_rows(models, data, keys)
    targets, chosen = functions_of(data, "a model"), as_loss(judging_loss(data))
    drawn = None if data.n <= most_bits else samples
    columns = []
    for model, target, key in zip(models, targets, each_key(keys), strict=True):
        fresh = jax.random.fold_in(key, 3)
        risk, right = (_risk(model, target, each, fresh, drawn) for each in (chosen, ACCURACY))
        columns.append((risk.value, risk.error, right.value))
    risks, errors, accuracy = (np.array(column) for column in zip(*columns, strict=True))
    return Scores(risks, errors, "exact" if drawn is None else "sampled", accuracy)


def _risk(
    model: Model,
    target: Parity | Junta,
    loss: Loss,
    key: jax.Array,
    samples: int | None,
) -> Risk:
    """The risk of one model; not a number where its numbers or predictions are none."""
    if not is_finite(model):
        return Risk(np.nan, np.nan, "diverged")
    try:
        if samples is None:
            return enumerated_risk(model, target, loss)
        return sampled_risk(model, target, loss, samples=samples, key=key)
    except ValueError:
        rows = np.random.default_rng(0).integers(0, 2, (64, target.n)).astype(np.float64)
        if np.isfinite(np.asarray(_predict(model, rows))).all():
            raise
        return Risk(np.nan, np.nan, "diverged")


def judge_heads(weights: Float[np.ndarray, "runs n"], data: KnownData, readout: Readout) -> Scores:
    """The population risk of every run, at any n, from the weights of its bits.

    Attention that does not depend on the bits makes the model a function of one sum s = Σ g_j x_j,
    g the weights, whose risk has closed forms and series (`paritylab.risk`): no inputs are visited
    or sampled. Runs that diverged have no risk.
    """
    sound = np.flatnonzero(np.isfinite(weights).all(axis=1)).tolist()
    risk, error, unknown = np.full((3, data.runs), np.nan)
    kind, targets = "exact", functions_of(data, "heads")
    if sound:
        risk[sound], error[sound], kind = population_risks(
            weights[sound], [targets[i] for i in sound], readout=readout, loss=judging_loss(data)
        )
    return Scores(risk, error, kind, unknown)


def is_finite(model: Model) -> bool:
    """Whether all numbers of a model are; a run that diverged has no risk."""
    return all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(parameters_of(model)))


def judge_on_rows(models: Iterable[Model], data: Rows, keys: jax.Array) -> Scores:
    """Squared hinge on the rows that each run did not train on."""
    loss, columns = as_loss("squared_hinge"), []
    with float64():
        for model, key in zip(models, each_key(keys), strict=True):
            held = data.split(key)[1]
            labels = data.labels[held].astype(np.float64)
            made = np.asarray(_predict(model, data.bits[held].astype(np.float64)))
            values = np.asarray(loss.pointwise(jnp.asarray(labels), jnp.asarray(made)))
            # One held-out row has no spread to estimate: its error is unknown, not 0.
            spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.inf
            columns.append((values.mean(), spread, np.mean(labels * made > 0)))
    risk, error, accuracy = (np.array(column) for column in zip(*columns, strict=True))
    return Scores(risk, error, "sampled", accuracy)


@eqx.filter_jit
def _predict(model: Model, bits: Float[AnyArray, "rows n"]) -> Float[Array, " rows"]:
    made: Array = jax.vmap(model)(jnp.asarray(bits))
    return made
