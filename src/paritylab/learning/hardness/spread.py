"""How little the gradient of the last token knows of the target: over all targets, exactly."""

from itertools import combinations
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.chain.teacher import draw_tokens
from paritylab.learning.hardness.oracles import hiding, mean_labels
from paritylab.models.chain import ChainModel
from paritylab.models.links import AbstractLink, as_link
from paritylab.problem.sampling import as_key
from paritylab.problem.tree import ParityTree


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


def gradient_spread(model: ChainModel, signs, subsets) -> Spread:
    """Variance of the direct model's gradient over targets, from one Jacobian of its answer."""
    signs = jnp.asarray(signs, jnp.float32)
    jacobian = _jacobian(model, signs)
    values = target_values(signs, subsets)
    gradients = np.asarray(values, np.float32) @ jacobian / len(jacobian)
    centred = gradients - gradients.mean(axis=0)
    norms = np.sum(jacobian**2, axis=1)
    distances = np.linalg.norm(centred, axis=1)
    return Spread(
        float(np.mean(distances**2)),
        float(norms.max()),
        float(norms.mean()),
        distances,
        len(subsets),
    )


@jax.jit
def _rows_of_jacobian(model, signs):
    def answer(scores, row):
        return model.with_parameters(scores).generate(row)[-1]

    return jax.vmap(jax.grad(answer), in_axes=(None, 0))(model.scores, signs)


def _jacobian(model: ChainModel, signs, block: int = 1024) -> np.ndarray:
    """∇f at every row, in blocks of one size so that nothing compiles twice."""
    model = model.with_parameters(np.asarray(model.scores, np.float32))
    rows = len(signs)
    padded = jnp.pad(signs, ((0, -rows % block), (0, 0)), constant_values=1.0)
    parts = [
        np.asarray(_rows_of_jacobian(model, padded[at : at + block])).reshape(block, -1)
        for at in range(0, len(padded), block)
    ]
    return np.concatenate(parts)[:rows]


def target_values(signs, subsets) -> np.ndarray:
    """p(x) for every target and row."""
    signs = np.asarray(signs)
    return np.stack([signs[:, list(subset)].prod(axis=1) for subset in subsets])


def linear_variance(features: np.ndarray, targets: np.ndarray) -> tuple[float, float]:
    """Variance over targets of the gradient of E(h - f)² for f = Σ_i θ_i·feature_i at θ = 0, and
    E‖∇f‖²/|H|; one row of values over all inputs per feature and per target."""
    gradients = -2 * targets @ features.T / features.shape[1]
    variance = np.mean(np.sum((gradients - gradients.mean(axis=0)) ** 2, axis=1))
    return float(variance), float(np.mean(np.sum(features**2, axis=0)) / len(targets))


def every_subset(n: int, k: int) -> list[tuple[int, ...]]:
    """All C(n,k) targets."""
    return list(combinations(range(n), k))


class HiddenTraining(NamedTuple):
    """Direct training under the hiding oracle.

    loss: E(p - f)² on fresh inputs at the end. hidden: steps at which the target stayed hidden.
    distance: ‖∇ - mean‖ at every step. accuracy: of the sign of f on fresh inputs.
    """

    loss: float
    hidden: np.ndarray
    distance: np.ndarray
    accuracy: float


def train_hidden(
    tree: ParityTree,
    samples: int,
    epsilon: float,
    *,
    epochs: int = 50,
    eta: float = 1.0,
    link: str | AbstractLink = "quadratic",
    key=0,
) -> HiddenTraining:
    """Gradient descent on ½mean(ŷ - y)² of the self-generated answer, seen through `hiding`."""
    key, leaves = as_key(key), np.asarray(tree.leaves)
    tokens = draw_tokens(jax.random.fold_in(key, 0), leaves, tree.n, samples)
    model = ChainModel.untrained(tree.n, tree.k, as_link(link), "level")
    model = model.with_parameters(np.zeros(model.scores.shape, np.float32))
    signs, labels = tokens[:, : tree.n], tokens[:, -1]
    soft = mean_labels(signs, tree.k)

    @jax.jit
    def run(scores, signs, labels, soft):
        def risk(scores, labels):
            answer = model.with_parameters(scores).generate(signs)[:, -1]
            return jnp.mean((answer - labels) ** 2) / 2

        def epoch(scores, _):
            true, mean = (jax.grad(risk)(scores, each) for each in (labels, soft))
            answer = hiding(true, mean, epsilon)
            distance = jnp.linalg.norm(jnp.ravel(true - mean))
            return scores - eta * answer.gradient, (answer.hidden, distance)

        return jax.lax.scan(epoch, scores, length=epochs)

    scores, (hidden, distance) = run(model.scores, signs, labels, soft)
    fresh = draw_tokens(jax.random.fold_in(key, 1), leaves, tree.n, 10_000)
    answer = model.with_parameters(scores).generate(fresh[:, : tree.n])[:, -1]
    loss = float(jnp.mean((answer - fresh[:, -1]) ** 2))
    right = float(jnp.mean(answer * fresh[:, -1] > 0))
    return HiddenTraining(loss, np.asarray(hidden), np.asarray(distance), right)
