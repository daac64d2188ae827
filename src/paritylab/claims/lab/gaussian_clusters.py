"""Gaussian mixtures in the XOR arrangement: the two heads see signs under normal noise."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from paritylab.models.packed import PackedSigns


class MixtureRun(NamedTuple):
    """found: the step's two largest weights are the pair's. accuracy: on fresh rows."""

    found: bool
    accuracy: float


def mixture_step(n: int, width: int, gain: float, spread: float, rows: int, key: Any) -> MixtureRun:
    """One step of the two heads from w = 0 on rows of x = s + spread·noise, y = -s_i·s_j.

    The correlation loss moves the weight of position l by -E[y·∂(2z²)] ∝ -E[y·x_l·Σx]; judged on
    4,000 fresh rows by the sign of 1 - 2z².
    """
    generator = np.random.default_rng(key)
    table = PackedSigns.draw(generator, n, width, balanced=True).vectors(np.arange(n))
    pair = generator.choice(n, 2, replace=False)

    def draw(size: int) -> tuple[np.ndarray, np.ndarray]:
        signs = generator.choice([-1.0, 1.0], (size, n))
        return signs + spread * generator.standard_normal((size, n)), -signs[:, pair].prod(axis=1)

    seen, labels = draw(rows)
    pull = -(labels * seen.sum(axis=1)) @ seen / rows
    direction = table.T @ (pull - pull.mean())
    weights = softmax(gain * (table @ direction))
    fresh, truth = draw(4000)
    right = np.mean(np.sign(1 - 2 * (fresh @ weights) ** 2) == truth)
    return MixtureRun(set(np.argsort(-weights)[:2]) == set(pair), float(right))
