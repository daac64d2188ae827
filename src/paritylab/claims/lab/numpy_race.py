"""Heads, and feed-forward nets of as many neurons, by the same Adam on the same rows.

Plain arrays: the models are so small that compiling their training takes longer than training. For
320 runs of three heads at three step sizes `learn` takes 11.8 s of processor time, this 2.9 s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from jaxtyping import Float

from paritylab.learning.hardness.frozen import every_input, parity_of
from paritylab.models import Circle
from paritylab.problem import Parity
from paritylab.theory.hg1_limits import zigzag_jet

Numbers = Float[np.ndarray, "runs numbers"]
#: dL/dŷ of a loss, from labels and predictions (runs, rows).
Pull = Callable[[np.ndarray, np.ndarray], np.ndarray]


class LabelledRows(NamedTuple):
    """bits: (runs, rows, n). labels: ±1 (runs, rows)."""

    bits: Float[np.ndarray, "runs rows n"]
    labels: Float[np.ndarray, "runs rows"]

    def repeated(self, times: int) -> "LabelledRows":
        """The same rows for several groups of runs."""
        return LabelledRows(np.tile(self.bits, (times, 1, 1)), np.tile(self.labels, (times, 1)))


def labelled_rows(targets: Sequence[Parity], rows: int, seed: Any) -> LabelledRows:
    """Uniform rows of each target."""
    shape = (len(targets), rows, targets[0].n)
    bits = np.random.default_rng(seed).integers(0, 2, shape).astype(float)
    labels = [parity_of(x, target.subset) for x, target in zip(bits, targets, strict=True)]
    return LabelledRows(bits, np.stack(labels))


def squared_hinge(labels: np.ndarray, made: np.ndarray) -> np.ndarray:
    """Of mean (1 - yŷ)₊²."""
    return -2 * labels * np.maximum(0, 1 - labels * made) / labels.shape[1]


def mean_hinge_squared(labels: np.ndarray, made: np.ndarray) -> np.ndarray:
    """Of (mean (1 - yŷ)₊)², as in HG1's public code."""
    missing = np.maximum(0, 1 - labels * made)
    return -2 * missing.mean(axis=1, keepdims=True) * labels * (missing > 0) / labels.shape[1]


def minus_log_correlation(labels: np.ndarray, made: np.ndarray) -> np.ndarray:
    """Of -log |mean yŷ|."""
    return -labels / np.sum(labels * made, axis=1, keepdims=True)


class Model(Protocol):
    """A model with its loss, as functions of one row of numbers per run."""

    def inputs(self, bits: np.ndarray) -> np.ndarray:
        """What it reads in place of bits."""

    def start(self, generator: np.random.Generator, runs: int, n: int) -> Numbers:
        """Random numbers to start from."""

    def predict(self, numbers: Numbers, x: np.ndarray) -> np.ndarray:
        """ŷ of inputs, (runs, rows)."""

    def slope(self, numbers: Numbers, x: np.ndarray, labels: np.ndarray) -> Numbers:
        """The gradient of the loss."""


