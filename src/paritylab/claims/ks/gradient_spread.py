"""How little the gradient of the last token knows of the target: over all targets, exactly."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.models import LINKS
from paritylab.models.chain import ChainModel
from paritylab.problem import all_bits, signs_from_bits


class Spread(NamedTuple):
    """Gradients of ½mean(p(x) - f(x))² over many targets p.

    variance: E_p‖∇_p - E_p∇_p‖². largest_gradient, mean_gradient: sup and mean of ‖∇f(x)‖².
    distances: ‖∇_p - E_p∇_p‖ of every target. targets: how many there were.
    """

    variance: float
    largest_gradient: float
    mean_gradient: float
    distances: np.ndarray
    targets: int


Subsets = Sequence[tuple[int, ...]]


def direct_model(n: int, k: int, scale: float, seed: int) -> ChainModel:
    """The chain model at random scores, asked for its last token only."""
    scores = scale * np.random.default_rng([seed, n]).normal(size=(n + k - 1, k - 1))
    return ChainModel(scores.astype(np.float32), n, LINKS["quadratic"], "level")


def gradient_spread(model: ChainModel, signs: Any, subsets: Subsets) -> Spread:
    """Variance of the direct model's gradient over targets, from one Jacobian of its answer."""
    pulls = jacobian(model, signs)
    values = target_values(signs, subsets)
    gradients = np.asarray(values, np.float32) @ pulls / len(pulls)
    centred = gradients - gradients.mean(axis=0)
    norms = np.sum(pulls**2, axis=1)
    distances = np.linalg.norm(centred, axis=1)
    return Spread(
        float(np.mean(distances**2)),
        float(norms.max()),
        float(norms.mean()),
        distances,
        len(subsets),
    )


@jax.jit
def _rows_of_jacobian(model: ChainModel, signs: Any) -> Any:
    def answer(scores: Any, row: Any) -> Any:
        return model.with_parameters(scores).generate(row)[-1]

    return jax.vmap(jax.grad(answer), in_axes=(None, 0))(model.scores, signs)


def jacobian(model: ChainModel, signs: Any, block: int = 1024) -> np.ndarray:
    """∇f at every row, in blocks of one size so that nothing compiles twice."""
    signs = jnp.asarray(signs, jnp.float32)
    model = model.with_parameters(np.asarray(model.scores, np.float32))
    rows = len(signs)
    padded = jnp.pad(signs, ((0, -rows % block), (0, 0)), constant_values=1.0)
    parts = [
        np.asarray(_rows_of_jacobian(model, padded[at : at + block])).reshape(block, -1)
        for at in range(0, len(padded), block)
    ]
    return np.concatenate(parts)[:rows]


def target_values(signs: Any, subsets: Subsets) -> np.ndarray:
    """p(x) for every target and row."""
    minus, inside = np.asarray(signs) < 0, np.zeros((len(subsets), np.shape(signs)[1]), np.float32)
    for row, subset in zip(inside, subsets, strict=True):
        row[list(subset)] = 1
    return 1 - 2 * ((inside @ minus.T.astype(np.float32)) % 2)


def linear_variance(features: np.ndarray, targets: np.ndarray) -> tuple[float, float]:
    """Variance over targets of the gradient of E(h - f)² for f = Σ_i θ_i·feature_i at θ = 0, and
    E‖∇f‖²/|H|; one row of values over all inputs per feature and per target."""
    gradients = -2 * targets @ features.T / features.shape[1]
    variance = np.mean(np.sum((gradients - gradients.mean(axis=0)) ** 2, axis=1))
    return float(variance), float(np.mean(np.sum(features**2, axis=0)) / len(targets))


def all_signs(n: int) -> np.ndarray:
    """Every input as signs, float32, in the order of `all_bits`."""
    bits = np.concatenate([np.asarray(chunk) for chunk in all_bits(n)])
    return np.asarray(signs_from_bits(bits), np.float32)


def every_subset(n: int, k: int) -> list[tuple[int, ...]]:
    """All C(n,k) targets."""
    return list(combinations(range(n), k))


def random_signs(generator: np.random.Generator, rows: int, n: int) -> np.ndarray:
    """Rows of n fair signs."""
    return generator.choice([-1.0, 1.0], (rows, n)).astype(np.float32)
