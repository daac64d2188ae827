"""Gradient flow of the paper's heads on the exact risk at small n, many runs at once.

Plain arrays and double precision: the steps of Theorem 5's proof are so short that only the flow
reaches its stopping time, and a run that has ended leaves the block.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from paritylab.models import Circle
from paritylab.theory.hg1_limits import zigzag_jet

Heads = Float[np.ndarray, "runs k 2"]


class Local(NamedTuple):
    """The risk and its first two derivatives in the 2k numbers of the heads, one entry per run."""

    risk: Float[np.ndarray, " runs"]
    gradient: Float[np.ndarray, "runs 2k"]
    hessian: Float[np.ndarray, "runs 2k 2k"]

    def squared_slope(self) -> Float[np.ndarray, " runs"]:
        """‖∇L‖²."""
        return np.sum(self.gradient**2, axis=1)


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

    def some(self, chosen: np.ndarray) -> "ExactRisks":
        """The risks of some of the runs."""
        return ExactRisks(self.n, self.sets[chosen], self.tau, self.b)

    def __call__(self, directions: Heads) -> Local:
        bits, (runs, k) = _all_bits(self.n), self.sets.shape
        attention = self.attention(directions)
        s = attention.sum(axis=1) @ bits.T
        value, slope, bend = zigzag_jet(s, k, self.b)
        labels = np.prod(1.0 - 2.0 * bits.T[self.sets], axis=1)
        missing = np.maximum(0.0, 1 - labels * value)
        first = -2 * labels * missing
        twice = 2 * (missing > 0) * slope**2 + first * bend
        once = first * slope / len(bits)
        moved, bent = self._in_heads(attention, once @ bits)
        motion = bits @ np.moveaxis(moved, 2, 1).reshape(runs, self.n, 2 * k)  # ∂s/∂a by input
        gradient = (once[:, None] @ motion)[:, 0]
        hessian = np.swapaxes(motion, 1, 2) @ (twice[..., None] * motion) / len(bits)
        for head in range(k):
            own = slice(2 * head, 2 * head + 2)
            hessian[:, own, own] += bent[:, head]
        return Local(np.mean(missing**2, axis=1), gradient, hessian)

    def attention(self, directions: Heads) -> Float[np.ndarray, "runs k n"]:
        """γ, one row per run and head."""
        scores = directions @ np.asarray(Circle(self.n).table).T / self.tau
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True)

    def _in_heads(self, attention: np.ndarray, pull: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂γ in a head's two numbers (runs, k, n, 2), and Σ_p pull_p ∂²γ_p (runs, k, 2, 2).

        ∂γ_p = γ_p(c_p - c̄)/τ and ∂²γ_p = γ_p((c_p - c̄)(c_p - c̄)ᵀ - cov(c))/τ², c the position
        code, mean and covariance over γ. pull: ∂L/∂g of the weights g = Σ_i γ_i.
        """
        table = np.asarray(Circle(self.n).table)
        away = table[None, None] - (attention @ table)[:, :, None]
        moved = attention[..., None] * away / self.tau
        total = (attention @ pull[..., None])[..., None]
        excess = pull[:, None, :, None] - total
        return moved, np.swapaxes(moved, 2, 3) @ (excess * away) / self.tau


@lru_cache
def _all_bits(n: int) -> Float[np.ndarray, "inputs n"]:
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)


class Ends(NamedTuple):
    """Where the flow ended, one entry per run.

    directions: heads. time: at which the risk fell below the target; infinite if it did not.
    risk: at the end. squared_slope: ‖∇L‖² there.
    """

    directions: Heads
    time: Float[np.ndarray, " runs"]
    risk: Float[np.ndarray, " runs"]
    squared_slope: Float[np.ndarray, " runs"]


def flow(
    risks: ExactRisks, starts: Heads, time: float, *, target: float, tolerance: float = 0.03
) -> Ends:
    """d(heads)/dt = -∇L from the starts for that time, or until the risk is below the target.

    Steps follow the linearised flow exactly, x - h·φ(hH)∇L with φ(z) = (1 - e^{-z})/z, so that they
    may grow at rest; a step is shortened if the gradient at its end, where it is not as foreseen,
    would move the heads by more than the tolerance times tau and the largest entry above 1.
    """
    runs = len(starts)
    heads, clock, step = starts.reshape(runs, -1).copy(), np.zeros(runs), np.full(runs, 1e-3)
    here = risks(starts)
    reached = np.where(here.risk < target, 0.0, np.inf)
    going = np.flatnonzero(here.risk >= target)
    while len(going):
        at = Local(*(part[going] for part in here))
        asked = np.minimum(step[going], time - clock[going])
        tried = _step(risks.some(going), starts[going], heads[going], at, asked)
        off = tried.error / (tolerance * risks.tau)
        good = (off < 1) & (tried.there.risk <= at.risk * (1 + 1e-12))
        done = going[good]
        heads[done] = tried.heads[good]
        clock[done] += tried.step[good]
        for old, new in zip(here, tried.there, strict=True):
            old[done] = new[good]
        below = done[here.risk[done] < target]
        reached[below] = clock[below]
        ease = np.clip(0.8 * np.maximum(off, 1e-9) ** (-1 / 3), 0.1, 5.0)
        step[going] = tried.step * np.where(good, ease, np.minimum(ease, 0.5))
        going = going[(clock[going] < time) & np.isinf(reached[going])]
    return Ends(heads.reshape(starts.shape), reached, here.risk, here.squared_slope())


class _Tried(NamedTuple):
    """A step: heads after it, its length, how far off they may be, and what is there."""

    heads: np.ndarray
    step: np.ndarray
    error: np.ndarray
    there: Local


def _step(
    risks: ExactRisks, like: Heads, heads: np.ndarray, at: Local, asked: np.ndarray
) -> _Tried:
    values, vectors = np.linalg.eigh(at.hessian)
    step = np.minimum(asked, 2 / np.maximum(-values[:, 0], 1e-12))  # no long steps off a ridge
    grown = step[:, None] * values
    small = np.abs(grown) < 1e-8
    length = step[:, None] * np.where(small, 1.0, -np.expm1(-grown) / np.where(small, 1.0, grown))
    slope = np.einsum("rji,rj->ri", vectors, at.gradient)
    moved = heads - np.einsum("rij,rj->ri", vectors, length * slope)
    there = risks(moved.reshape(like.shape))
    foreseen = np.exp(-grown) * slope
    gap = np.einsum("rji,rj->ri", vectors, there.gradient) - foreseen
    error = np.linalg.norm(length * gap, axis=1) / np.maximum(1, np.abs(moved).max(axis=1))
    return _Tried(moved, step, error, there)


def least_decrease(
    risks: ExactRisks, heads: Heads, steps: Float[np.ndarray, " steps"]
) -> Float[np.ndarray, " steps"]:
    """Least (L(x) - L(x - η∇L))/((η/2)‖∇L‖²) over the runs, for each step η.

    Smoothness Λ and η ≤ 1/Λ make it at least 1. Where the decrease would be lost in rounding,
    (η/2)‖∇L‖² below 1e-12·L, the step is so short that its second order is used instead.
    """
    here = risks(heads)
    slope = here.squared_slope()
    bend = np.einsum("ri,rij,rj->r", here.gradient, here.hessian, here.gradient) / slope
    found = []
    for step in steps:
        moved = heads - step * here.gradient.reshape(heads.shape)
        due = step / 2 * slope
        share = (here.risk - risks(moved).risk) / due
        found.append(np.min(np.where(due > 1e-12 * here.risk, share, 2 - step * bend)))
    return np.array(found)
