"""One normalised gradient step from zero with random positions: any k, in closed form.

At w = 0 attention is uniform, and the gradient of -log E[y cos πs] in a head's w is proportional to
-(Σ_{j∈B} p_j - k·p̄), with p̄ the mean position. One step of gain β therefore gives every head the
scores β·<Σ_{j∈B} p_j - k·p̄, p_l>/k.
"""

from typing import NamedTuple

import numpy as np


class OneStep(NamedTuple):
    """What one step gives for one draw of positions and target.

    ranked: whether the k largest scores are exactly B. deviation: the smallest, over gains, of the
    largest distance of the attended sum from the number of ones in B over every input; below 1/2
    the sign of cos(πs) is right on all 2^n inputs. gain: the gain that reaches it.
    """

    ranked: bool
    deviation: float
    gain: float


def one_step(n: int, k: int, width: int, *, seed: int) -> OneStep:
    """One normalised step on random ±1/√width positions.

    >>> one_step(256, 3, 400, seed=0).ranked
    True
    """
    if not 1 <= k <= n or width < 1:
        raise ValueError(f"need 1 ≤ k ≤ n and width ≥ 1, got n={n}, k={k}, width={width}")
    generator = np.random.default_rng([seed, n, k, width])
    packed = generator.integers(0, 256, (n, -(-width // 8)), dtype=np.uint8)
    positions = np.unpackbits(packed, axis=1, count=width).astype(np.float32) * 2 - 1
    positions /= np.float32(np.sqrt(width))
    mean = positions.mean(axis=0, dtype=np.float64)
    # Positions are exchangeable, so B may be the first k of them.
    direction = positions[:k].sum(axis=0, dtype=np.float64) - k * mean
    scores = (positions @ direction.astype(np.float32)).astype(np.float64)
    ranked = bool(scores[:k].min() > scores[k:].max()) if k < n else True
    return OneStep(ranked, *_best_gain(scores, k))


def _best_gain(scores: np.ndarray, k: int) -> tuple[float, float]:
    """The smallest worst-case deviation over a grid of gains."""
    gains = np.geomspace(1, 200, 60)
    inside, outside = scores[:k], scores[k:]
    top = scores.max()
    best = (np.inf, 0.0)
    # Only outsiders near the top matter; the rest enter through a histogram of their scores.
    counts, edges = np.histogram(outside, bins=2000)
    middles = edges[1:]
    for gain in gains:
        on = np.exp(gain * (inside - top))
        off = float(counts @ np.exp(gain * (middles - top)))
        weights = k * on / (on.sum() + off)
        rest = k * off / (on.sum() + off)
        above, below = np.maximum(weights - 1, 0).sum() + rest, np.maximum(1 - weights, 0).sum()
        best = min(best, (float(max(above, below)), float(gain)))
    return best


def smallest_width(n: int, k: int, *, trials: int, goal: str, seed: int = 0) -> int:
    """Smallest width on a grid of ratio √2 where every trial ranks B ("rank") or is right on every
    input ("accuracy")."""
    if goal not in ("rank", "accuracy"):
        raise ValueError(f'goal must be "rank" or "accuracy", got {goal!r}')
    width = 8.0
    while width < 1e6:
        done = (one_step(n, k, int(width), seed=seed + t) for t in range(trials))
        if all(step.ranked if goal == "rank" else step.deviation < 0.5 for step in done):
            return int(width)
        width *= 2**0.5
    raise ValueError(f"no width below 10^6 serves n={n}, k={k}")
