"""Heads on fixed attention: hard heads, heads that solve parity, Theorem 11's repaired margin."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import softmax

from paritylab._support.precision import float64
from paritylab.experiments.search import Draw
from paritylab.learning.hardness.frozen import (
    every_input,
    group_risks,
    group_rows,
    parity_of,
)
from paritylab.models import Circle, interpolating_network
from paritylab.problem import Parity
from paritylab.theory import hg1


def hard_features(
    bits: Float[np.ndarray, "inputs n"],
    base: Float[np.ndarray, "m n"],
    slope: Float[np.ndarray, "m #n"],
    *,
    average: bool,
) -> Float[np.ndarray, "inputs d"]:
    """What hard heads pass on: the token and place they picked, or the mean over tied maxima.

    base, slope: position j scores base_j + slope_j·x_j; among tied maxima the first is picked.
    average: share the attention among tied maxima.
    """
    n, parts = bits.shape[1], []
    angles = 2 * np.pi * np.arange(n) / n
    for constant, factor in zip(base, slope, strict=True):
        scores = constant[None, :] + factor[None, :] * bits
        tied = scores >= scores.max(axis=1, keepdims=True) - 1e-12
        share = tied / tied.sum(axis=1, keepdims=True) if average else np.eye(n)[tied.argmax(1)]
        parts += [(share * bits).sum(axis=1), share @ np.sin(angles), share @ np.cos(angles)]
    return np.stack(parts, axis=1)


def smallest_worst_risk(
    n: int, heads: int, *, draws: int, seed: int = 0, average: bool = False
) -> tuple[float, float]:
    """Worst risks of the best head of any kind on what fixed hard heads pass on (Corollary 20).

    First the smallest, over many fixed attentions, of the largest risk over all sets B; then the
    same with the largest risk over the sets of one size k, for the k at which it is smallest.

    Half of the draws add a score of the bit to a score of the position, as the paper does, the
    others let the bit count differently at every position. Three more attentions are tried:
    each head prefers a stretch of its own and ignores the bits, or looks for a one there, or looks
    for a one anywhere. average: heads pass on the mean over tied maxima.
    """
    bits, generator = every_input(n), np.random.default_rng(seed)
    sets = [s for size in range(1, n + 1) for s in combinations(range(n), size)]
    sizes = np.array([len(s) for s in sets])
    labels = np.stack([parity_of(bits, s) for s in sets], axis=1)
    starts = np.arange(heads)[:, None] * n // heads
    stretch = -((np.arange(n)[None, :] - starts) % n).astype(float)
    one = np.full((heads, 1), 2.0 * n)
    tried = [(stretch, 0 * one), (stretch, one), (0 * stretch, one)]
    for draw in range(draws):
        base = generator.normal(size=(heads, n)) * generator.choice([0.1, 1.0, 5.0])
        slope = generator.normal(size=(heads, 1 if draw % 2 else n))
        tried.append((base, slope * generator.choice([0.0, 0.1, 1.0, 5.0])))
    smallest = np.full(2, np.inf)
    for base, slope in tried:
        groups = group_rows(hard_features(bits, base, slope, average=average))
        risks = group_risks(groups, labels)
        largest = [risks[sizes == k].max() for k in range(1, n + 1)]
        smallest = np.minimum(smallest, [max(largest), min(largest)])
    return float(smallest[0]), float(smallest[1])


def circle_attention(n: int, heads: int, seed: int = 0) -> Float[np.ndarray, " n"]:
    """Mean attention of heads of unit norm at random angles on the circle, temperature 1.

    The bits do not enter, so Σ_j g_j x_j is what a net on top sees of them.
    """
    angles = 2 * np.pi * np.random.default_rng(seed).random(heads)
    directions = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    weights = softmax(directions @ np.asarray(Circle(n).table, dtype=float).T, axis=1)
    return np.asarray(weights.mean(axis=0))


class Solvers(NamedTuple):
    """Interpolating FFNN-1 heads on fixed attention of random heads on the circle.

    n, m: bits and heads. risk: largest risk over the sets B tried. norms_low, norms_high: range of
    ‖α‖‖β‖ over them. excess: least of Theorem 11's printed bound minus the risk. sets: how many.
    """

    n: int
    m: int
    risk: float
    norms_low: float
    norms_high: float
    excess: float
    sets: int


def solving_heads(
    n: int,
    heads: int,
    sets: Iterable[tuple[int, ...]] | None = None,
    *,
    scale: float = 1.0,
    b: float = 1e-24,
    seed: int = 0,
) -> Solvers:
    """Heads that solve parity on fixed attention, by weights as large as it takes.

    sets: the sets B; the set of all positions if None. scale: of the token embedding; the net's
    hidden weights shrink as it grows. b: smoothing of the neurons, above 0 as in the paper.
    """
    bits, weights = every_input(n), circle_attention(n, heads, seed)
    predict = eqx.filter_jit(lambda network, sums: jax.vmap(network)(sums))
    risks, norms = [], []
    with float64():
        for subset in [tuple(range(n))] if sets is None else sets:
            network = interpolating_network(Parity(n, subset), weights)
            network = replace(network, hidden=network.hidden / scale, b=b)
            made = np.asarray(predict(network, scale * (bits @ weights)[:, None]))
            risks.append(float(np.mean(np.maximum(0, 1 - parity_of(bits, subset) * made) ** 2)))
            norms.append(network.norms())
    printed = [hg1.fixed_attention_printed(n, heads, each) for each in norms]
    excess = float(np.min(np.subtract(printed, risks)))
    return Solvers(n, heads, max(risks), min(norms), max(norms), excess, len(risks))


_NEURONS = 16


def fixed_attention_margin(
    n: int, heads: int
) -> tuple[Callable[[Any, Any, Any], Float[Array, ""]], Draw]:
    """Risk minus a bound for fixed attention, and a draw of all it depends on.

    Everything moves: token and position embeddings, the scores of positions and bits, an FFNN-1.
    The net is scaled to ‖α‖‖β‖ = share·n/ρ with the spectral norm of β. Half of the draws start at
    heads that look for the next one on the circle, which moves the attention most.

    Returns margin(moving, fixed, case) and draw(generator) -> (moving, fixed), as `hunt` takes
    them. A case has share; positional: whether scores ignore the bits and ρ is the distance of the
    two tokens; bound. B is the least attended position alone, the easiest set that contains it.
    """
    bits = jnp.asarray(every_input(n), jnp.float32)
    ahead = (np.arange(n)[None, :] - np.arange(heads)[:, None] * n // heads) % n

    def margin(moving: Any, _: Any, case: Any) -> Float[Array, ""]:
        liking = jnp.where(case["positional"], 0.0, moving["liking"])
        scores = moving["scores"][:, None, :] + liking[:, None, None] * bits[None]
        gamma = jax.nn.softmax(scores, axis=2).mean(axis=0)
        tokens, places = moving["tokens"], moving["places"]
        attended = jnp.sum(gamma * bits, axis=1)[:, None]
        v = jnp.concatenate([attended * (tokens[1] - tokens[0])[None], gamma @ places], 1)
        apart = jnp.sum((tokens[1] - tokens[0]) ** 2)
        spread = jnp.max(jnp.sum((places[:, None] - places[None, :]) ** 2, axis=2))
        diameter = jnp.sqrt(apart + jnp.where(case["positional"], 0.0, spread))
        alpha = moving["alpha"] / jnp.linalg.norm(moving["alpha"])
        beta = moving["beta"] / jnp.linalg.norm(moving["beta"], ord=2) * case["share"] * n
        hidden = jax.nn.relu(v @ beta.T / diameter + moving["threshold"][None, :])
        labels = 1 - 2 * jnp.take(bits, jnp.argmin(gamma.mean(axis=0)), axis=1)
        loss = jnp.maximum(0, 1 - labels * (hidden @ alpha + moving["offset"])) ** 2
        return jnp.asarray(jnp.mean(loss) - case["bound"])

    def draw(generator: np.random.Generator) -> tuple[dict[str, np.ndarray], float]:
        def normal(*shape: int) -> np.ndarray:
            return generator.normal(size=shape)

        looks = generator.random() < 0.5
        moving = {
            "scores": -4.0 * ahead if looks else 2 * normal(heads, n),
            "liking": np.full(heads, 8.0 * n) if looks else 2 * normal(heads),
            "tokens": (0.01 if looks else 1.0) * normal(2, 2),
            "places": np.eye(n) if looks else normal(n, n),
            "alpha": normal(_NEURONS),
            "beta": normal(_NEURONS, n + 2),
            "threshold": 0.3 * normal(_NEURONS),
            "offset": 0.1 * normal(),
        }
        return moving, 0.0

    return margin, draw
