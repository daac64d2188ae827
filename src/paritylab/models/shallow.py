"""The two-layer nets of the neighbours: ReLU, clipped ReLU, or a power, on ±1 inputs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.precision import AnyArray, keep_float64
from paritylab.problem.keys import Key, as_key

#: Activations by name; "power" is z^k, k given to the net.
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda z: jnp.maximum(z, 0),
    "clipped": lambda z: jnp.clip(z, 0, 1),
}
#: The arrays of a net by name.
ARRAYS = ("hidden", "thresholds", "output", "offset")


@final
class ShallowNet(eqx.Module):
    """ŷ = Σ_i a_i σ(w_iᵀx + b_i) + c, x = 1 - 2·bits.

    hidden: w (q, n). thresholds: b (q,). output: a (q,). offset: c. activation: a name in
    ACTIVATIONS, or "power". power: k of z^k. trains: names of the arrays that are trained.
    """

    hidden: Float[AnyArray, "q n"] = eqx.field(converter=keep_float64)
    thresholds: Float[AnyArray, " q"] = eqx.field(converter=keep_float64)
    output: Float[AnyArray, " q"] = eqx.field(converter=keep_float64)
    offset: Float[AnyArray, ""] = eqx.field(converter=keep_float64)
    activation: str = eqx.field(static=True, default="relu")
    power: int = eqx.field(static=True, default=1)
    trains: tuple[str, ...] = eqx.field(static=True, default=ARRAYS)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        x = 1 - 2 * jnp.asarray(bits, jnp.result_type(float))
        z = jnp.asarray(self.hidden) @ x + self.thresholds
        made = z**self.power if self.activation == "power" else ACTIVATIONS[self.activation](z)
        return jnp.asarray(self.output) @ made + self.offset

    def parameters(self) -> dict[str, Float[AnyArray, "..."]]:
        return {name: getattr(self, name) for name in self.trains}

    def with_parameters(self, parameters: Mapping[str, AnyArray]) -> "ShallowNet":
        return replace(self, **dict[str, Any](parameters))

    @classmethod
    def uniform(cls, key: Key, n: int, width: int) -> "ShallowNet":
        """ReLU; weights and thresholds uniform in ±1/√n, output and offset in ±1/√width."""
        draws = _draws(key, (width, n + 2))
        offset = _draws(jax.random.fold_in(as_key(key), 1), ())
        near, far = 1 / np.sqrt(n), 1 / np.sqrt(width)
        return cls(near * draws[:, :n], near * draws[:, n], far * draws[:, n + 1], far * offset)

    @classmethod
    def antisymmetric(cls, key: Key, n: int, width: int) -> "ShallowNet":
        """Clipped ReLU; pairs of equal neurons with outputs ±1, so that ŷ = 0 at the start.

        Weights are fair signs over √n, thresholds uniform in ±1. width: even.
        """
        if width % 2:
            raise ValueError(f"an antisymmetric start pairs neurons; width is even, got {width}")
        draws = _draws(key, (width // 2, n + 1))
        hidden = np.where(draws[:, :n] > 0, 1.0, -1.0) / np.sqrt(n)
        output = np.repeat([1.0, -1.0], width // 2)
        thresholds = np.tile(draws[:, n], 2)
        return cls(np.tile(hidden, (2, 1)), thresholds, output, np.zeros(()), "clipped")

    @classmethod
    def signs(cls, key: Key, n: int, width: int, power: int) -> "ShallowNet":
        """z^power without thresholds; weights, which train, and outputs are fair signs."""
        draws = np.where(_draws(key, (width, n + 1)) > 0, 1.0, -1.0)
        zero = np.zeros(())
        hidden, output = draws[:, :n], draws[:, n]
        return cls(hidden, np.zeros(width), output, zero, "power", power, ("hidden",))


def _draws(key: Key, shape: tuple[int, ...]) -> np.ndarray:
    """Uniform in ±1; float32 in every mode, so that a key gives the same net with x64 on or off."""
    drawn = jax.random.uniform(as_key(key), shape, jnp.float32, -1.0, 1.0)
    return np.asarray(drawn, dtype=np.float64)
