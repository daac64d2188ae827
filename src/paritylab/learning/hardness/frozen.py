"""What models of a kind must leave wrong, over all inputs of a small problem.

Any function of given features, by grouping inputs that share them; any network that cannot see a
bit; linear functions of random features.
"""

from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from paritylab._support.precision import float64
from paritylab.models.protocol import Model
from paritylab.problem import Parity, all_bits, as_loss


def group_rows(features: Float[np.ndarray, "inputs d"]) -> Int[np.ndarray, " inputs"]:
    """The number of each row's group; rows that agree to 1e-9 are one group."""
    rounded = np.ascontiguousarray(np.round(features, 9) + 0.0)
    return np.unique(rounded, axis=0, return_inverse=True)[1].ravel()


def group_risks(
    groups: Int[np.ndarray, " inputs"], labels: Float[np.ndarray, "inputs targets"]
) -> Float[np.ndarray, " targets"]:
    """Smallest squared-hinge risk of any function of the groups, for many labellings.

    labels: ±1, one column per target. In a group with shares p₊ and p₋ of the inputs the best
    prediction leaves 4p₊p₋/(p₊+p₋).

    >>> group_risks(np.array([0, 0, 1, 1]), np.array([[1.0], [-1], [1], [1]])).tolist()
    [0.5]
    """
    count = np.bincount(groups).astype(float)
    total = np.stack([np.bincount(groups, weights=column) for column in labels.T], axis=1)
    positive = (count[:, None] + total) / 2
    shares = 4 * positive * (count[:, None] - positive) / count[:, None]
    return np.asarray(shares.sum(axis=0) / len(groups))


def every_input(n: int) -> Float[np.ndarray, "inputs n"]:
    """All 2^n bit strings as floats."""
    return np.concatenate([np.asarray(chunk) for chunk in all_bits(n)]).astype(np.float64)


def parity_of(bits: Float[np.ndarray, "inputs n"], subset: Iterable[int]) -> np.ndarray:
    """(-1)^(Σ_{j∈B} x_j) of every row, B the subset."""
    return np.asarray(1 - 2 * (bits[:, list(subset)].sum(axis=1) % 2))


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
