"""FFNN-1 from random starts, and what linear functions of random features explain."""

from collections.abc import Iterable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PyTree

from paritylab.checks import told
from paritylab.learning.contract import Trained, check_fields, register_learner
from paritylab.learning.data import AllInputs, Fresh, Rows, Sample, Target, Unknown
from paritylab.learning.descent import (
    Schedule,
    as_optimiser,
    descend_from,
    traced,
)
from paritylab.learning.hardness.frozen import every_input, parity_of
from paritylab.learning.judging import judging_loss
from paritylab.learning.own_model import judged_networks
from paritylab.learning.parts import OptimiserPart
from paritylab.models import FeedForward
from paritylab.models.feedforward import input_edges
from paritylab.models.protocol import Model
from paritylab.precision import float64
from paritylab.problem import Parity, as_loss
from paritylab.problem.sampling import each_key


@register_learner("feedforward")
@dataclass(frozen=True, eq=False)
class FeedForwardNet:
    """FFNN-1 of `width` neurons from random starts, trained on the squared hinge.

    Juntas of real values are trained on ½(ŷ-y)².

    missing: input positions without any edge. inputs: the net reads "bits" x or "signs" 1 - 2x;
    the trained model is a function of bits either way. batch: rows per step, drawn at random; all
    of them if None.

    A run is solved if its risk is below 0.05. Stats: accuracy; norms, ‖α‖·‖β‖ at the end; numbers,
    how many are trained.

    >>> from paritylab.learning import AllInputs, learn
    >>> runs = learn(FeedForwardNet(16, steps=600), AllInputs(Parity(6, (1, 4))), runs=4)
    >>> runs.kind, int(runs.stats["numbers"][0]), runs.rate().successes
    ('exact', 129, 4)
    """

    width: int = 64
    missing: tuple[int, ...] = ()
    inputs: str = "bits"
    batch: int | None = None
    optimiser: OptimiserPart = "adam"
    eta: float = 0.01
    steps: int = 2000

    takes = (AllInputs, Sample, Fresh, Rows)

    def __post_init__(self) -> None:
        check_fields(self)
        as_optimiser(self.optimiser, self.eta)
        wrong = [j for j in self.missing if isinstance(j, bool) or not isinstance(j, int) or j < 0]
        if wrong:
            raise ValueError(
                f"missing must be a tuple of positions ≥ 0, got {told(wrong[0])} in it"
            )
        object.__setattr__(self, "missing", tuple(self.missing))

    def train(
        self, data: AllInputs | Sample | Fresh | Rows, keys: jax.Array, trace: int | None
    ) -> Trained:
        absent = [j for j in self.missing if j >= data.n]
        if absent:
            raise ValueError(f"missing positions must be in 0..{data.n - 1}, got {absent[0]}")
        schedule = Schedule(self.optimiser, self.steps, trace, self.batch)
        signs = self.inputs == "signs"
        starts = [
            FeedForward.random(
                jax.random.split(key)[1], data.n, self.width, missing=self.missing, signs=signs
            )
            for key in each_key(keys)
        ]
        path = descend_from(
            starts, data, keys, loss=as_loss(judging_loss(data)), schedule=schedule, eta=self.eta
        )
        numbers = path.parameters
        beta = numbers["hidden"] * starts[0].edges[None]
        stats = {
            "norms": np.linalg.norm(numbers["output"], axis=1) * np.linalg.norm(beta, axis=(1, 2)),
            "numbers": np.full(len(keys), starts[0].edge_numbers()),
        }
        way = traced(path, schedule, **(path.path or {}))
        return judged_networks(self, numbers, data, keys, trace=way, stats=stats)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> FeedForward:
        edges = input_edges(self.width, target.n, self.missing)
        return FeedForward(**numbers, edges=edges, signs=self.inputs == "signs")


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
