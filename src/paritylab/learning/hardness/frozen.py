"""Frozen attention: a net trained on top of it, and the best head of any kind on top of it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab.learning.data import AllInputs, Fresh, Rows, Sample, Target, Unknown
from paritylab.learning.descent import (
    Schedule,
    as_optimiser,
    descend_from,
    judged_networks,
    traced,
)
from paritylab.learning.runs import Trained, check_fields, register
from paritylab.models import Circle, FeedForward, FrozenHeads, FullFormAttention
from paritylab.models.feedforward import input_edges
from paritylab.precision import float64
from paritylab.problem import all_bits, as_loss
from paritylab.theory import hg1

#: Diameter of [x, 1-x, sin, cos] embeddings: √2 between the tokens, 2 across the circle.
DIAMETER = float(np.sqrt(6))


@register("frozen")
@dataclass(frozen=True, eq=False)
class FrozenAttention:
    """Random heads that never train, and an FFNN-1 of `width` neurons trained on their output.

    The net sees the mean head output v = [Σγx, 1-Σγx, Σγ sin, Σγ cos]. token: the frozen scores
    depend on the bits as well as on the positions. tau: temperature of the frozen heads.

    Every run draws its own heads; they are kept among its numbers. A run is solved if its
    squared-hinge risk is below 0.05. Stats: accuracy; norms, ‖α‖·‖β‖ of the net; numbers, how many
    are trained.
    """

    heads: int = 2
    width: int = 32
    token: bool = False
    tau: float = 0.3
    optimiser: Any = "adam"
    eta: float = 0.02
    steps: int = 2000

    takes = (AllInputs, Sample, Fresh, Rows)

    def __post_init__(self) -> None:
        check_fields(self)
        as_optimiser(self.optimiser, self.eta)

    def train(self, data: Any, keys: jax.Array, trace: int | None) -> Trained:
        schedule = Schedule(self.optimiser, self.steps, trace)
        options = {name: getattr(self, name) for name in ("heads", "width", "token", "tau")}
        starts = [FrozenHeads.random(jax.random.split(key)[1], data.n, **options) for key in keys]
        path = descend_from(
            starts, data, keys, loss=as_loss("squared_hinge"), schedule=schedule, eta=self.eta
        )
        numbers = {"heads": np.stack([start.entries for start in starts]), **path.parameters}
        sizes = (("output", 1), ("hidden", (1, 2)))
        alpha, beta = (np.linalg.norm(numbers[name], axis=axes) for name, axes in sizes)
        stats = {
            "norms": alpha * beta,
            "numbers": np.full(len(keys), starts[0].network.edge_numbers()),
        }
        way = traced(path, schedule, **(path.path or {}))
        return judged_networks(self, numbers, data, keys, trace=way, stats=stats)

    def rebuild(self, numbers: Any, target: Target | Unknown, key: jax.Array) -> FrozenHeads:
        trained = {name: values for name, values in numbers.items() if name != "heads"}
        network = FeedForward(**trained, edges=input_edges(self.width, 4))
        return FrozenHeads.of(numbers["heads"], network, target.n, self.tau)


def frozen_features(model: FrozenHeads) -> Float[np.ndarray, "inputs 4"]:
    """What the frozen heads of a model pass on, for all 2^n inputs."""
    with float64():
        return np.asarray(_attended(model.heads, every_input(model.heads.code.n)))


@eqx.filter_jit
def _attended(heads: FullFormAttention, bits: Any) -> Float[Array, "inputs 4"]:
    return jax.vmap(heads.attended)(bits)


def best_possible_risk(features: Any, labels: Any) -> float:
    """Smallest squared-hinge risk of any function of the features, over equally likely inputs.

    features: one row per input; rows that agree to 1e-9 are one group. In a group with shares
    p₊ and p₋ the best prediction leaves 4p₊p₋/(p₊+p₋).

    >>> best_possible_risk([[0.0], [0.0], [1.0], [1.0]], [1, -1, 1, 1])
    0.5
    """
    features, labels = np.asarray(features, dtype=float), np.asarray(labels)
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise ValueError(
            f"expected one row of features per label, got {features.shape} and {labels.shape}"
        )
    groups = group_rows(features)
    return float(group_risks(groups, labels[:, None])[0])


def group_rows(features: Float[np.ndarray, "inputs d"]) -> Int[np.ndarray, " inputs"]:
    """The number of each row's group."""
    rounded = np.ascontiguousarray(np.round(features, 9) + 0.0)
    return np.unique(rounded, axis=0, return_inverse=True)[1].ravel()


def group_risks(groups: Int[np.ndarray, " inputs"], labels: Any) -> Float[np.ndarray, " targets"]:
    """Best risk for many labellings (inputs, targets) of the same grouped inputs."""
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
    return 1 - 2 * (bits[:, list(subset)].sum(axis=1) % 2)


