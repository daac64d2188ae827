"""One XOR step read through cheaper stand-ins for softmax, and two such layers stacked.

The step is softmax's own, known in closed form from w = 0; what changes is how its scores become
weights afterwards.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy.special import softmax

from paritylab.learning.xor.exact import SOLVED_ERROR, worst_of
from paritylab.models.packed import PackedSigns
from paritylab.models.readouts import Bowl
from paritylab.precision import float64

#: Random features of the low-rank stand-in.
FEATURES = 256
STAND_INS = ("softmax", "two largest", "one plus score", "random features")


class Features(NamedTuple):
    """Positive random features of positions: ω and <ω, p_l> for all l."""

    directions: np.ndarray
    inner: np.ndarray

    @classmethod
    def draw(cls, table: np.ndarray, generator: np.random.Generator) -> "Features":
        directions = generator.standard_normal((FEATURES, table.shape[1]))
        return cls(directions, np.exp(table @ directions.T))


def stand_in_weights(name: str, table: Any, direction: Any, features: Any = None) -> np.ndarray:
    """Weights (n,) of positions (n, m) for one direction (m,), adding up to 1.

    one plus score: linear for positive scores, e^score for negative ones. random features: of mean
    e^score up to a factor for all positions, which have one length.

    >>> table = np.eye(4)
    >>> stand_in_weights("two largest", table, 9 * (table[0] + table[2])).tolist()
    [0.5, 0.0, 0.5, 0.0]
    """
    scores = table @ direction
    if name == "softmax":
        return np.asarray(softmax(scores))
    if name == "two largest":
        kept = np.argpartition(scores, -2)[-2:]
        weights = np.zeros_like(scores)
        weights[kept] = softmax(scores[kept])
        return weights
    if name == "one plus score":
        weights = np.where(scores > 0, 1 + scores, np.exp(np.minimum(scores, 0)))
        return np.asarray(weights / weights.sum())
    if name == "random features":
        weights = features.inner @ softmax(features.directions @ direction)
        return np.asarray(weights / weights.sum())
    raise ValueError(f"stand-in must be one of {', '.join(STAND_INS)}, got {name!r}")


def solved_with(name: str, n: int, width: int, gains: Any, *, runs: int, seed: int) -> np.ndarray:
    """Whether ½(ŷ-y)² ≤ 0.01 on every input after one step, (gains, runs); balanced positions."""
    pair_sums = np.zeros((3, len(gains), runs))
    for run in range(runs):
        generator = np.random.default_rng([seed, n, width, run])
        table = PackedSigns.draw(generator, n, width, balanced=True).vectors(np.arange(n))
        direction = table[0] + table[1] - 2 * table.mean(axis=0)
        features = Features.draw(table, generator) if name == "random features" else None
        for at, gain in enumerate(gains):
            g = stand_in_weights(name, table, gain * direction, features)
            pair_sums[:, at, run] = g[0] + g[1], abs(g[0] - g[1]), g[2:].sum()
    with float64():
        total, apart, outside = (jnp.asarray(part) for part in pair_sums)
        worst = worst_of(total, apart, outside, Bowl()).error
    return np.asarray(worst) <= SOLVED_ERROR


def stacked_layers(n: int, width: int, gain: float, inputs: int, key: Any) -> tuple[bool, float]:
    """Parity of four bits by two layers of pairs, one step each, with the two inner parities given
    as labels of the first layer.

    The first layer writes two tokens behind the n signs, the second one takes their product.
    Returns whether every one of the fresh inputs is right, and the largest error.
    """
    generator = np.random.default_rng(key)
    signs = generator.choice([-1.0, 1.0], (inputs, n))
    a, b, c, d = generator.choice(n, 4, replace=False)
    first = PackedSigns.draw(generator, n, width, balanced=True).vectors(np.arange(n))
    written = [_product(first, pair, gain, signs) for pair in (np.array([a, b]), np.array([c, d]))]
    tokens = np.concatenate([signs, np.stack(written, axis=1)], axis=1)
    second = PackedSigns.draw(generator, n + 2, width, balanced=True).vectors(np.arange(n + 2))
    answer = _product(second, np.array([n, n + 1]), gain, tokens)
    truth = signs[:, a] * signs[:, b] * signs[:, c] * signs[:, d]
    return bool(np.all(answer * truth > 0)), float(np.abs(answer - truth).max())


def _product(table: np.ndarray, pair: np.ndarray, gain: float, tokens: np.ndarray) -> np.ndarray:
    """What two heads say after one step on a pair: x_i·x_j, minus the readout 1 - 2z²."""
    direction = table[pair].sum(axis=0) - 2 * table.mean(axis=0)
    z = tokens @ stand_in_weights("softmax", table, gain * direction)
    return np.asarray(2 * z**2 - 1)


def label_in_first_gradient(n: int, width: int, start: float, key: Any) -> float:
    """Largest part of the first layer's gradient that a 4-parity label contributes, exactly.

    ∂/∂w of E[y·(1 - 2z²)] over all 2^n inputs at random directions: z² holds products of two bits
    only, and y is the product of four.

    >>> label_in_first_gradient(8, 12, 0.5, 0) < 1e-15
    True
    """
    generator = np.random.default_rng(key)
    table = PackedSigns.draw(generator, n, width, balanced=True).vectors(np.arange(n))
    direction = start * generator.standard_normal(width)
    signs = 1.0 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)[None, :]) & 1)
    g = softmax(table @ direction)
    slope = np.mean((signs[:, :4].prod(axis=1) * -4 * (signs @ g))[:, None] * signs, axis=0)
    return float(np.abs((table * (g * (slope - g @ slope))[:, None]).sum(axis=0)).max())
