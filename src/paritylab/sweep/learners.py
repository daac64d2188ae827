"""The learners a sweep can name. A learner maps one spec to one plain row per run."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.half_sums import half_sum_mean
from paritylab.learning.losses import LOSSES
from paritylab.learning.pieces import pieces_of
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.precision import float64
from paritylab.problem import random_parity
from paritylab.sweep.spec import Spec

Row = dict[str, Any]
Learner = Callable[[Spec], list[Row]]

LEARNERS: dict[str, Learner] = {}


def learner(name: str) -> Callable[[Learner], Learner]:
    """Register a learner: a function from a `Spec` to `spec.width` rows with a "success" each."""

    def register(function: Learner) -> Learner:
        LEARNERS[name] = function
        return function

    return register


def learner_of(spec: Spec) -> Learner:
    if spec.learner not in LEARNERS:
        known = ", ".join(sorted(LEARNERS))
        raise ValueError(f"learner must be one of {known}, got {spec.learner!r}")
    return LEARNERS[spec.learner]


@learner("coin")
def coin(spec: Spec) -> list[Row]:
    """A coin with a given success rate: what the machinery is tested with."""
    rate = float(dict(spec.settings).get("rate", 0.5))
    draws = [np.random.default_rng([spec.seed, run]).random() for run in spec.runs]
    return [{"success": bool(draw < rate), "draw": float(draw)} for draw in draws]


@learner("start")
def start(spec: Spec) -> list[Row]:
    """Random heads on random targets before any training: exact risk, all runs in one call.

    problem: n ≤ 30, k. settings: tau (default 1/n), below: a run succeeds if its risk is below
    this (default 1).
    """
    problem, settings = dict(spec.problem), dict(spec.settings)
    n, k = int(problem["n"]), int(problem["k"])
    if n > 30:
        raise ValueError(f"the learner 'start' takes n ≤ 30, got n={n}")
    tau, below = float(settings.get("tau", 1 / n)), float(settings.get("below", 1.0))
    directions, indicators = [], []
    for run in spec.runs:
        key = jax.random.fold_in(jax.random.key(spec.seed), run)
        target_key, start_key = jax.random.split(key)
        target = random_parity(target_key, n, k)
        directions.append(HeadAttention.random(start_key, target).directions)
        indicators.append(target.indicator)
    with float64():
        pieces = pieces_of(Zigzag(k), LOSSES["squared_hinge"])
        risks = np.asarray(_start_risks(np.stack(directions), np.stack(indicators), tau, pieces))
    return [{"success": bool(risk < below), "risk": float(risk)} for risk in risks]


@jax.jit
def _start_risks(directions, indicators, tau, pieces):
    k, n = directions.shape[1], indicators.shape[1]

    def one(heads, indicator):
        weights = HeadAttention(heads, Circle(n), k, Zigzag(k), tau).weights()
        return half_sum_mean(weights, indicator, jnp.full(n, 0.5), jnp.ones(()), pieces)

    return jax.vmap(one)(directions, indicators)
