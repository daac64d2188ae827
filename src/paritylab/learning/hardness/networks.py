"""What small networks must leave wrong, and what linear functions of random features explain."""

from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from paritylab.learning.hardness.frozen import every_input, parity_of
from paritylab.models.protocol import Model
from paritylab.precision import float64
from paritylab.problem import Parity, as_loss


def smallest_pair_loss(model: Model, problem: Parity, position: int) -> float:
    """Smallest sum of squared-hinge losses over pairs of inputs that differ in one bit.

    model: a predictor of one bit string. position: the bit; if it is in B the labels of a pair
    differ, so a model that cannot see it leaves at least 2 (Proposition 4 of HG1).
    """
    with float64():
        bits = jnp.asarray(every_input(problem.n))
        losses = as_loss("squared_hinge").pointwise(
            problem.label(bits).astype(float), jax.vmap(model)(bits)
        )
        flipped = jnp.arange(len(bits)) ^ (1 << position)
        return float(jnp.min(losses + losses[flipped]))


def worst_shares(
    features: Float[np.ndarray, "inputs q"], sets: Iterable[tuple[int, ...]]
) -> Float[np.ndarray, " q"]:
    """Least share of a parity that linear functions of the first 1, 2, … q features explain.

    features: one row for each of the 2^n inputs. sets: the sets B; the least is over them. The
    parities are orthonormal, so the shares of all of them add up to at most the number of features.
    """
    bits = every_input(int(np.log2(len(features))))
    labels = np.stack([parity_of(bits, subset) for subset in sets], axis=1) / np.sqrt(len(bits))
    basis = np.linalg.qr(features)[0]
    return np.asarray(np.cumsum((basis.T @ labels) ** 2, axis=0).min(axis=1))


def random_features(n: int, features: int, *, seed: int = 0) -> Float[np.ndarray, "inputs q"]:
    """max(0, wᵀ(2x - 1) + b) with Gaussian w and b, for all 2^n inputs."""
    generator = np.random.default_rng(seed)
    weights, thresholds = generator.normal(size=(n, features)), generator.normal(size=features)
    return np.maximum(0, (2 * every_input(n) - 1) @ weights + thresholds[None, :])
