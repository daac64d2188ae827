"""The learners a sweep can name. A learner maps one spec to one plain row per run."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.chain.levels import train_levels
from paritylab.learning.chain.published import MODES, train_full_batch
from paritylab.learning.chain.teacher import train_chain
from paritylab.learning.heads.anneal import Annealing, anneal_heads
from paritylab.learning.heads.train import random_targets, train_heads
from paritylab.learning.xor.train import train_xor
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.precision import float64
from paritylab.problem import Parity, random_parity, random_tree
from paritylab.problem.losses import LOSSES
from paritylab.risk.routes.half_sums import half_sum_mean
from paritylab.risk.routes.pieces import pieces_of
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


_HEADS_PROBLEM = {"n", "k", "subset", "noise", "bias", "neighbours"}
_HEADS_SETTINGS = {
    "preset",
    "tau",
    "loss",
    "readout",
    "optimiser",
    "rate",
    "steps",
    "heads",
    "data",
    "samples",
    "variant",
    "restarts",
}


@learner("heads")
def heads(spec: Spec) -> list[Row]:
    """k heads trained from random angles; a run succeeds if they end on exactly the set B.

    problem: n, k, and optionally subset (the same target for all runs), noise, bias, neighbours.
    settings: those of `train_heads`, with preset for its procedure.
    """
    problem, settings = dict(spec.problem), dict(spec.settings)
    _only("problem", problem, _HEADS_PROBLEM)
    _only("setting", settings, _HEADS_SETTINGS)
    first, name = spec.runs[0], settings.pop("preset", "paper")
    targets = _head_targets(problem, spec)
    if name == "anneal":
        return _annealed(targets, spec, settings)
    runs = train_heads(targets, name, seed=spec.seed, first=first, **settings)
    return [
        {
            "success": bool(runs.recovered[i]),
            "solved": bool(runs.solved[i]),
            "risk": _finite(runs.risk[i]),
            "subset": list(runs.problems[i].subset),
            "positions": runs.positions[i].tolist(),
            "directions": runs.directions[i].tolist(),
            "trace": [_finite(value) for value in runs.path_risks[:, i]],
        }
        for i in range(spec.width)
    ]


def _annealed(targets: Sequence[Parity], spec: Spec, settings: dict[str, Any]) -> list[Row]:
    """Rows of the annealed heads; solved means that the model's own correlation proves it."""
    _only("setting", settings, {"steps", "samples", "data", "restarts"})
    schedule = Annealing(**({"steps": settings["steps"]} if "steps" in settings else {}))
    runs = anneal_heads(
        targets,
        schedule,
        restarts=settings.get("restarts", 0),
        samples=settings.get("samples"),
        seed=spec.seed,
        first=spec.runs[0],
    )
    return [
        {
            "success": bool(runs.recovered[i]),
            "solved": bool(runs.correlation[i] > 0.95),
            "risk": _finite(-np.log(max(runs.correlation[i], 1e-300))),
            "starts": int(runs.starts[i]),
            "subset": list(runs.problems[i].subset),
            "positions": runs.positions[i].tolist(),
            "directions": runs.directions[i].tolist(),
            "trace": [_finite(value) for value in runs.path_risks[:, i]],
        }
        for i in range(spec.width)
    ]


_XOR_SETTINGS = {
    "width",
    "positions",
    "attention",
    "readout",
    "loss",
    "steps",
    "gain",
    "optimiser",
    "start",
    "samples",
    "learn_positions",
}


@learner("xor")
def xor(spec: Spec) -> list[Row]:
    """Two heads on hidden pairs; a run succeeds if ½(ŷ-y)² ≤ 0.01 on every one of the 2^n inputs.

    problem: n, and optionally noise. settings: those of `train_xor`.
    """
    problem, settings = dict(spec.problem), dict(spec.settings)
    _only("problem", problem, {"n", "noise"})
    _only("setting", settings, _XOR_SETTINGS)
    runs = train_xor(
        int(problem["n"]),
        runs=spec.width,
        noise=float(problem.get("noise", 0.0)),
        seed=spec.seed,
        first=spec.runs[0],
        **settings,
    )
    return [
        {
            "success": bool(runs.solved[i]),
            "ranked": bool(runs.ranked[i]),
            "error": _finite(runs.error[i]),
            "risk": _finite(runs.risk[i]),
            "split": bool(runs.split[i]),
            "pair": runs.pairs[i].tolist(),
            "directions": runs.directions[i].tolist(),
            "weights": runs.example.tolist() if i == 0 else None,
        }
        for i in range(spec.width)
    ]


