"""Two-layer nets by online SGD on the hinge loss: Barak et al., Daniely and Malach."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from paritylab.learning.contract import Trained, check_fields, register_learner
from paritylab.learning.data import Fresh, Target, Unknown, functions_of
from paritylab.learning.descent import stacked
from paritylab.learning.neighbours.judging import judge_nets
from paritylab.learning.neighbours.strings import (
    Strings,
    draw_strings,
    generator_of,
    signs_of,
)
from paritylab.learning.own_model import judged_networks
from paritylab.models.shallow import ShallowNet
from paritylab.problem import Junta, Parity
from paritylab.problem.sampling import each_key

#: Fresh strings on which a trace counts accuracy, and a run its accuracy on its own mixture.
TEST_STRINGS = 1024


@register_learner("hinge-net")
@dataclass(frozen=True, eq=False)
class HingeNet:
    """Two layers of `width` neurons on ±1 inputs, SGD on the hinge loss with L2 decay.

    activation: "relu" starts uniform in ±1/√fan-in; "clipped" starts antisymmetric, ŷ = 0. start:
    the hidden weights drawn are multiplied by it.
    mixture: share of the rows in which all bits of the hidden set share one fair sign (D_A of
    Daniely and Malach at ½); the others follow the data. shared_first: share of the steps, at the
    start, whose rows are all of that kind. frozen: the hidden layer stays as drawn.

    Presets: `HingeNet.barak()`, `HingeNet.daniely_malach()`. The batch is that of `Fresh`.

    A run is solved if its squared-hinge risk on the data's own inputs, without the mixture, is
    below 0.05. Stats: accuracy there; mixed, accuracy on the mixture it was trained on. The trace
    has accuracy, moved (largest |w_t - w_0| of a hidden weight), columns (‖w_t - w_0‖ of the
    weights that leave each input) and squares (their mean square at that step).

    >>> from paritylab import Fresh, Parity, learn
    >>> runs = learn(HingeNet(64, steps=400), Fresh(Parity(10, (1, 4)), 32), runs=4)
    >>> runs.rate().successes
    4
    """

    width: int = 1000
    activation: str = "relu"
    start: float = 1.0
    eta: float = 0.1
    decay: float = 0.01
    steps: int = 5000
    mixture: float = 0.0
    shared_first: float = 0.0
    frozen: bool = False

    takes = (Fresh,)

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("mixture", "shared_first"):
            if getattr(self, name) > 1:
                raise ValueError(f"{name} is a share, at most 1, got {getattr(self, name)}")
        if self.activation == "clipped" and self.width % 2:
            raise ValueError(f"the clipped net pairs its neurons; width is even, got {self.width}")

    @classmethod
    def barak(cls, **changes: Any) -> "HingeNet":
        """Barak et al.: ReLU, width 1000, rate 0.1, decay 0.01, with `Fresh(…, 32)`."""
        return replace(cls(), **changes)

    @classmethod
    def daniely_malach(cls, **changes: Any) -> "HingeNet":
        """Daniely and Malach: clipped ReLU, antisymmetric start, D_A; sizes and rate are ours."""
        theirs = cls(activation="clipped", mixture=0.5)
        ours = replace(theirs, width=128, start=0.1, eta=0.5, decay=1e-3, steps=1000)
        return replace(ours, **changes)

    def train(self, data: Fresh, keys: jax.Array, trace: int | None) -> Trained:
        targets = functions_of(data, "a hinge net")
        n, every = data.n, self.steps if trace is None else trace
        pairs = list(zip(targets, each_key(keys), strict=True))
        with jax.enable_x64(False), jax.default_matmul_precision("highest"):
            rule = _Rule(np.float32(self.eta), np.float32(self.decay), np.float32(not self.frozen))
            weights = first = stacked(_numbers(self._start(key, n)) for _, key in pairs)
            rows = stacked(self._rows(*pair, data.samples) for pair in pairs)
            test = stacked(_test_rows(*pair) for pair in pairs)
            mixture = stacked(_test_rows(*pair, self.mixture) for pair in pairs)
            records = []
            for begin in range(0, self.steps, every):
                if trace is not None:
                    records.append(_probe(weights, first["hidden"], test, self.activation))
                piece = Strings(*(part[:, begin : begin + every] for part in rows))
                weights = _advance(weights, piece, rule, self.activation)
            mixed = _probe(weights, weights["hidden"], mixture, self.activation)["accuracy"]
        numbers = jax.tree.map(np.asarray, weights)
        path = {}
        if trace is not None:
            path = {
                "step": np.arange(0, self.steps, every),
                **{name: np.stack([r[name] for r in records], axis=1) for name in records[0]},
            }
        nets = ShallowNet(**numbers, activation=self.activation)
        return judged_networks(
            self,
            numbers,
            data,
            keys,
            judge=lambda models, data, keys: judge_nets(nets, data, keys),
            stats={"mixed": np.asarray(mixed)},
            trace=path,
        )

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> ShallowNet:
        return ShallowNet(**numbers, activation=self.activation)

    def _start(self, key: jax.Array, n: int) -> ShallowNet:
        draw: Callable[..., ShallowNet] = ShallowNet.uniform
        if self.activation == "clipped":
            draw = ShallowNet.antisymmetric
        drawn = draw(jax.random.split(key)[1], n, self.width)
        return replace(drawn, hidden=self.start * np.asarray(drawn.hidden))

    def _rows(self, target: Parity | Junta, key: jax.Array, batch: int) -> Strings:
        """All rows of one run, n/8 bytes each."""
        shared = round(self.shared_first * self.steps)
        parts = [(shared, 1.0), (self.steps - shared, self.mixture)]
        generator = generator_of(key, 0)
        drawn = [draw_strings(generator, target, (steps, batch), mix) for steps, mix in parts]
        return Strings(*(np.concatenate(part) for part in zip(*drawn, strict=True)))


class _Rule(NamedTuple):
    """eta, decay: of a step. trains: 1 if the hidden layer does, else 0."""

    eta: np.float32
    decay: np.float32
    trains: np.float32


def _test_rows(target: Parity | Junta, key: jax.Array, mixture: float = 0.0) -> Strings:
    clean = replace(target, noise=0.0)
    return draw_strings(generator_of(key, 2), clean, (TEST_STRINGS,), mixture)


def _numbers(net: ShallowNet) -> dict[str, np.ndarray]:
    names = ("hidden", "thresholds", "output", "offset")
    return {name: np.asarray(getattr(net, name), np.float32) for name in names}


def _predict(weights: PyTree, x: Array, activation: str) -> Array:
    return ShallowNet(**weights, activation=activation).at_signs(x)


def _hinge(weights: dict[str, Array], x: Array, y: Array, activation: str) -> Array:
    return jnp.mean(jnp.maximum(0, 1 - y * _predict(weights, x, activation)))


@partial(jax.jit, static_argnames="activation")
def _advance(
    weights: dict[str, Array], rows: Strings, rule: _Rule, activation: str
) -> dict[str, Array]:
    """One step per batch of rows, for every run."""
    n = weights["hidden"].shape[-1]

    def step(weights: dict[str, Array], batch: Strings) -> tuple[dict[str, Array], None]:
        x, y = signs_of(batch.packed, n), jnp.asarray(batch.labels)
        slopes = jax.grad(_hinge)(weights, x, y, activation)
        moves = {
            name: (rule.trains if name in ("hidden", "thresholds") else 1.0) * rule.eta
            for name in weights
        }
        after = {
            name: weights[name] - moves[name] * (slopes[name] + rule.decay * weights[name])
            for name in weights
        }
        return after, None

    after: dict[str, Array] = jax.vmap(lambda w, r: jax.lax.scan(step, w, r)[0])(weights, rows)
    return after


@partial(jax.jit, static_argnames="activation")
def _probe(
    weights: dict[str, Array], first: Array, rows: Strings, activation: str
) -> dict[str, Array]:
    """What a trace shows of every run."""
    n = first.shape[-1]

    def one(weights: dict[str, Array], first: Array, rows: Strings) -> dict[str, Array]:
        x, y = signs_of(rows.packed, n), jnp.asarray(rows.labels)
        moved = weights["hidden"] - first
        return {
            "risk": _hinge(weights, x, y, activation),
            "accuracy": jnp.mean(y * _predict(weights, x, activation) > 0),
            "moved": jnp.max(jnp.abs(moved)),
            "columns": jnp.linalg.norm(moved, axis=0),
            "squares": jnp.mean(weights["hidden"] ** 2, axis=0),
        }

    seen: dict[str, Array] = jax.vmap(one)(weights, first, rows)
    return seen
