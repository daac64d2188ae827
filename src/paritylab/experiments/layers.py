"""A hidden tree in log2 k layers, and the visible chain that it is compared with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from paritylab.learning import Layers, Runs, Sample, learn
from paritylab.models import ChainModel
from paritylab.models.chain import visible_tokens
from paritylab.problem import random_trees
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs
from paritylab.statistics import Estimate, half_point_estimate
from paritylab.theory.layers import rows_for_hidden_chain


def train_around_predicted_rows(
    learner: Callable[..., Layers], n: int, runs: int, points: int, seed: int
) -> Estimate:
    """Train on rows around the N that is predicted for half of the targets, k = n/2: the N for half
    of them over that one."""
    trees, grid = random_trees(n, n // 2, runs, key=seed), np.geomspace(0.6, 1.7, points)
    formula = rows_for_hidden_chain(n, n // 2)
    tried = [Sample(trees, int(part * formula)) for part in grid]
    solved = [learn(learner(), data, key=seed).solved for data in tried]
    return half_point_estimate(grid, np.stack(solved))


def distance_from_visible_chain(done: Runs[Any], n: int, seed: int) -> float:
    """Largest difference of a token from a chain that is written token by token with the same
    weights and mask, over 200 inputs and all runs."""
    signs, apart = draw_signs(as_key(seed), 200, n), []
    for model in done.models:
        seen = visible_tokens(n, model.k, "prev")
        visible = ChainModel(np.where(seen, model.scores, -np.inf), n)
        apart.append(np.abs(visible.generate(signs) - model.generate(signs)).max())
    return float(max(apart))
