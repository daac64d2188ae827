"""What trained models are worth: the front door's number, with its error and kind."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.data import Rows
from paritylab.models import HeadAttention
from paritylab.models.protocol import parameters_of
from paritylab.precision import float64
from paritylab.problem import Junta, Loss, Parity, as_loss
from paritylab.problem.sampling import each_key
from paritylab.risk import Risk, enumerated_risk, population_risks, sampled_risk

#: Up to here every input is visited; beyond, fresh samples stand for them.
MOST_BITS = 20
SAMPLES = 65_536


class Judged(NamedTuple):
    """One entry per run: risk, its error (one standard error if sampled), accuracy."""

    risk: np.ndarray
    error: np.ndarray
    kind: str
    accuracy: np.ndarray


def _is_right(y: jax.Array, prediction: jax.Array) -> jax.Array:
    return jnp.where(y * prediction > 0, 1.0, 0.0)


ACCURACY = Loss("accuracy", _is_right)


def judging_loss(data: Any) -> str:
    """The loss a run's risk is of: squared hinge, or ½(ŷ-y)² where a junta's values are real."""
    real = (isinstance(each, Junta) and not each.is_boolean for each in data.targets or ())
    return "squared" if any(real) else "squared_hinge"


def judge_models(
    models: Sequence[Any],
    data: Any,
    keys: jax.Array,
    *,
    most_bits: int = MOST_BITS,
    samples: int = SAMPLES,
) -> Judged:
    """Any models: all inputs up to `most_bits`, `samples` beyond, held-out rows of `Rows`."""
    if isinstance(data, Rows):
        return _on_held_out_rows(models, data, keys)
    drawn = None if data.n <= most_bits else samples
    columns = []
    for model, target, key in zip(models, data.targets, each_key(keys), strict=True):
        if not is_finite(model):
            columns.append((np.nan, np.nan, np.nan))
            continue
        pair = [_risk(model, target, loss, key, drawn) for loss in (judging_loss(data), ACCURACY)]
        columns.append((pair[0].value, pair[0].error, pair[1].value))
    risk, error, accuracy = (np.array(column) for column in zip(*columns, strict=True))
    return Judged(risk, error, "exact" if drawn is None else "sampled", accuracy)


def _risk(
    model: Any, target: Parity | Junta, loss: Any, key: jax.Array, samples: int | None
) -> Risk:
    """The risk of one model; not a number where its predictions are none."""
    if samples is not None:
        return sampled_risk(model, target, loss, samples=samples, key=jax.random.fold_in(key, 3))
    try:
        return enumerated_risk(model, target, loss)
    except ValueError:
        rows = np.random.default_rng(0).integers(0, 2, (64, target.n)).astype(np.float64)
        if np.isfinite(np.asarray(_predict(model, rows))).all():
            raise
        return Risk(np.nan, np.nan, "enumeration")


def judge_heads(
    models: Sequence[HeadAttention], data: Any, keys: jax.Array, loss: Any = None
) -> Judged:
    """k-head models: the population risk of each, at any n; of `judging_loss` if none is named."""
    if isinstance(data, Rows):
        return _on_held_out_rows(models, data, keys)
    sound = [i for i, model in enumerate(models) if is_finite(model)]
    loss = judging_loss(data) if loss is None else loss
    return _on_population([models[i] for i in sound], sound, data, loss)


def judge_weights(weights: np.ndarray, data: Any, readout: Any) -> Judged:
    """The same for models of one readout known by the weights (runs, n) of their bits."""
    sound = np.flatnonzero(np.isfinite(weights).all(axis=1)).tolist()
    return _on_population(weights[sound], sound, data, judging_loss(data), readout)


def _on_population(
    given: Any, sound: list[int], data: Any, loss: Any, readout: Any = None
) -> Judged:
    """Risks of what is given for the sound runs; not a number for the others."""
    risk, error, unknown = np.full((3, data.runs), np.nan)
    kind = "exact"
    if sound:
        problems = [data.targets[i] for i in sound]
        risk[sound], error[sound], kind = population_risks(
            given, problems, readout=readout, loss=loss
        )
    return Judged(risk, error, kind, unknown)


def is_finite(model: Any) -> bool:
    """Whether all numbers of a model are; a run that diverged has no risk."""
    return all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(parameters_of(model)))


def _on_held_out_rows(models: Sequence[Any], data: Rows, keys: jax.Array) -> Judged:
    loss, columns = as_loss("squared_hinge"), []
    with float64():
        for model, key in zip(models, each_key(keys), strict=True):
            held = data.split(key)[1]
            labels = data.labels[held].astype(np.float64)
            made = np.asarray(_predict(model, data.bits[held].astype(np.float64)))
            values = np.asarray(loss.pointwise(jnp.asarray(labels), jnp.asarray(made)))
            spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.inf
            columns.append((values.mean(), spread, np.mean(labels * made > 0)))
    risk, error, accuracy = (np.array(column) for column in zip(*columns, strict=True))
    return Judged(risk, error, "sampled", accuracy)


@eqx.filter_jit
def _predict(model: Any, bits: Any) -> jax.Array:
    return jax.vmap(model)(bits)
