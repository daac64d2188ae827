"""Gradient oracles with a bounded error, usable with every learner."""

from math import comb
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from paritylab.problem.keys import as_key


class Answer(NamedTuple):
    """What an oracle returned, and whether it hid the target behind the mean over all targets."""

    gradient: Float[Array, "..."]
    hidden: Bool[Array, ""]


def hiding(true: Array, mean: Array, epsilon: float | np.float32 | Array) -> Answer:
    """The mean gradient over all targets whenever the true one is within epsilon of it, else the
    true one. (The printed definition in KS has the two cases exchanged.)"""
    hidden = jnp.linalg.norm(jnp.ravel(true - mean)) <= epsilon
    return Answer(jnp.where(hidden, mean, true), hidden)


def opposing(true: Array, epsilon: float) -> Array:
    """The worst error of norm epsilon for descent: straight against the gradient."""
    norm = jnp.linalg.norm(jnp.ravel(true))
    return true * jnp.maximum(0, 1 - epsilon / jnp.maximum(norm, 1e-30))


def tipping(true: Array, children: Int[np.ndarray, "nodes 2"], epsilon: float) -> Array:
    """The two entries of the pair that differs most, moved apart by epsilon each.

    children: the two tokens below every node, (nodes, 2); true: (tokens, nodes).
    """
    pairs, nodes = np.asarray(children), np.arange(len(children))
    apart = np.asarray(true)[pairs[:, 0], nodes] - np.asarray(true)[pairs[:, 1], nodes]
    worst = int(np.abs(apart).argmax())
    push = epsilon if apart[worst] >= 0 else -epsilon
    return true.at[pairs[worst], worst].add(np.array([push, -push], true.dtype))


def jittered(true: Array, epsilon: float, key: int | Array) -> Array:
    """Every entry moved by epsilon up or down at random."""
    return true + epsilon * jax.random.rademacher(as_key(key), true.shape, true.dtype)


def mean_label(n: int, k: int) -> Float[np.ndarray, " weights"]:
    """E_p[p(x)] over all k-sets p, for x with 0, 1, …, n minus signs: a Krawtchouk polynomial.

    K_k(h)/C(n,k) with K_k(h) = Σ_j (-1)^j C(h,j) C(n-h,k-j), in whole numbers until the last
    division.

    >>> mean_label(4, 2).tolist() == [1.0, 0.0, -1 / 3, 0.0, 1.0]
    True
    """
    if not 0 <= k <= n:
        raise ValueError(f"k must be between 0 and n={n}, got {k}")
    total = comb(n, k)
    sums = (
        sum((-1) ** j * comb(h, j) * comb(n - h, k - j) for j in range(k + 1)) for h in range(n + 1)
    )
    return np.array([value / total for value in sums])


def mean_label_tail(n: int, k: int, threshold: float) -> float:
    """P(|E_p p(x)| > threshold) over uniform x."""
    chance = np.array([comb(n, h) / 2**n for h in range(n + 1)])
    return float(chance[np.abs(mean_label(n, k)) > threshold].sum())


def mean_label_square(n: int, k: int) -> float:
    """E_x (E_p p(x))², which is 1/C(n,k): what the best fixed answer saves of E(p - f)² = 1."""
    chance = np.array([comb(n, h) / 2**n for h in range(n + 1)])
    return float(chance @ mean_label(n, k) ** 2)


def mean_labels(signs: Float[Array, "... n"], k: int) -> Float[Array, "..."]:
    """E_p[p(x)] for rows of signs: the labels whose gradient is the mean over all targets."""
    n = signs.shape[-1]
    minus = jnp.round((n - jnp.sum(signs, axis=-1)) / 2).astype(int)
    return jnp.asarray(mean_label(n, k), signs.dtype)[minus]
