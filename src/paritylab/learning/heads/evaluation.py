"""What trained heads are worth, and which positions they name."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from paritylab._support.precision import AnyArray, float64
from paritylab.learning.contract import Subset, Trained
from paritylab.learning.data import Data, KnownData, Rows, targets_or_unknown
from paritylab.learning.descent import stacked
from paritylab.learning.heads.assembly import assemble, knows_pairs, sums_to_one, trained_parts
from paritylab.learning.heads.objective import weights_at_angles
from paritylab.learning.judging import Scores, judge_heads, judge_models
from paritylab.learning.training import Steps, flat_path, trace_of
from paritylab.learning.xor.exact import SOLVED_ERROR, risk_rounding, worst_case, xor_risk
from paritylab.models import AbstractPositionCode, HeadAttention
from paritylab.problem import Parity
from paritylab.problem.sampling import each_key

if TYPE_CHECKING:
    from paritylab.learning.heads.train import Heads


def favourites(
    code: AbstractPositionCode, directions: Float[np.ndarray, "runs heads width"]
) -> Int[np.ndarray, "runs heads"]:
    """The position each head scores highest."""
    with float64():
        return np.stack(
            [np.argmax(np.asarray(code.scores(jnp.asarray(each))), axis=-1) for each in directions]
        )


def positions_at(angles: Float[np.ndarray, "runs heads"], n: int) -> Int[np.ndarray, "runs heads"]:
    """The position each head points at."""
    turns = np.nan_to_num(angles) * n / (2 * np.pi)
    return np.asarray(np.round(turns).astype(int) % n)


def heaviest(weights: Float[np.ndarray, "runs n"], k: int) -> list[Subset]:
    """The k positions of largest weight of every run; None where another one has as much, up to
    rounding."""
    order = np.argsort(-weights, axis=1, kind="stable")
    sets: list[Subset] = []
    for row, places in zip(weights, order, strict=True):
        slack = 1e-12 * np.abs(row).max()
        clear = k >= len(row) or row[places[k - 1]] > row[places[k]] + slack
        sets.append(tuple(sorted(places[:k].tolist())) if clear else None)
    return sets


class PairScores(NamedTuple):
    """Runs on hidden pairs. scores: their risk, ½E(ŷ-y)². worst: the largest |ŷ - y| over all
    inputs, exact while the weight off the pair is at most |g_i + g_j|, else an upper bound.
    weights: g of every run."""

    scores: Scores
    worst: Float[np.ndarray, " runs"]
    weights: Float[np.ndarray, "runs n"]

    @property
    def solved(self) -> Bool[np.ndarray, " runs"]:
        """½(ŷ-y)² ≤ 0.01 on every input."""
        return np.asarray(self.worst <= SOLVED_ERROR)


def judge_pairs(models: list[HeadAttention], data: KnownData) -> PairScores:
    """Heads with the readout 1 - 2z² on y = -x_i·x_j of fair bits, at any n."""
    pairs = [each for each in data.targets if isinstance(each, Parity)]
    with float64():
        found: Any = stacked(
            _pair_worth(model, np.array(pair.subset), np.float64(pair.noise))
            for model, pair in zip(models, pairs, strict=True)
        )
    unknown = np.full(len(models), np.nan)
    scores = Scores(found.risk, found.rounding, "exact", unknown)
    return PairScores(scores, found.worst, found.weights)


class _Worth(NamedTuple):
    risk: AnyArray
    rounding: AnyArray
    worst: AnyArray
    weights: AnyArray


@eqx.filter_jit
def _pair_worth(model: HeadAttention, pair: Int[AnyArray, "2"], noise: np.float64) -> _Worth:
    """What is known of the trained weights in closed form; call it in float64."""
    weights: Array = model.weights() / 2
    on_pair = jnp.any(jnp.arange(len(weights))[None, :] == pair[:, None], axis=0)
    risk = xor_risk(weights, on_pair, noise=noise)
    return _Worth(risk, risk_rounding(weights), worst_case(weights, on_pair).error, weights)


def weights_of_all(models: list[HeadAttention]) -> Float[np.ndarray, "runs n"]:
    """The weight of every bit in every run, in float64."""
    with float64():
        return np.stack([np.asarray(model.weights()) for model in models])


def evaluate(
    settings: "Heads",
    data: Data,
    keys: jax.Array,
    end: Steps,
    trace: int | None,
    starts: np.ndarray,
) -> Trained:
    """The population risk where attention sums to one, at any n; else inputs or samples."""
    numbers, n, k = end.parameters, data.n, settings.size(data)
    like = assemble(settings, n, k, data.targets)
    stats = {"steps": np.full(len(keys), settings.steps), **end.stats}
    if "correlation" in stats:
        stats |= {"starts": starts, "moves": stats["moves"].astype(int)}
    path = end.path if isinstance(end.path, dict) else {"directions": end.path}
    solved = None
    if settings.unit and not isinstance(data, Rows) and sums_to_one(settings, n):
        with float64():
            weights = np.asarray(weights_at_angles(like, numbers))
        found = judge_heads(weights, data, like.readout)
    else:
        models = [
            settings.rebuild(jax.tree.map(lambda leaf, i=run: leaf[i], numbers), target, key)
            for run, (target, key) in enumerate(
                zip(targets_or_unknown(data), each_key(keys), strict=True)
            )
        ]
        if not isinstance(data, Rows) and knows_pairs(settings, data):
            pairs = judge_pairs(models, data)
            found, solved, weights = pairs.scores, pairs.solved, pairs.weights
            stats["worst"] = pairs.worst
        else:
            weights = weights_of_all(models)
            found = _scores(settings, models, weights, data, keys)
    if settings.unit:
        stats["positions"], path = positions_at(numbers, n), {"angles": end.path}
    elif settings.inputs == "bits":
        directions = np.stack([np.asarray(model.directions) for model in models])
        stats["positions"] = favourites(like.code, directions)
    if "positions" in stats:
        subset: list[Subset] = [tuple(sorted(set(heads))) for heads in stats["positions"].tolist()]
    else:
        subset = heaviest(weights, k)
    trained = found.trained(
        data,
        numbers,
        subset,
        trace=trace_of(end, settings.steps, trace, **flat_path(path)),
        stats=stats,
    )
    return trained if solved is None else replace(trained, solved=solved, loss="squared")


def _scores(
    settings: "Heads", models: list[HeadAttention], weights: np.ndarray, data: Data, keys: jax.Array
) -> Scores:
    """What models are worth: by the engine where it can, else on inputs or samples."""
    if (
        isinstance(data, Rows)
        or "readout" in trained_parts(settings)
        or not sums_to_one(settings, data.n)
    ):
        return judge_models(models, data, keys)
    return judge_heads(weights, data, models[0].readout)
