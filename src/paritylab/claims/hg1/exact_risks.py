"""The paper's heads on the exact risk at small n, many runs at once.

Plain arrays: at this size `risk.model_gradient` spends its time on compiling and calling.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import softmax

from paritylab.learning.hardness.frozen import every_input
from paritylab.models import Circle
from paritylab.theory.hg1_limits import zigzag_jet


class Local(NamedTuple):
    """The risk and its gradient in the numbers of the heads, one entry per run."""

    risk: Float[np.ndarray, " runs"]
    gradient: Float[np.ndarray, "runs k 2"]

    def squared_slope(self) -> Float[np.ndarray, " runs"]:
        """‖∇L‖²."""
        return np.sum(self.gradient**2, axis=(1, 2))


@dataclass(frozen=True)
class ExactRisks:
    """Squared-hinge risk over all 2^n inputs of k heads on the circle, one set B per run.

    n: bits. sets: B, one row of k positions per run. tau: temperature. b: smoothing of the readout.

    >>> risks = ExactRisks(4, np.array([[0, 2]]), tau=0.01, b=0.0)
    >>> float(risks(Circle(4).vectors([[0, 2]])).risk[0]) < 1e-9
    True
    """

    n: int
    sets: Int[np.ndarray, "runs k"]
    tau: float
    b: float

    def __call__(self, directions: Float[np.ndarray, "runs k 2"]) -> Local:
        bits, k = every_input(self.n), self.sets.shape[1]
        attention = softmax(directions @ np.asarray(Circle(self.n).table).T / self.tau, axis=2)
        value, slope, _ = zigzag_jet(attention.sum(axis=1) @ bits.T, k, self.b)
        labels = np.prod(1.0 - 2.0 * bits.T[self.sets], axis=1)
        missing = np.maximum(0.0, 1 - labels * value)
        pull = -2 * (labels * missing * slope) @ bits / len(bits)  # ∂L/∂g of the weights g
        # ∂γ_p = γ_p(c_p - Σ_j γ_j c_j)/τ in a head's two numbers, c the position code.
        pulled = attention * (pull[:, None] - attention @ pull[..., None])
        return Local(
            np.mean(missing**2, axis=1), pulled @ np.asarray(Circle(self.n).table) / self.tau
        )
