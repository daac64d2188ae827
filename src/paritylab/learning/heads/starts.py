"""Where heads start: unit directions, zero, a stated variance of their scores, or given ones."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from paritylab.learning.heads.steps import Start
from paritylab.models import AbstractPositionCode, HeadAttention, as_code
from paritylab.models.attention import unit_directions
from paritylab.models.positions import OneHot, Positions, is_drawn
from paritylab.models.protocol import parameters_of
from paritylab.problem.sampling import normals


def draw_starts(
    start: Any,
    positions: Positions,
    like: HeadAttention,
    keys: list[jax.Array],
    start_keys: list[jax.Array],
    *,
    unit: bool = False,
) -> Start:
    """Starts of the runs with these keys, every leaf with an axis of runs first.

    start: "unit" or None, "zero", the variance of a head's score, or directions of every run (runs,
    heads, width). Positions are drawn from the second half of a run's key, as every network's start
    is, directions from that of its start key. unit: heads train their angles.
    """
    own, starts = ([jax.random.split(key)[1] for key in each] for each in (keys, start_keys))
    code = None
    if is_drawn(positions):
        codes = [draw_code(positions, like, key) for key in own]
        code = jax.tree.map(lambda *tables: np.stack(tables), *codes)
    directions = _directions(start, like, starts, 1.0 if code is not None else _norm(like.code))
    if unit:
        return Start(np.arctan2(directions[..., 0], directions[..., 1]), code)
    if like.trains == ("directions",):
        return Start(directions, code)
    parameters = jax.tree.map(
        lambda leaf: np.broadcast_to(leaf, (len(keys), *np.shape(leaf))), parameters_of(like)
    )
    if "directions" in parameters:
        parameters["directions"] = directions
    return Start(parameters, code)


def draw_code(positions: Positions, like: HeadAttention, key: jax.Array) -> AbstractPositionCode:
    """The positions of one run, from the key of its start."""
    return as_code(positions, like.code.n, key=jax.random.fold_in(key, 1), width=like.code.width)


def _directions(
    start: Any, like: HeadAttention, keys: list[jax.Array], norm: float
) -> Float[np.ndarray, "runs heads width"]:
    """First directions of every run. norm: of a position."""
    shape = np.shape(like.directions)
    if start is None or isinstance(start, str):
        if start == "zero":
            return np.zeros((len(keys), *shape))
        return np.stack([unit_directions(key, *shape) for key in keys])
    if isinstance(start, np.ndarray):
        return start
    # A score <a, p>/τ of a normal direction of variance σ² has variance σ²·|p|²/τ².
    scale = np.sqrt(float(start)) * float(like.tau) / norm
    drawn = (normals(jax.random.fold_in(key, 2), shape) for key in keys)
    return np.stack([scale * each for each in drawn])


def _norm(code: AbstractPositionCode) -> float:
    """The root mean square norm of a code's positions."""
    if isinstance(code, OneHot):
        return 1.0
    return float(np.sqrt(np.mean(np.sum(code.vectors(np.arange(code.n)) ** 2, axis=1))))
