"""Heads on fixed attention: hard heads, heads that solve parity, Theorem 11's repaired margin."""

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from paritylab.learning.hardness.frozen import (
    best_possible_risk,
    every_input,
    group_risks,
    group_rows,
    parity_of,
)
from paritylab.models import Circle, interpolating_network
from paritylab.precision import float64
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


class WorstRisk(NamedTuple):
    """Smallest worst risks met over many fixed attentions.

    any_size: the smallest, over attention, of the largest risk over all sets B. each_size: the
    same with the largest risk over the sets of one size k, for the k at which it is smallest.
    """

    any_size: float
    each_size: float


def smallest_worst_risk(n: int, heads: int, *, draws: int, seed: int = 0) -> WorstRisk:
    """Worst risks of the best head of any kind on what fixed hard heads pass on (Corollary 20).

    Half of the draws add a score of the bit to a score of the position, as the paper does, the
    others let the bit count differently at every position. Two attentions are tried besides, in
    which each head prefers a stretch of its own: heads that ignore the bits, and heads that look
    for a one.
    """
    bits, generator = every_input(n), np.random.default_rng(seed)
    sets = [s for size in range(1, n + 1) for s in combinations(range(n), size)]
    sizes = np.array([len(s) for s in sets])
    labels = np.stack([parity_of(bits, s) for s in sets], axis=1)
    starts = np.arange(heads)[:, None] * n // heads
    stretch = -((np.arange(n)[None, :] - starts) % n).astype(float)
    tried = [(stretch, np.zeros((heads, 1))), (stretch, np.full((heads, 1), 2.0 * n))]
    for draw in range(draws):
        base = generator.normal(size=(heads, n)) * generator.choice([0.1, 1.0, 5.0])
        slope = generator.normal(size=(heads, 1 if draw % 2 else n))
        tried.append((base, slope * generator.choice([0.0, 0.1, 1.0, 5.0])))
    smallest = np.full(2, np.inf)
    for base, slope in tried:
        groups = group_rows(hard_features(bits, base, slope, average=False))
        risks = group_risks(groups, labels)
        largest = [risks[sizes == k].max() for k in range(1, n + 1)]
        smallest = np.minimum(smallest, [max(largest), min(largest)])
    return WorstRisk(*(float(each) for each in smallest))


def risk_with_averaged_ties(n: int) -> float:
    """Best risk on the full parity of one hard head that likes ones and averages over ties."""
    bits = every_input(n)
    features = hard_features(bits, np.zeros((1, n)), np.ones((1, 1)), average=True)
    return best_possible_risk(features, parity_of(bits, range(n)))


def circle_attention(n: int, heads: int, seed: int = 0) -> Float[np.ndarray, " n"]:
    """Mean attention of heads of unit norm at random angles on the circle, temperature 1.

    The bits do not enter, so Σ_j g_j x_j is what a net on top sees of them.
    """
    angles = 2 * np.pi * np.random.default_rng(seed).random(heads)
    directions = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    weights = np.exp(directions @ np.asarray(Circle(n).table, dtype=float).T)
    return np.asarray((weights / weights.sum(axis=1, keepdims=True)).mean(axis=0))


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
    n: int, heads: int, sets: Iterable[tuple[int, ...]] | None = None, *, seed: int = 0
) -> Solvers:
    """Heads that solve parity on fixed attention, by weights as large as it takes.

    sets: the sets B; the set of all positions if None.
    """
    bits, weights = every_input(n), circle_attention(n, heads, seed)
    predict = eqx.filter_jit(lambda network, sums: jax.vmap(network)(sums))
    risks, norms = [], []
    with float64():
        for subset in [tuple(range(n))] if sets is None else sets:
            network = interpolating_network(Parity(n, subset), weights)
            made = np.asarray(predict(network, (bits @ weights)[:, None]))
            risks.append(float(np.mean(np.maximum(0, 1 - parity_of(bits, subset) * made) ** 2)))
            norms.append(network.norms())
    printed = [hg1.fixed_attention_printed(n, heads, each) for each in norms]
    excess = float(np.min(np.subtract(printed, risks)))
    return Solvers(n, heads, max(risks), min(norms), max(norms), excess, len(risks))


#: Spread of the random starts of `repaired_margin`.
_SCALES = {"positions": 2.0, "token": 2.0, "alpha": 1.0, "beta": 1.0, "threshold": 0.3}
_NEURONS = 16


def repaired_margin(
    n: int, heads: int, norms: float
) -> tuple[
    Callable[[PyTree, float], Float[Array, ""]], Callable[[jax.Array], tuple[PyTree, float]]
]:
    """Risk minus the repaired bound of Theorem 11, and a draw of what it depends on.

    Heads whose scores come from positions and bits, on top an FFNN-1 scaled to ‖α‖‖β‖ = norms, so
    that the net cannot escape to zero. B is all positions: the theorem's set is any that contains
    a neglected position, and this one does whatever the attention. Returns margin(moving, fixed)
    and draw(key) -> (moving, fixed), as `claims.hunt` takes them.
    """
    bits = jnp.asarray(every_input(n), jnp.float32)
    labels = jnp.asarray(parity_of(every_input(n), range(n)), jnp.float32)
    bound = hg1.fixed_attention_repaired(n, heads, norms)

    def margin(moving: PyTree, _: float) -> Float[Array, ""]:
        token = moving["token"][:, None, None] * bits[None]
        gamma = jax.nn.softmax(moving["positions"][:, None, :] + token, axis=2).mean(axis=0)
        attended = jnp.sum(gamma * bits, axis=1)[:, None]
        v = jnp.concatenate([attended, 1 - attended, gamma @ jnp.asarray(Circle(n).table)], axis=1)
        alpha, beta = (moving[each] / jnp.linalg.norm(moving[each]) for each in ("alpha", "beta"))
        hidden = jax.nn.relu(v @ beta.T + moving["threshold"][None, :])
        prediction = norms * hidden @ alpha + moving["offset"]
        return jnp.mean(jnp.maximum(0, 1 - labels * prediction) ** 2) - bound

    shapes: dict[str, tuple[int, ...]] = {
        "positions": (heads, n),
        "token": (heads,),
        "alpha": (_NEURONS,),
        "beta": (_NEURONS, 4),
        "threshold": (_NEURONS,),
        "offset": (),
    }

    def draw(key: jax.Array) -> tuple[PyTree, float]:
        keys = jax.random.split(key, len(shapes))
        moving = {
            name: _SCALES.get(name, 0.1) * jax.random.normal(each, shapes[name], jnp.float64)
            for each, name in zip(keys, shapes, strict=True)
        }
        return moving, 0.0

    return margin, draw
