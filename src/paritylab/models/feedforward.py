"""Nets of one hidden layer: FFNN-1 of HG1, equation (1), and those of its neighbours."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.checks import shortened
from paritylab._support.precision import AnyArray, keep_float64
from paritylab.models.readouts import smooth_relu
from paritylab.problem.keys import Key, as_key
from paritylab.problem.sampling import normals

#: σ by name, from z, the smoothing b and the power k.
ACTIVATIONS: dict[str, Callable[[Array, float, int], Array]] = {
    "relu": lambda z, b, k: smooth_relu(z, b),
    "clipped": lambda z, b, k: jnp.clip(z, 0, 1),
    "power": lambda z, b, k: z**k,
}
#: The arrays of a net by name.
ARRAYS = ("hidden", "thresholds", "output", "offset")


@final
class FeedForward(eqx.Module):
    """ŷ = Σ_i α_i σ(β_iᵀx + b_i) + c with q neurons.

    hidden: β (q, n). thresholds: b (q,). output: α (q,). offset: c. edges: 0/1 mask of the input
    edges that exist (q, n), all of them if None; absent edges never gain weight. b: smoothing of a
    ReLU. signs: the net reads 1 - 2x in place of x. activation: σ, a name in ACTIVATIONS. power: k
    of z^k. trains: names of the arrays that are trained.
    """

    hidden: Float[AnyArray, "q n"] = eqx.field(converter=keep_float64)
    thresholds: Float[AnyArray, " q"] = eqx.field(converter=keep_float64)
    output: Float[AnyArray, " q"] = eqx.field(converter=keep_float64)
    offset: Float[AnyArray, ""] = eqx.field(converter=keep_float64)
    edges: Float[AnyArray, "q n"] | None = None
    b: float = eqx.field(static=True, default=0.0)
    signs: bool = eqx.field(static=True, default=False)
    activation: str = eqx.field(static=True, default="relu")
    power: int = eqx.field(static=True, default=1)
    trains: tuple[str, ...] = eqx.field(static=True, default=ARRAYS)

    def __check_init__(self) -> None:
        if isinstance(self.edges, np.ndarray) and not np.isin(self.edges, (0, 1)).all():
            raise ValueError(f"edges must be 0 or 1, got {shortened(self.edges)}")
        if not 0 <= self.b < np.inf:
            raise ValueError(f"the smoothing b must be ≥ 0 and finite, got {shortened(self.b)}")

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        x = jnp.asarray(bits, jnp.result_type(float))
        z = jnp.asarray(self._on_edges()) @ (1 - 2 * x if self.signs else x) + self.thresholds
        made = ACTIVATIONS[self.activation](z, self.b, self.power)
        return jnp.asarray(self.output) @ made + self.offset

    def _on_edges(self) -> Float[AnyArray, "q n"]:
        return self.hidden if self.edges is None else self.hidden * self.edges

    def parameters(self) -> dict[str, Float[AnyArray, "..."]]:
        return {name: getattr(self, name) for name in self.trains}

    def with_parameters(self, parameters: Mapping[str, AnyArray]) -> "FeedForward":
        return replace(self, **dict[str, Any](parameters))

    @classmethod
    def random(
        cls,
        key: Key,
        n: int,
        width: int,
        *,
        missing: Iterable[int] = (),
        b: float = 0.0,
        signs: bool = False,
    ) -> "FeedForward":
        """Gaussian weights of variance 1/n (hidden) and 1/width (output).

        missing: positions without any outgoing edge.
        """
        # float32 draws in every mode: the same key gives the same net with x64 on or off.
        draws = normals(key, (width, n + 2), np.float32)
        numbers = np.asarray(draws, dtype=np.float64)
        edges = np.ones((width, n))
        edges[:, list(missing)] = 0.0
        hidden, output = numbers[:, :n] / np.sqrt(n), numbers[:, n + 1] / np.sqrt(width)
        return cls(hidden, numbers[:, n], output, np.zeros(()), edges, b, signs)

    @classmethod
    def uniform(cls, key: Key, n: int, width: int) -> "FeedForward":
        """ReLU on signs; weights, thresholds uniform in ±1/√n, output and offset in ±1/√width."""
        draws = _draws(key, (width, n + 2))
        offset = _draws(jax.random.fold_in(as_key(key), 1), ())
        near, far = 1 / np.sqrt(n), 1 / np.sqrt(width)
        numbers = (near * draws[:, :n], near * draws[:, n], far * draws[:, n + 1], far * offset)
        return cls(*numbers, signs=True)

    @classmethod
    def antisymmetric(cls, key: Key, n: int, width: int) -> "FeedForward":
        """Clipped ReLU on signs; pairs of equal neurons with outputs ±1, so that ŷ starts at 0.

        Weights are fair signs over √n, thresholds uniform in ±1. width: even.
        """
        if width % 2:
            raise ValueError(f"an antisymmetric start pairs neurons; width is even, got {width}")
        draws = _draws(key, (width // 2, n + 1))
        hidden = np.where(draws[:, :n] > 0, 1.0, -1.0) / np.sqrt(n)
        output, thresholds = np.repeat([1.0, -1.0], width // 2), np.tile(draws[:, n], 2)
        numbers = (np.tile(hidden, (2, 1)), thresholds, output, np.zeros(()))
        return cls(*numbers, signs=True, activation="clipped")

    @classmethod
    def powers(cls, key: Key, n: int, width: int, k: int) -> "FeedForward":
        """z^k on signs without thresholds; weights, which train, and outputs are fair signs."""
        draws = np.where(_draws(key, (width, n + 1)) > 0, 1.0, -1.0)
        numbers = (draws[:, :n], np.zeros(width), draws[:, n], np.zeros(()))
        return cls(*numbers, signs=True, activation="power", power=k, trains=("hidden",))

    def norms(self) -> float:
        """‖α‖·‖β‖, β on the edges that exist."""
        return float(np.linalg.norm(self.output) * np.linalg.norm(self._on_edges()))

    def distinct_numbers(self) -> int:
        """Distinct values per role (hidden weights on edges, thresholds, outputs, offset)."""
        hidden = np.asarray(self.hidden)
        on_edges = hidden if self.edges is None else hidden[np.asarray(self.edges) > 0]
        roles = (on_edges, self.thresholds, self.output, self.offset)
        return sum(len(np.unique(np.asarray(values))) for values in roles)


def _draws(key: Key, shape: tuple[int, ...]) -> np.ndarray:
    """Uniform in ±1; float32 in every mode, so that a key gives the same net with x64 on or off."""
    drawn = jax.random.uniform(as_key(key), shape, jnp.float32, -1.0, 1.0)
    return np.asarray(drawn, dtype=np.float64)
