"""One XOR step from random directions, in closed form: how large a start it stands."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float
from scipy.special import softmax

from paritylab.learning.xor.exact import SOLVED_ERROR, worst_of
from paritylab.models.packed import PackedSigns
from paritylab.models.readouts import Bowl
from paritylab.precision import float64


def step_from(
    positions: Float[np.ndarray, "n width"],
    directions: Float[np.ndarray, "starts heads width"],
    gain: float,
    loss: str,
) -> Float[np.ndarray, "starts n"]:
    """Weights g after one exact step of softmax heads; the pair is the first two positions.

    With g the mean over heads of attention α_h, the risk's slope in g_l is -4g_l + 24S₂g_l - 16g_l³
    for the squared loss and 0 for the correlation, less 4g_j on the pair; a head's scores move by
    it less its mean under α_h. The step size is gain·n²/2, as at zero.
    """
    n = len(positions)
    scores = directions @ positions.T
    attention = softmax(scores, axis=-1)
    g = attention.mean(axis=1)
    slope = np.zeros_like(g)
    if loss == "squared":
        slope += (24 * np.sum(g**2, axis=1, keepdims=True) - 4) * g - 16 * g**3
    slope[:, :2] -= 4 * g[:, 1::-1]
    force = attention * (slope[:, None] - np.sum(attention * slope[:, None], axis=-1)[..., None])
    # A head is half of the mean.
    moved = directions - gain * n**2 / 4 * (force @ positions)
    return np.asarray(softmax(moved @ positions.T, axis=-1).mean(axis=1))


def solved_from_starts(
    n: int, width: int, spreads: Any, gain: float, loss: str, *, runs: int, seed: int
) -> Bool[np.ndarray, "spreads runs"]:
    """Whether one step is right on every input from normal directions of each standard deviation.

    Every run has balanced positions and one draw of directions, scaled by all spreads.
    """
    found = []
    for run in range(runs):
        generator = np.random.default_rng([seed, n, width, run])
        code = PackedSigns.draw(generator, n, width, balanced=True)
        directions = generator.standard_normal((2, width))
        starts = np.asarray(spreads)[:, None, None] * directions
        g = step_from(code.vectors(np.arange(n)), starts, gain, loss)
        pair, rest = g[:, :2], np.abs(g[:, 2:]).sum(axis=1)
        found.append((np.abs(pair.sum(axis=1)), np.abs(pair[:, 0] - pair[:, 1]), rest))
    with float64():
        total, apart, outside = (
            jnp.asarray(np.stack(part, axis=1)) for part in zip(*found, strict=True)
        )
        return np.asarray(worst_of(total, apart, outside, Bowl()).error) <= SOLVED_ERROR
