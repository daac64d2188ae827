"""Theorem 7: the filter by itself, and what integer weights do."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from paritylab._support.precision import float64
from paritylab.learning.chain.curriculum import filter_levels
from paritylab.learning.chain.objective import Objective, losses_and_gradient
from paritylab.learning.chain.rows import Stream
from paritylab.learning.chain.step_sizes import level_step
from paritylab.models import CosineLink
from paritylab.models.chain import ChainModel
from paritylab.problem import ParityTree, random_trees
from paritylab.problem.keys import as_key
from paritylab.statistics import Rate
from paritylab.theory.ks_gradient import level_gradient

#: Where the filter alone is tried, at weights (11): n, k, strings, and the children's score.
LARGE, LARGE_STRINGS, SCORE = (256, 16), 64, 12.0


def filter_rate(epsilon: float, draws: int, seed: int) -> Rate:
    """Draws of a tree and of strings for which the filter does at every step what the proof says.

    Training depends on ε₀ only through what the filter passes.
    """
    n, k = LARGE
    trees, depth = random_trees(n, k, draws, key=seed), k.bit_length() - 1
    generator, right = np.random.default_rng([seed, 7]), []
    for tree in trees:
        strings = jnp.asarray(generator.choice([-1.0, 1.0], (LARGE_STRINGS, n)), jnp.float32)
        passed = []
        for step in range(depth):
            scores = np.zeros((tree.size, k - 1), np.float32)
            trained = np.flatnonzero(tree.levels <= step)
            scores[tree.children[trained].T, trained] = SCORE
            passes = filter_levels(ChainModel(scores, n, CosineLink(), "level"), strings, epsilon)
            passed.append(np.asarray(passes) == (np.arange(depth) <= step))
        right.append(np.all(passed))
    return Rate.of(right)


LINK = CosineLink()
#: Leaves and bits of the tree at which errors and trained weights are looked at.
K, AT = 8, 64
#: Weights of the children whose error is measured.
WEIGHTS = (8, 10, 12, 14, 16)


def weigh_children(tree: ParityTree, by_level: Sequence[float], others: float = 0.0) -> ChainModel:
    """Every node's children at the weight of its level, all other weights the same."""
    scores = np.full((tree.size, tree.k - 1), others)
    for node, (pair, level) in enumerate(zip(tree.children, tree.levels, strict=True)):
        scores[pair, node] = by_level[level - 1]
    return ChainModel(scores, tree.n, LINK, "level")


def measure_largest_error(model: ChainModel, tree: ParityTree, seed: int) -> float:
    """Largest |ŷ - y| of the generated answer over 2,048 random inputs."""
    signs = np.random.default_rng([seed, 5]).choice([-1.0, 1.0], (2048, tree.n))
    with float64():
        root = np.asarray(model.generate(jnp.asarray(signs)))[:, -1]
    return float(np.abs(root - signs[:, list(tree.leaves)].prod(axis=1)).max())


def measure_next_movement(tree: ParityTree, seed: int) -> float:
    """Largest η|∂L/∂w| of the whole chain at weights (11), all levels trained."""
    eta = level_step(tree.n, tree.k, LINK)
    levels = range(1, tree.k.bit_length())
    exact = [-eta * level_gradient(tree.n, tree.k, level, LINK)[0].gradient for level in levels]
    model = weigh_children(tree, [round(each) for each in exact])
    model = model.with_parameters(model.scores.astype(np.float32))
    rows = Stream.of(np.asarray(tree.leaves), as_key(seed), 4096, tree.n)
    chain, build = Objective("chain"), model.with_parameters
    _, gradient = losses_and_gradient(chain, build, model.scores, jnp.ones(tree.depth), rows)
    return float(eta * jnp.abs(gradient).max())
