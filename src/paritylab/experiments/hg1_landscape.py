"""The risk of the heads around B and away from it: peaks, gradients, attention off the peak."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import enumerated_gradient, enumerated_risk
from paritylab.theory import hg1


def largest_risks_on_set(power: int) -> list[float]:
    """Largest risk of k heads on every second position, at tau = 1/n^power and at 2/n²."""
    cells = [(n, Parity(n, tuple(range(0, 2 * k, 2)))) for k in range(1, 5) for n in (8, 12, 16)]
    return [
        max(enumerated_risk(HeadAttention.on(p, tau=c / n**t), p).value for n, p in cells)
        for c, t in ((1, power), (2, 2))
    ]


#: n and tau of the heads, and b of those off B.
BITS, TAU, SMOOTHING = 10, 0.1, 0.1
#: The risk of heads on one set B and ‖∇L‖², from directions, B and b.
LocalRisk = Callable[[np.ndarray, tuple[int, ...], float], tuple[float, float]]


def risk_and_gradient(
    directions: np.ndarray, subset: tuple[int, ...], b: float
) -> tuple[float, float]:
    """The risk of heads on one set B and ‖∇L‖², over all 2^n inputs."""
    k = len(subset)
    heads = HeadAttention(directions, Circle(BITS), k, Zigzag(k, b), TAU)
    found = enumerated_gradient(heads, Parity(BITS, subset))
    return found.risk.value, float(np.sum(np.asarray(found.gradient) ** 2))


def gradient_over_risk(local: LocalRisk, directions: np.ndarray, subset: tuple[int, ...]) -> float:
    """½‖∇L‖²/L off B."""
    risk, square = local(directions, subset, SMOOTHING)
    return square / 2 / risk


def search_least_ratio(
    ratio: Callable[[np.ndarray, tuple[int, ...]], float], generator: np.random.Generator
) -> float:
    """log10 of the smallest ½‖∇L‖²/L over two unit heads that a descent from random angles finds.

    ratio: from directions and B. generator: of the first angles.
    """

    def log_ratio(angles: Any) -> Any:
        heads = np.stack([np.sin(angles), np.cos(angles)], axis=1)
        return np.log10(max(ratio(heads, (1, 4)), 1e-40))

    start = generator.uniform(0, 2 * np.pi, 2)
    return float(minimize(log_ratio, start, method="Nelder-Mead", options={"maxfev": 150}).fun)


#: How far a head points beside its position, in positions.
OFFSETS = (0.0, 0.25, 0.49)


def measure_spread(log_attention: Callable[..., np.ndarray], c1: float, n: int) -> list[float]:
    """Attention at one c₁ and n, the worst over offsets.

    Least and largest share of the nearest position; largest γ_j/(c₁τ) of the others within π/4 and
    ln of the least γ_j/τ there; largest total share beyond π/4; relative distance of the peak from
    its formula.
    """
    tau = c1 / n
    logs = np.array([log_attention(n, tau, offset) for offset in OFFSETS])
    away = np.minimum(np.arange(n), n - np.arange(n))
    near, far = (away <= n / 8) & (away > 0), away > n / 8
    peak = np.exp(logs[:, 0])
    beyond = np.exp(logs[:, far]).sum(axis=1)
    return [
        peak.min(),
        peak.max(),
        np.exp(logs[:, near].max()) / (c1 * tau),
        logs[:, near].min() - np.log(tau),
        beyond.max(),
        np.abs(peak / hg1.peak_attention(n, tau) - 1).max(),
    ]
