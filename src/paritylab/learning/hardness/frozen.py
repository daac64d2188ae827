"""Frozen attention: a net trained on top of it, and the best function of any kind on top of it."""

from collections.abc import Iterable
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Int, PyTree
from numpy.typing import ArrayLike

from paritylab.learning.contract import Trained, check_fields, register_learner
from paritylab.learning.data import AllInputs, Fresh, Rows, Sample, Target, Unknown
from paritylab.learning.descent import (
    Schedule,
    as_optimiser,
    descend_from,
    traced,
)
from paritylab.learning.own_model import judged_networks
from paritylab.learning.parts import OptimiserPart
from paritylab.models import (
    FeedForward,
    FrozenHeads,
    FullFormAttention,
)
from paritylab.models.feedforward import input_edges
from paritylab.precision import AnyArray, float64
from paritylab.problem import all_bits, as_loss
from paritylab.problem.sampling import each_key


@register_learner("frozen")
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
    optimiser: OptimiserPart = "adam"
    eta: float = 0.02
    steps: int = 2000

    takes = (AllInputs, Sample, Fresh, Rows)

    def __post_init__(self) -> None:
        check_fields(self)
        as_optimiser(self.optimiser, self.eta)

    def train(
        self, data: AllInputs | Sample | Fresh | Rows, keys: jax.Array, trace: int | None
    ) -> Trained:
        schedule = Schedule(self.optimiser, self.steps, trace)
        starts = [
            FrozenHeads.random(
                jax.random.split(key)[1],
                data.n,
                heads=self.heads,
                width=self.width,
                token=self.token,
                tau=self.tau,
            )
            for key in each_key(keys)
        ]
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

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> FrozenHeads:
        trained = {name: values for name, values in numbers.items() if name != "heads"}
        network = FeedForward(**trained, edges=input_edges(self.width, 4))
        return FrozenHeads.of(numbers["heads"], network, target.n, self.tau)


def frozen_features(model: FrozenHeads) -> Float[np.ndarray, "inputs 4"]:
    """What the frozen heads of a model pass on, for all 2^n inputs."""
    with float64():
        return np.asarray(_attended(model.heads, every_input(model.heads.code.n)))


@eqx.filter_jit
def _attended(
    heads: FullFormAttention, bits: Float[AnyArray, "inputs n"]
) -> Float[Array, "inputs 4"]:
    made: Array = jax.vmap(heads.attended)(bits)
    return made


def best_possible_risk(features: ArrayLike, labels: ArrayLike) -> float:
    """Smallest squared-hinge risk of any function of the features, over equally likely inputs.

    features: one row per input; rows that agree to 1e-9 are one group. In a group with shares
    p₊ and p₋ the best prediction leaves 4p₊p₋/(p₊+p₋).

    >>> best_possible_risk([[0.0], [0.0], [1.0], [1.0]], [1, -1, 1, 1])
    0.5
    """
    rows, signs = np.asarray(features, dtype=float), np.asarray(labels)
    if rows.ndim != 2 or signs.shape != rows.shape[:1]:
        raise ValueError(
            f"expected one row of features per label, got {rows.shape} and {signs.shape}"
        )
    return float(group_risks(group_rows(rows), signs[:, None])[0])


def group_rows(features: Float[np.ndarray, "inputs d"]) -> Int[np.ndarray, " inputs"]:
    """The number of each row's group."""
    rounded = np.ascontiguousarray(np.round(features, 9) + 0.0)
    return np.unique(rounded, axis=0, return_inverse=True)[1].ravel()


def group_risks(
    groups: Int[np.ndarray, " inputs"], labels: Float[np.ndarray, "inputs targets"]
) -> Float[np.ndarray, " targets"]:
    """Best risk for many labellings of the same grouped inputs."""
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