def hard_features(
    bits: Float[np.ndarray, "inputs n"],
    positions: Float[np.ndarray, "m n"],
    tokens: Float[np.ndarray, "m 2"],
    *,
    average: bool,
) -> Float[np.ndarray, "inputs d"]:
    """What hard heads pass on: the token and place they picked, or the mean over tied maxima.

    positions, tokens: scores of every head. average: share the attention among tied maxima.
    """
    n, parts = bits.shape[1], []
    angles = 2 * np.pi * np.arange(n) / n
    for place, token in zip(positions, tokens, strict=True):
        scores = place[None, :] + token[bits.astype(int)]
        tied = scores >= scores.max(axis=1, keepdims=True) - 1e-12
        share = tied / tied.sum(axis=1, keepdims=True) if average else np.eye(n)[tied.argmax(1)]
        parts += [(share * bits).sum(axis=1), share @ np.sin(angles), share @ np.cos(angles)]
    return np.stack(parts, axis=1)


def smallest_worst_risk(n: int, heads: int, *, draws: int, seed: int = 0) -> float:
    """Over random hard heads: the smallest, over attention, of the largest risk over all sets B.

    The risk is that of the best head of any kind on what the hard heads pass on (Corollary 20).
    """
    bits, generator = every_input(n), np.random.default_rng(seed)
    sets = [s for size in range(1, n + 1) for s in combinations(range(n), size)]
    labels = np.stack([parity_of(bits, s) for s in sets], axis=1)
    smallest = np.inf
    for _ in range(draws):
        positions = generator.normal(size=(heads, n)) * generator.choice([0.1, 1.0, 5.0])
        tokens = generator.normal(size=(heads, 2)) * generator.choice([0.0, 0.1, 1.0, 5.0])
        groups = group_rows(hard_features(bits, positions, tokens, average=False))
        smallest = min(smallest, float(group_risks(groups, labels).max()))
    return smallest


def risk_with_averaged_ties(n: int) -> float:
    """Best risk on the full parity of one hard head that likes ones and averages over ties."""
    bits = every_input(n)
    features = hard_features(bits, np.zeros((1, n)), np.array([[0.0, 1.0]]), average=True)
    return best_possible_risk(features, parity_of(bits, range(n)))


#: Spread of the random starts of `repaired_margin`, and the shape of each part for n bits.
_SCALES = {
    "positions": 2.0,
    "token": 2.0,
    "alpha": 0.1,
    "beta": 0.1,
    "threshold": 0.3,
    "offset": 0.1,
}
_NEURONS = 16


def repaired_margin(
    n: int,
) -> tuple[Callable[[Any, Any], Float[Array, ""]], Callable[[jax.Array], tuple[Any, float]]]:
    """Risk minus the repaired bound of Theorem 11, and a draw of what it depends on.

    One head whose scores come from positions and bits, an FFNN-1 on top, B all positions. Returns
    margin(moving, fixed) and draw(key) -> (moving, fixed), as `claims.hunt` takes them.
    """
    bits = jnp.asarray(every_input(n), jnp.float32)
    labels = jnp.asarray(parity_of(every_input(n), range(n)), jnp.float32)
    share = hg1.attended_inputs_counted(n, 1)

    def margin(moving: Any, _: Any) -> Float[Array, ""]:
        scores = moving["positions"][None, :] + moving["token"] * bits
        gamma = jax.nn.softmax(scores, axis=1)
        attended = jnp.sum(gamma * bits, axis=1)[:, None]
        v = jnp.concatenate([attended, 1 - attended, gamma @ jnp.asarray(Circle(n).table)], axis=1)
        hidden = jax.nn.relu(v @ moving["beta"].T + moving["threshold"][None, :])
        prediction = hidden @ moving["alpha"] + moving["offset"]
        risk = jnp.mean(jnp.maximum(0, 1 - labels * prediction) ** 2)
        norms = jnp.linalg.norm(moving["alpha"]) * jnp.linalg.norm(moving["beta"])
        return risk - share * jnp.maximum(0, 1 - 5 * DIAMETER * norms / n) ** 2

    shapes = {
        "positions": (n,),
        "token": (),
        "alpha": (_NEURONS,),
        "beta": (_NEURONS, 4),
        "threshold": (_NEURONS,),
        "offset": (),
    }

    def draw(key: jax.Array) -> tuple[Any, float]:
        keys = jax.random.split(key, len(shapes))
        moving = {
            name: _SCALES[name] * jax.random.normal(each, shapes[name], jnp.float64)
            for each, name in zip(keys, shapes, strict=True)
        }
        return moving, 0.0

    return margin, draw
