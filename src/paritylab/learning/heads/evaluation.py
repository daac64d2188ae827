"""What trained heads are worth, and which positions they name."""

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from paritylab.learning.contract import Subset
from paritylab.learning.data import KnownData
from paritylab.learning.descent import stacked
from paritylab.learning.judging import Scores
from paritylab.learning.xor.exact import SOLVED_ERROR, risk_rounding, worst_case, xor_risk
from paritylab.models import AbstractPositionCode, HeadAttention
from paritylab.precision import AnyArray, float64
from paritylab.problem import Parity


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
