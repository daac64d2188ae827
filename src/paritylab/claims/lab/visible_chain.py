"""A visible chain under the mask of the layers: one teacher-forced step, in plain numpy.

Here a node sees the level just below it, as in layers; `TeacherStep` has the masks of KS only.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from paritylab.learning.chain.chain_accuracy import FRESH, SOLVED_LOSS
from paritylab.models.chain import visible_tokens
from paritylab.problem import ParityTree
from paritylab.problem.sampling import seed_of
from paritylab.theory.layers import level_steps


def visible_chain_solves(tree: ParityTree, rows: int, seed: int) -> bool:
    """Whether one step on true tokens, each level with its own η, learns a visible chain.

    The chain is then written token after token. It is solved as runs of the learners are: every
    node's children have the largest scores, every one of 10,000 fresh inputs gets the right sign,
    and ½ mean (ŷ - y)² is below 0.01.
    """
    generator = np.random.default_rng((seed, rows))
    seen = visible_tokens(tree.n, tree.k, "prev")
    gradient = _gradient(_tokens(tree, rows, generator), seen)
    etas = [step.eta for step in level_steps(tree.n, tree.k, rows)]
    scores = -np.asarray(etas)[tree.levels - 1] * gradient
    if not _found(scores, seen, tree):
        return False
    truth = _tokens(tree, FRESH, generator)
    root = _written(truth[:, : tree.n], scores, seen)[:, -1]
    y = truth[:, -1]
    return bool((root * y > 0).all() and ((root - y) ** 2 / 2).mean() < SOLVED_LOSS)


def visible_chains_solve(
    trees: Sequence[ParityTree], rows: int, seed: int
) -> Bool[np.ndarray, " runs"]:
    """The same for several trees, each with rows of its own."""
    return np.array([
        visible_chain_solves(tree, rows, seed_of(seed, run)) for run, tree in enumerate(trees)
    ])  # fmt: skip


def _tokens(
    tree: ParityTree, rows: int, generator: np.random.Generator
) -> Float[np.ndarray, "rows tokens"]:
    """Random signs and the true tokens of their chain."""
    tokens = np.empty((rows, tree.size), np.float32)
    tokens[:, : tree.n] = 1 - 2 * generator.integers(0, 2, (rows, tree.n), np.int8)
    for node, (first, second) in enumerate(tree.children, start=tree.n):
        tokens[:, node] = tokens[:, first] * tokens[:, second]
    return tokens


def _gradient(
    tokens: Float[np.ndarray, "rows tokens"], seen: Bool[np.ndarray, "tokens nodes"]
) -> Float[np.ndarray, "tokens nodes"]:
    """∂L/∂W at W = 0 of L = ½ mean (φ(ẑ) - x)², ẑ the mean of what a node sees, φ = -cos(πt)."""
    shares = (seen / seen.sum(axis=0)).astype(np.float32)
    z = tokens @ shares
    residual = (-np.cos(np.pi * z) - tokens[:, -seen.shape[1] :]) * np.pi * np.sin(np.pi * z)
    pull = tokens.T @ residual / len(tokens)
    return np.asarray(shares * (pull - (shares * pull).sum(axis=0)))


def _found(scores: np.ndarray, seen: np.ndarray, tree: ParityTree) -> bool:
    """Whether every node's children outscore all else that it sees."""
    children = tree.children.T
    others = np.where(seen, scores, -np.inf)
    least = np.take_along_axis(others, children, axis=0).min(axis=0)
    np.put_along_axis(others, children, -np.inf, axis=0)
    return bool((least > others.max(axis=0)).all())


def _written(signs: np.ndarray, scores: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """All tokens, each written from those before it."""
    n, (size, nodes) = signs.shape[1], seen.shape
    tokens = np.zeros((len(signs), size), np.float32)
    tokens[:, :n] = signs
    for node in range(nodes):
        own = seen[:, node]
        shares = np.exp(scores[own, node] - scores[own, node].max())
        tokens[:, n + node] = -np.cos(np.pi * (tokens[:, own] @ (shares / shares.sum())))
    return tokens
