"""Sign descent with z^k: the two-layer net of Kou, Chen, Gu and Kakade."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from paritylab.learning.contract import SOLVED_RISK, Trained, check_fields, register_learner
from paritylab.learning.data import Fresh, Population, Target, Unknown, are_uniform, parities_of
from paritylab.learning.neighbours.judging import judge_nets
from paritylab.learning.neighbours.strings import draw_strings, generator_of, signs_of
from paritylab.models.shallow import ShallowNet
from paritylab.precision import AnyArray
from paritylab.problem import Parity
from paritylab.problem.sampling import each_key
from paritylab.theory.neighbours import power_signal

#: Rows whose gradient is taken at once; the last piece is filled up with rows of label 0.
PIECE = 1024


@register_learner("sign-descent")
@dataclass(frozen=True, eq=False)
class SignDescent:
    """ŷ = Σ_r a_r (w_rᵀx)^k with a_r = ±1 fixed and w_r(0) of fair signs; sign descent on 1 - yŷ.

    w ← (1 - eta·decay)·w - eta·sign(∇), with sign = 0 where |∇| < threshold·k!; k! is the gradient
    of a fresh neuron on the hidden set. width: neurons, 16·2^k if None. Samples: `Fresh(…, N)`
    draws N rows per step; `Population` has the gradient in closed form.

    A run names the k positions whose weights are largest in the mean over neurons. It is solved if
    its squared-hinge risk is below 0.05. Stats: accuracy. The trace has weights, the mean |w| of
    each position.

    >>> from paritylab import Population, learn, random_parities
    >>> learn(SignDescent(), Population(random_parities(30, 3, runs=4))).rate().successes
    4
    """

    width: int | None = None
    eta: float = 0.1
    decay: float = 1.0
    threshold: float = 0.1
    steps: int = 40

    takes = (Population, Fresh)

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def kou(cls, **changes: Any) -> "SignDescent":
        """Kou et al.: decay 1, dead zone 0.1·k! (recalled); rate, steps and width are ours."""
        return replace(cls(), **changes)

    def train(self, data: Population | Fresh, keys: jax.Array, trace: int | None) -> Trained:
        targets = parities_of(data, "sign descent with z^k")
        if data.k < 2 or not are_uniform(data):
            raise ValueError("sign descent with z^k learns a Parity of k ≥ 2 fair bits")
        starts = [
            self.start(key, target) for key, target in zip(each_key(keys), targets, strict=True)
        ]
        weights = np.stack([start.hidden for start in starts]).astype(np.float32)
        outputs = np.stack([start.output for start in starts]).astype(np.float32)
        records = []
        for step in range(self.steps):
            mean, slopes = self._gradients(data, targets, keys, weights, outputs, step)
            if trace is not None and step % trace == 0:
                records.append((1 - mean, np.abs(weights).mean(axis=1)))
            dead = np.abs(slopes) < self.threshold * math.factorial(data.k)
            moves = np.where(dead, 0, np.sign(slopes)).astype(np.float32)
            weights = np.float32(1 - self.eta * self.decay) * weights + np.float32(self.eta) * moves
        return self._judged(data, keys, {"hidden": weights, "output": outputs}, records, trace)

    def _judged(
        self,
        data: Population | Fresh,
        keys: jax.Array,
        numbers: dict[str, np.ndarray],
        records: list[tuple[np.ndarray, np.ndarray]],
        trace: int | None,
    ) -> Trained:
        k = data.k
        found = judge_nets(self._net(numbers, k), data, keys)
        order = np.argsort(-np.abs(numbers["hidden"]).mean(axis=1), axis=1, kind="stable")[:, :k]
        path = {}
        if trace is not None:
            risks, weights = (np.stack(part, axis=1) for part in zip(*records, strict=True))
            path = {"step": np.arange(0, self.steps, trace), "risk": risks, "weights": weights}
        return Trained(
            numbers=numbers,
            subset=[tuple(sorted(each.tolist())) for each in order],
            risk=found.risk,
            error=found.error,
            kind=found.kind,
            loss="squared_hinge",
            solved=found.risk + found.error < SOLVED_RISK,
            stats={"accuracy": found.accuracy},
            trace=path,
        )

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> ShallowNet:
        return self._net(numbers, target.k or 1)

    def _net(self, numbers: dict[str, np.ndarray], k: int) -> ShallowNet:
        output = numbers["output"]
        zeros = {"thresholds": np.zeros(output.shape), "offset": np.zeros(output.shape[:-1])}
        return ShallowNet(**numbers, **zeros, activation="power", power=k)

    def start(self, key: jax.Array, target: Parity) -> ShallowNet:
        """The net of one run before training."""
        width = 16 * 2**target.k if self.width is None else self.width
        return ShallowNet.signs(jax.random.split(key)[1], target.n, width, target.k)

    def _gradients(
        self,
        data: Population | Fresh,
        targets: tuple[Parity, ...],
        keys: jax.Array,
        weights: Float[np.ndarray, "runs q n"],
        outputs: Float[np.ndarray, "runs q"],
        step: int,
    ) -> tuple[Float[np.ndarray, " runs"], Float[np.ndarray, "runs q n"]]:
        """E[yŷ] and its gradient: exact, or of this step's rows."""
        if isinstance(data, Population):
            signals = [
                power_signal(w, a, target)
                for w, a, target in zip(weights, outputs, targets, strict=True)
            ]
            means, slopes = zip(*signals, strict=True)
            return np.array(means), np.stack(slopes)
        total: np.ndarray | float = 0.0
        slope: np.ndarray | float = 0.0
        generators = [generator_of(key, 3 + step) for key in each_key(keys)]
        for begin in range(0, data.samples, PIECE):
            pairs = zip(generators, targets, strict=True)
            rows = [draw_strings(generator, target, (PIECE,)) for generator, target in pairs]
            packed, labels = (np.stack(part) for part in zip(*rows, strict=True))
            labels[:, data.samples - begin :] = 0
            with jax.enable_x64(False), jax.default_matmul_precision("highest"):
                sums = _sums(weights, outputs, packed, labels, data.k)
            total, slope = total + np.asarray(sums[0]), slope + np.asarray(sums[1])
        return np.asarray(total / data.samples), np.asarray(slope / data.samples)


@partial(jax.jit, static_argnames="k")
def _sums(
    weights: AnyArray, outputs: AnyArray, packed: AnyArray, labels: AnyArray, k: int
) -> tuple[Float[Array, " runs"], Float[Array, "runs q n"]]:
    """Σ yŷ and Σ ∂(yŷ)/∂w over rows, for every run."""
    n = weights.shape[-1]

    def one(w: Array, a: Array, packed: Array, y: Array) -> tuple[Array, Array]:
        x = signs_of(packed, n)
        z = x @ w.T
        below = z ** (k - 1) * y[:, None]
        slopes = k * a[:, None] * (below.T @ x)
        return jnp.sum(below * z @ a), slopes

    total, slope = jax.vmap(one)(*map(jnp.asarray, (weights, outputs, packed, labels)))
    return total, slope
