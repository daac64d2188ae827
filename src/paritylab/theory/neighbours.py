"""Closed forms of the feed-forward neighbours: sign descent, majority's Fourier gap, PolyNet."""

import math
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammaln
from scipy.stats import norm

from paritylab.problem import Parity

# Sign descent with z^k (Kou, Chen, Gu, Kakade).


def power_signal(
    weights: Float[np.ndarray, "q n"], outputs: Float[np.ndarray, " q"], problem: Parity
) -> tuple[float, Float[np.ndarray, "q n"]]:
    """E[yŷ] of ŷ = Σ_r a_r (w_rᵀx)^k and its gradient in w, over fair signs x.

    Of the k-th power only the product of all k hidden signs survives, once each: E[yŷ] =
    k!·Σ_r a_r Π_{i∈B} w_ri. So the gradient is k!·a_r Π_{i∈B, i≠j} w_ri on j ∈ B and 0 elsewhere.
    """
    k, members = problem.k, np.array(problem.subset, dtype=int)
    hidden = np.asarray(weights, np.float64)[:, members]
    others = np.stack([np.prod(np.delete(hidden, i, axis=1), axis=1) for i in range(k)], axis=1)
    scale = problem.sign * (1 - 2 * problem.noise) * math.factorial(k)
    gradient = np.zeros(weights.shape)
    gradient[:, members] = scale * np.asarray(outputs)[:, None] * others
    return float(scale * (outputs @ np.prod(hidden, axis=1))), gradient


class SignPath(NamedTuple):
    """|w| after 0, 1, … steps: on B where a_r = Π w, on B where a_r = -Π w (signed), off B."""

    kept: Float[np.ndarray, " steps"]
    lost: Float[np.ndarray, " steps"]
    off: Float[np.ndarray, " steps"]


def sign_path(k: int, eta: float, decay: float, threshold: float, steps: int) -> SignPath:
    """Sign descent on the population from w(0) ∈ {±1}^n, in closed form: three numbers a step.

    All k weights of a neuron on B move together. Off B nothing but the decay acts. threshold: in
    units of k!.

    >>> path = sign_path(3, 0.1, 1.0, 0.1, 40)
    >>> [round(float(part[-1]), 3) for part in path]
    [1.0, 0.007, 0.015]
    """
    kept, lost = [1.0], [1.0]
    for _ in range(steps):
        for values, way in ((kept, 1), (lost, -1)):
            signal = values[-1] ** (k - 1)
            push = 0.0 if abs(signal) < threshold else way * math.copysign(1, signal)
            values.append((1 - eta * decay) * values[-1] + eta * push)
    off = (1 - eta * decay) ** np.arange(steps + 1)
    return SignPath(np.array(kept), np.array(lost), off)


def readout_gap(k: int) -> int:
    """Largest |Σ_w (Πw)(wᵀx)^k - 2^k·k!·Πx| over all x ∈ {±1}^k, w running through {±1}^k.

    In whole numbers: 0 says that the identity is exact.

    >>> [readout_gap(k) for k in (1, 2, 3, 4)]
    [0, 0, 0, 0]
    """
    cube = np.array(list(product((1, -1), repeat=k)), dtype=np.int64)
    sums = np.prod(cube, axis=1) @ (cube @ cube.T) ** k
    return int(np.abs(sums - 2**k * math.factorial(k) * np.prod(cube, axis=1)).max())


# Majority's Fourier gap (Barak et al.): what the first gradient of a ReLU neuron sees.


def majority_coefficient(n: int, size: int) -> float:
    """Fourier coefficient ξ of the majority of n signs (n odd) on a set of that size.

    ξ_s = (-1)^((s-1)/2)·2^(1-n)·C(n-1, m)·C(m, (s-1)/2)/C(n-1, s-1), m = (n-1)/2; 0 for even s.

    >>> round(majority_coefficient(3, 1), 6), round(majority_coefficient(3, 3), 6)
    (0.5, -0.5)
    """
    if n % 2 == 0 or not 0 <= size <= n:
        raise ValueError(f"majority needs an odd n and a set of 0 to n signs, got {n} and {size}")
    if size % 2 == 0:
        return 0.0
    m, half = (n - 1) // 2, (size - 1) // 2
    logarithm = (
        (1 - n) * math.log(2)
        + _log_choose(n - 1, m)
        + _log_choose(m, half)
        - _log_choose(n - 1, size - 1)
    )
    return (-1.0 if half % 2 else 1.0) * math.exp(logarithm)


def _log_choose(n: int, k: int) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


