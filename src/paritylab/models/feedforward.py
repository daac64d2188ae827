"""FFNN-1: one hidden layer, equation (1) of HG1."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.checks import shortened
from paritylab.models.readouts import smooth_relu
from paritylab.precision import AnyArray, keep_float64
from paritylab.problem.keys import Key
from paritylab.problem.sampling import normals


@final
class FeedForward(eqx.Module):
    """ŷ = Σ_i α_i σ(β_iᵀx + b_i) + c with q neurons.

    hidden: β (q, n). thresholds: b (q,). output: α (q,). offset: c. edges: 0/1 mask of the input
    edges that exist (q, n); absent edges never gain weight. b: smoothing of σ. signs: the net
    reads 1 - 2x in place of x.
    """

    hidden: Float[AnyArray, "q n"] = eqx.field(converter=keep_float64)
    thresholds: Float[AnyArray, " q"] = eqx.field(converter=keep_float64)
    output: Float[AnyArray, " q"] = eqx.field(converter=keep_float64)
    offset: Float[AnyArray, ""] = eqx.field(converter=keep_float64)
    edges: Float[AnyArray, "q n"]
    b: float = eqx.field(static=True, default=0.0)
    signs: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        if isinstance(self.edges, np.ndarray) and not np.isin(self.edges, (0, 1)).all():
            raise ValueError(f"edges must be 0 or 1, got {shortened(self.edges)}")
        if not 0 <= self.b < np.inf:
            raise ValueError(f"the smoothing b must be ≥ 0 and finite, got {shortened(self.b)}")

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

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        x = jnp.asarray(bits, jnp.result_type(float))
        z = (self.hidden * self.edges) @ (1 - 2 * x if self.signs else x) + self.thresholds
        return jnp.asarray(self.output) @ smooth_relu(z, self.b) + self.offset

    def parameters(self) -> dict[str, Float[AnyArray, "..."]]:
        return {
            "hidden": self.hidden,
            "thresholds": self.thresholds,
            "output": self.output,
            "offset": self.offset,
        }

    def with_parameters(self, parameters: Mapping[str, AnyArray]) -> "FeedForward":
        return replace(self, **dict[str, Any](parameters))

    def norms(self) -> float:
        """‖α‖·‖β‖, β on the edges that exist."""
        beta = np.asarray(self.hidden) * np.asarray(self.edges)
        return float(np.linalg.norm(self.output) * np.linalg.norm(beta))

    def distinct_numbers(self) -> int:
        """Distinct values per role (hidden weights on edges, thresholds, outputs, offset)."""
        on_edges = np.asarray(self.hidden)[self.edges > 0]
        roles = (on_edges, self.thresholds, self.output, self.offset)
        return sum(len(np.unique(np.asarray(values))) for values in roles)