_CHAIN_SETTINGS = {"mode", "samples", "link", "mask", "eta", "epsilon", "strings", "epochs"}


@learner("chain")
def chain(spec: Spec) -> list[Row]:
    """The chain of thought of hidden parities; a run succeeds if every generated answer is right.

    problem: n, k = 2^v. settings: mode (teacher or levels), samples, and those of `train_chain` or
    `train_levels`.
    """
    problem, settings = dict(spec.problem), dict(spec.settings)
    _only("problem", problem, {"n", "k"})
    _only("setting", settings, _CHAIN_SETTINGS)
    n, k, mode = int(problem["n"]), int(problem["k"]), settings.pop("mode", "teacher")
    if mode == "levels":
        return [_level_row(n, k, spec.seed, run, settings) for run in spec.runs]
    if mode in MODES:
        return [_full_batch_row(n, k, mode, spec.seed, run, settings) for run in spec.runs]
    if mode != "teacher":
        raise ValueError(f"mode must be one of teacher, levels, {', '.join(MODES)}, got {mode!r}")
    runs = train_chain(n, k, runs=spec.width, seed=spec.seed, first=spec.runs[0], **settings)
    return [
        {
            "success": bool(runs.solved[i]),
            "pairs_found": float(runs.pairs_found[i]),
            "accuracy": float(runs.accuracy[i]),
            "error": float(runs.error[i]),
            "leaves": list(runs.trees[i].leaves),
            "scores": runs.scores[i].tolist() if i == 0 else None,
        }
        for i in range(spec.width)
    ]


def _level_row(n: int, k: int, seed: int, run: int, settings: dict[str, Any]) -> Row:
    key = jax.random.fold_in(jax.random.key(seed), run)
    tree = random_tree(jax.random.fold_in(key, 0), n, k)
    done = train_levels(tree, key=jax.random.fold_in(key, 1), **settings)
    return {
        "success": done.one_per_step,
        "levels": done.levels_per_step,
        "loss": [_finite(value) for value in done.loss],
        "leaves": list(tree.leaves),
        "scores": done.scores.tolist() if run == 0 else None,
    }


def _full_batch_row(n: int, k: int, mode: str, seed: int, run: int, settings: dict) -> Row:
    key = jax.random.fold_in(jax.random.key(seed), run)
    tree = random_tree(jax.random.fold_in(key, 0), n, k)
    done = train_full_batch(tree, mode, key=jax.random.fold_in(key, 1), **settings)
    return {
        "success": bool(done.prediction[-1] < 0.01),
        "solved_at": done.solved_at,
        "accuracy": done.accuracy,
        "loss": [_finite(value) for value in done.prediction[::5]],
        "leaves": list(tree.leaves),
        "scores": done.scores.tolist() if run == 0 else None,
    }


def _head_targets(problem: dict[str, Any], spec: Spec) -> Sequence[Parity]:
    n, subset = int(problem.pop("n")), problem.pop("subset", None)
    k = int(problem.pop("k", 0 if subset is None else len(subset)))
    if subset is None:
        return random_targets(n, k, spec.width, seed=spec.seed, first=spec.runs[0], **problem)
    problem.pop("neighbours", None)
    target = Parity(n, subset, **problem)
    if target.k != k:
        raise ValueError(f"subset has {target.k} positions, but k={k}")
    return [target] * spec.width


def _only(kind: str, given: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"unknown {kind} {unknown[0]!r}; known: {', '.join(sorted(known))}")


def _finite(value) -> float | None:
    """A number for JSON; None for a run that diverged."""
    return float(value) if np.isfinite(value) else None


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
        pieces = pieces_of(Zigzag(k), LOSSES["squared_hinge"], k)
        risks = np.asarray(_start_risks(np.stack(directions), np.stack(indicators), tau, pieces))
    return [{"success": bool(risk < below), "risk": float(risk)} for risk in risks]


@jax.jit
def _start_risks(directions, indicators, tau, pieces):
    k, n = directions.shape[1], indicators.shape[1]

    def one(heads, indicator):
        weights = HeadAttention(heads, Circle(n), k, Zigzag(k), tau).weights()
        return half_sum_mean(weights, indicator, jnp.full(n, 0.5), jnp.ones(()), pieces)

    return jax.vmap(one)(directions, indicators)