@dataclass(frozen=True)
class Net:
    """FFNN-1: Σ_i α_i max(0, β_iᵀx + b_i) + c on x = 1 - 2·bits, trained on the squared hinge.

    width: neurons. Numbers of a run: β, b, α, c, in total width·(n + 2) + 1.
    """

    width: int

    def inputs(self, bits: np.ndarray) -> np.ndarray:
        return 1 - 2 * bits

    def start(self, generator: np.random.Generator, runs: int, n: int) -> Numbers:
        q = self.width
        scale = np.concatenate([np.full(q * n, n**-0.5), np.ones(q), np.full(q, q**-0.5), [0.0]])
        return generator.normal(size=(runs, len(scale))) * scale[None]

    def predict(self, numbers: Numbers, x: np.ndarray) -> np.ndarray:
        return self._forward(numbers, x)[2]

    def slope(self, numbers: Numbers, x: np.ndarray, labels: np.ndarray) -> Numbers:
        active, output, made = self._forward(numbers, x)
        pull = squared_hinge(labels, made)
        back = pull[..., None] * output[:, None] * (active > 0)
        parts = (
            (np.swapaxes(back, 1, 2) @ x).reshape(len(numbers), -1),
            back.sum(axis=1),
            (pull[:, None] @ active)[:, 0],
            pull.sum(axis=1, keepdims=True),
        )
        return np.concatenate(parts, axis=1)

    def _forward(self, numbers: Numbers, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """Active neurons (runs, rows, width), α, and ŷ."""
        q, n = self.width, x.shape[-1]
        hidden = numbers[:, : q * n].reshape(-1, q, n)
        thresholds, output = numbers[:, q * n : q * n + q], numbers[:, q * n + q : -1]
        active = np.maximum(0, x @ np.swapaxes(hidden, 1, 2) + thresholds[:, None])
        return active, output, (active @ output[..., None])[..., 0] + numbers[:, -1:]


@dataclass(frozen=True)
class Pointers:
    """k heads on the circle at one temperature, two numbers each, under a frozen readout.

    The readout is the paper's zigzag with smoothing b and the loss mean_hinge_squared, as in HG1's
    public code, or, if correlated, cos(πs) and minus_log_correlation. Starts are unit vectors.
    """

    k: int
    tau: float
    b: float = 0.0
    correlated: bool = False

    def inputs(self, bits: np.ndarray) -> np.ndarray:
        return bits

    def start(self, generator: np.random.Generator, runs: int, n: int) -> Numbers:
        angles = generator.uniform(0, 2 * np.pi, (runs, self.k))
        return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(runs, -1)

    def predict(self, numbers: Numbers, x: np.ndarray) -> np.ndarray:
        return self._readout(self._attended(numbers, x)[1])[0]

    def slope(self, numbers: Numbers, x: np.ndarray, labels: np.ndarray) -> Numbers:
        attention, s = self._attended(numbers, x)
        made, change = self._readout(s)
        pull: Pull = minus_log_correlation if self.correlated else mean_hinge_squared
        on_weights = ((pull(labels, made) * change)[:, None] @ x)[:, 0]  # ∂L/∂g
        excess = on_weights[:, None] - attention @ on_weights[..., None]
        table = np.asarray(Circle(x.shape[-1]).table)
        return ((attention * excess) @ table / self.tau).reshape(numbers.shape)

    def _attended(self, numbers: Numbers, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """γ (runs, k, n) and s (runs, rows)."""
        table = np.asarray(Circle(bits.shape[-1]).table)
        scores = numbers.reshape(-1, self.k, 2) @ table.T / self.tau
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        attention = powers / powers.sum(axis=2, keepdims=True)
        return attention, (bits @ attention.sum(axis=1)[..., None])[..., 0]

    def _readout(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ŷ and dŷ/ds."""
        if self.correlated:
            return np.cos(np.pi * s), -np.pi * np.sin(np.pi * s)
        return zigzag_jet(s, self.k, self.b)[:2]


def adam(
    model: Model, numbers: Numbers, rows: LabelledRows, eta: np.ndarray, steps: int
) -> Numbers:
    """Adam with its usual decays, 0.9 and 0.999. eta: step size of every run."""
    x = model.inputs(rows.bits)
    mean, square = np.zeros_like(numbers), np.zeros_like(numbers)
    for step in range(1, steps + 1):
        slope = model.slope(numbers, x, rows.labels)
        mean += 0.1 * (slope - mean)
        square += 0.001 * (slope**2 - square)
        spread = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        numbers = numbers - eta[:, None] * mean / (1 - 0.9**step) / spread
    return numbers


def shares_wrong(
    model: Model,
    rows: LabelledRows,
    targets: Sequence[Parity],
    etas: Sequence[float],
    *,
    steps: int,
    seed: Any,
) -> Float[np.ndarray, "etas runs"]:
    """Share of all 2^n inputs that a trained model gets wrong, by step size and run.

    Every step size starts from the same numbers, drawn by the seed.
    """
    runs, n = len(targets), targets[0].n
    start = model.start(np.random.default_rng(seed), runs, n)
    numbers = adam(
        model,
        np.tile(start, (len(etas), 1)),
        rows.repeated(len(etas)),
        np.repeat(etas, runs),
        steps,
    )
    bits = every_input(n)
    x = model.inputs(bits)[None]
    made = np.concatenate([model.predict(one[None], x) for one in numbers])
    right = np.stack([parity_of(bits, target.subset) for target in targets])
    wrong = ~(np.tile(right, (len(etas), 1)) * made > 0)
    return wrong.mean(axis=1).reshape(len(etas), runs)