class Gap(NamedTuple):
    """on, off: |ξ_{k-1}| on B and |ξ_{k+1}| elsewhere. bound: 0.03·(n-1)^(-(k-1)/2)."""

    on: float
    off: float
    bound: float


def fourier_gap(n: int, k: int) -> Gap:
    """What E[y x_j Maj(x)] is on B and off it, k even and n odd.

    |ξ_{k-1}| = ((n-k)/(k-1))·|ξ_{k+1}|, so B leads wherever n > 2k - 1.

    >>> gap = fourier_gap(51, 4)
    >>> round(gap.on / gap.off, 6), round(47 / 3, 6)
    (15.666667, 15.666667)
    """
    if k % 2 or not 2 <= k < n:
        raise ValueError(f"the gap is for an even k from 2 to n - 1, got k={k}, n={n}")
    on, off = (abs(majority_coefficient(n, size)) for size in (k - 1, k + 1))
    return Gap(on, off, 0.03 * (n - 1) ** (-(k - 1) / 2))


def rows_to_rank_by_majority(n: int, k: int) -> float:
    """Rows of one batch with which half of the batches put B on top of the scores |ĝ_j|.

    ĝ_j is the mean of N terms ±1 of mean ξ_{k-1} on B and ξ_{k+1} off it, so nearly normal with
    standard deviation 1/√N; independent entries.

    >>> round(rows_to_rank_by_majority(65, 2))
    995
    """
    gap, grid = fourier_gap(n, k), np.linspace(0, 16, 1601)

    def chance(root: float) -> float:
        on, off = root * gap.on, root * gap.off
        below = norm.cdf(grid - off) - norm.cdf(-grid - off)
        above = norm.sf(grid - on) + norm.cdf(-grid - on)
        largest_off = np.gradient(below ** (n - k), grid)
        return float(np.trapezoid(largest_off * above**k, grid))

    root = brentq(lambda root: chance(root) - 0.5, 0.5 / gap.on, 12 / gap.on)
    return float(root) ** 2


# Disjoint PolyNet (Barak et al.): ŷ = Π_i w_iᵀx_{P_i}, gradient flow on the correlation loss.


def polynet_flow(start: Float[np.ndarray, " k"], time: float) -> Float[np.ndarray, " k"]:
    """The weights v on the hidden bits after `time` under v̇_i = Π_{j≠i} v_j; Π v(0) > 0.

    v_i² - v_j² is conserved, so v_i² = v_i(0)² + s with ṡ = 2·Π_i √(v_i(0)² + s): one quadrature.

    >>> polynet_flow(np.array([0.5, 0.5, 0.5]), 1.0)
    array([1., 1., 1.])
    """
    start = np.asarray(start, np.float64)
    if np.prod(start) <= 0:
        raise ValueError("the flow is given for a start with a positive product")
    if time >= polynet_end(start):
        raise ValueError(f"the flow ends at {polynet_end(start):.4g}, before {time:.4g}")

    def excess(log_gain: float) -> float:
        return _time_to(start, math.expm1(log_gain)) - time

    high = 1.0
    while excess(high) < 0:
        high *= 2
    gain = math.expm1(brentq(excess, 0, high, xtol=1e-14))
    return np.asarray(np.sign(start) * np.sqrt(start**2 + gain))


def polynet_end(start: Float[np.ndarray, " k"]) -> float:
    """When the flow leaves every bound; 1/((k-2)·v^(k-2)) for k equal weights, never for k = 2.

    >>> round(polynet_end(np.array([0.1, 0.1, 0.1])), 6)
    10.0
    """
    if len(start) < 3:
        return math.inf
    return _time_to(np.asarray(start, np.float64), math.inf)


def _time_to(start: Float[np.ndarray, " k"], gain: float) -> float:
    """∫ ds / (2 Π √(v_i² + s)) from 0 to gain, in units that take the singular ends away."""
    least = float(np.min(np.abs(start)))
    squares = (start / least) ** 2

    def rate(u: float) -> float:
        # s = least²·(e^{2u} - 1)
        grown = math.exp(2 * u)
        return float(grown / np.prod(np.sqrt(squares + grown - 1)))

    end = math.inf if math.isinf(gain) else 0.5 * math.log1p(gain / least**2)
    # Beyond u = 300/k the integrand is below rounding.
    end = min(end, 300.0 / len(start)) if len(start) > 2 else end
    integral = quad(rate, 0, end, epsabs=0, epsrel=1e-12, limit=400)[0]
    return float(least ** (2 - len(start)) * integral)
