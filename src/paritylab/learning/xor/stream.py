"""One exact XOR step at any n: positions kept as packed bits, scores streamed block by block.

`XorStep` gives every run positions of its own and fits up to n = 10^5; here all hidden pairs share
one draw, which takes n·width bits, and n = 10^6 takes seconds.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from paritylab.checks import shortened, whole
from paritylab.learning.xor.exact import SOLVED_ERROR, worst_of
from paritylab.models.positions import PackedSigns
from paritylab.models.readouts import Bowl
from paritylab.precision import float64

#: Positions scored at a time, as many as a cache holds.
ROWS = 4096
#: Bytes of packed positions above which a call is refused.
MOST_BYTES = 2 << 30


class StreamedStep(NamedTuple):
    """One step from zero on many hidden pairs that share one draw of positions.

    pairs: the hidden positions (pairs, 2). ranked: the pair has the two largest scores (pairs,).
    error: largest |ŷ - y| over all 2^n inputs (gains, pairs). outside: weight off the pair.
    imbalance: |g_i - g_j|.
    """

    pairs: Int[np.ndarray, "pairs 2"]
    ranked: Bool[np.ndarray, " pairs"]
    error: Float[np.ndarray, "gains pairs"]
    outside: Float[np.ndarray, "gains pairs"]
    imbalance: Float[np.ndarray, "gains pairs"]


def draw_positions(
    n: int, width: int, *, balanced: bool, seed: int
) -> tuple[PackedSigns, np.random.Generator]:
    """Random sign positions, a function of the arguments alone, and the generator behind them."""
    size = n * -(-width // 8)
    if size > MOST_BYTES:
        raise ValueError(
            f"{n:,} packed positions of width {width} take {size:,} bytes, more than "
            f"{MOST_BYTES:,}; give a smaller n or width"
        )
    generator = np.random.default_rng([seed, n, width])
    return PackedSigns.draw(generator, n, width, balanced=balanced), generator


def streamed_step(
    n: int,
    width: int,
    gains: Sequence[float] | np.ndarray,
    *,
    pairs: int = 50,
    balanced: bool = False,
    seed: int = 0,
) -> StreamedStep:
    """Softmax, readout 1 - 2z², exact gradient, start at zero, random sign positions.

    The step gives scores β·<p_i + p_j - 2p̄, p_l> for each gain β. Only the packed signs of the
    positions (n·width bits) stay in memory.

    >>> bool(streamed_step(4096, 96, [24.0], pairs=5).ranked.all())
    True
    """
    n, width, pairs = whole("n", n, 3), whole("width", width, 1), whole("pairs", pairs, 1)
    gains = np.asarray(gains, dtype=np.float64)
    if gains.ndim != 1 or not len(gains) or not np.isfinite(gains).all():
        raise ValueError(f"gains must be a list of finite numbers, got {shortened(gains)}")
    code, generator = draw_positions(n, width, balanced=balanced, seed=seed)
    chosen = np.stack([generator.choice(n, 2, replace=False) for _ in range(pairs)])
    betas = np.broadcast_to(gains[:, None], (len(gains), pairs))
    sums = step_sums(code, chosen, first_directions(code, chosen), betas)
    return StreamedStep(chosen, sums.ranked, *sums.worst())


def smallest_xor_width(
    n: int, goal: str, *, gain: float, draws: int, pairs: int, seed: int = 0, balanced: bool = False
) -> int:
    """Smallest width on a grid of ratio 2^(1/4) where every draw ranks all pairs ("rank") or has
    ½(ŷ-y)² ≤ 0.01 on every input ("every")."""
    if goal not in ("rank", "every"):
        raise ValueError(f'goal must be "rank" or "every", got {goal!r}')
    width = 8.0
    while width < 4096:
        # One draw after another: most widths that are too small fail at the first.
        for draw in range(draws):
            step = streamed_step(
                n, int(width), [gain], pairs=pairs, balanced=balanced, seed=seed + draw
            )
            if not (step.ranked if goal == "rank" else step.error <= SOLVED_ERROR).all():
                break
        else:
            return int(width)
        width *= 2**0.25
    raise ValueError(f"no width below 4096 serves n={n}")


def first_directions(code: PackedSigns, pairs: np.ndarray) -> np.ndarray:
    """p_i + p_j - 2p̄ for every pair, (pairs, width): where the first step goes, at gain 1."""
    mean = code.totals() / (code.n * np.sqrt(code.width))
    ends = code.vectors(pairs[:, 0]) + code.vectors(pairs[:, 1])
    return np.asarray(ends - 2 * mean)


class StepSums(NamedTuple):
    """What softmax needs to know of all scores, at every gain and for every pair.

    gains: β (gains, pairs). on_pair: scores of i and j at gain 1 (2, pairs), in float64. rival: the
    largest score off the pair (pairs,). outside: Σ_l, off the pair, of exp(β(score_l - top)).
    rounding: how far scores off the pair, in float32, may be off (pairs,).
    """

    gains: np.ndarray
    on_pair: np.ndarray
    rival: np.ndarray
    outside: np.ndarray
    rounding: np.ndarray

    @property
    def ranked(self) -> np.ndarray:
        """Whether both scores of the pair are above all others."""
        return np.asarray(self.on_pair.min(axis=0) > self.rival + self.rounding)

    def worst(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Largest |ŷ - y|, weight outside the pair and |g_i - g_j|, (gains, pairs) each.

        The larger score of the pair has the term 1, the smaller one e^(-β·gap).
        """
        other = np.exp(-self.gains * np.abs(self.on_pair[0] - self.on_pair[1]))
        mass = 1 + other + self.outside
        with float64():
            found = worst_of(
                jnp.asarray((1 + other) / mass),
                jnp.asarray((1 - other) / mass),
                jnp.asarray(self.outside / mass),
                Bowl(),
            )
            error, outside, imbalance = (np.asarray(part) for part in found)
        return error, outside, imbalance


def step_sums(
    code: PackedSigns, pairs: np.ndarray, directions: np.ndarray, gains: np.ndarray
) -> StepSums:
    """One pass over all positions. directions: w at gain 1, (pairs, width).

    Scores are float32, for speed; Σ exp is taken over them in float64. Terms are relative to the
    larger score of the pair, so none of those that matter overflows.
    """
    sides = (code.vectors(pairs[:, side]) for side in (0, 1))
    on_pair = np.stack([(side * directions).sum(axis=1) for side in sides])
    top, betas = on_pair.max(axis=0).astype(np.float32), gains.astype(np.float32)
    factors = (directions / np.sqrt(code.width)).astype(np.float32)
    outside, rival = np.zeros(gains.shape), np.full(len(pairs), -np.inf)
    for at, signs in code.sign_blocks(ROWS):
        scores = factors @ signs.T
        inside = (pairs >= at) & (pairs < at + len(signs))
        scores[np.nonzero(inside)[0], pairs[inside] - at] = -np.inf
        rival = np.maximum(rival, scores.max(axis=1))
        scores -= top[:, None]
        for index, beta in enumerate(betas):
            outside[index] += np.exp(beta[:, None] * scores).sum(axis=1, dtype=np.float64)
    # A float32 sum of width terms ±f is off by at most (width + 4)·u·Σ|f|, u the unit roundoff.
    unit = (code.width + 4) * np.finfo(np.float32).eps / 2
    rounding = unit * np.abs(factors).sum(axis=1, dtype=np.float64)
    return StepSums(gains, on_pair, rival, outside, rounding)
