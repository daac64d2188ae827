"""What a risk computation returns."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from paritylab._support.precision import float64
from paritylab.problem.losses import Loss

Kind = Literal["exact", "numerical", "sampled"]


@dataclass(frozen=True)
class Risk:
    """A risk, how far it may be off, and how it was computed.

    kind: "exact" is off by rounding only: all inputs enumerated, a closed form, or a structure
    that readout and loss declare, resolved to rounding. "numerical" is a series, and error an
    estimate, not a proof: what fine and coarse grid differ by. A feature narrower than the grid may
    be missed. "sampled" comes from random inputs, and error is one standard error.
    """

    value: float
    error: float
    route: str
    kind: Kind = "exact"

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.error:.1g} ({self.kind}, {self.route})"


class RiskGradient(NamedTuple):
    """The risk and its gradient in the shape of the model's parameters.

    The slope at a kink or a jump is the one that jax gives on it; where a sum lies so near that
    rounding decides, both sides count.
    """

    risk: Risk
    gradient: Any


def outer_derivatives(loss: Loss, mean: float) -> tuple[float, float, float]:
    """outer, outer' and outer'' of a loss at the mean of its statistic."""
    with float64():
        point, first = jnp.asarray(mean), jax.grad(loss.outer)
        return float(loss.outer(point)), float(first(point)), float(jax.grad(first)(point))
