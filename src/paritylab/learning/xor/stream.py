"""One exact XOR step at any n: positions kept as packed bits, scores streamed block by block."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from paritylab.learning.xor.exact import worst_of
from paritylab.models.readouts import Bowl
from paritylab.precision import float64

#: Positions unpacked at a time.
BLOCK = 1 << 15


class StreamedStep(NamedTuple):
    """One step from zero on many hidden pairs that share one draw of positions.

    pairs: the hidden positions (pairs, 2). ranked: the pair has the two largest scores (pairs,).
    error: largest |ŷ - y| over all 2^n inputs (gains, pairs). outside: weight off the pair.
    imbalance: |g_i - g_j|.
    """

    pairs: np.ndarray
    ranked: np.ndarray
    error: np.ndarray
    outside: np.ndarray
    imbalance: np.ndarray


def streamed_step(
    n: int, width: int, gains, *, pairs: int = 50, balanced: bool = False, seed: int = 0
) -> StreamedStep:
    """Softmax, readout 1 - 2z², exact gradient, start at zero, random sign positions.

    The step gives scores β·<p_i + p_j - 2p̄, p_l> for each gain β. Only the packed signs of the
    positions (n·width bits) stay in memory.

    >>> bool(streamed_step(4096, 96, [24.0], pairs=5).ranked.all())
    True
    """
    if n < 3 or width < 1 or pairs < 1:
        raise ValueError(f"need n ≥ 3, width ≥ 1 and pairs ≥ 1, got {n}, {width}, {pairs}")
    generator = np.random.default_rng([seed, n, width])
    packed = _draw(generator, n, width, balanced)
    chosen = np.stack([generator.choice(n, 2, replace=False) for _ in range(pairs)])
    gains = np.asarray(gains, dtype=np.float64)
    total = sum(_signs(packed, width, at).sum(axis=0, dtype=np.float64) for at in _blocks(n))
    rows = [
        np.unpackbits(packed[chosen[:, side]], axis=1, count=width) * 2.0 - 1 for side in (0, 1)
    ]
    direction = (rows[0] + rows[1] - 2 * total / n) / width
    on_pair = np.stack([(row * direction).sum(axis=1) for row in rows])
    top, low = on_pair.max(axis=0), on_pair.min(axis=0)
    sums, best = np.zeros((gains.size, pairs)), np.full(pairs, -np.inf)
    factors = direction.T.astype(np.float32)
    for at in _blocks(n):
        scores = _signs(packed, width, at) @ factors
        inside = (chosen >= at) & (chosen < at + len(scores))
        scores[(chosen[inside] - at), np.nonzero(inside)[0]] = -np.inf
        best = np.maximum(best, scores.max(axis=0))
        for index, gain in enumerate(gains):
            terms = np.exp(np.float32(gain) * (scores - top.astype(np.float32)))
            sums[index] += terms.sum(axis=0, dtype=np.float64)
    return _judge(chosen, gains[:, None], top, low, best, sums)


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
            if not (step.ranked if goal == "rank" else step.error**2 / 2 <= 0.01).all():
                break
        else:
            return int(width)
        width *= 2**0.25
    raise ValueError(f"no width below 4096 serves n={n}")


def _judge(pairs, gains, top, low, best, sums) -> StreamedStep:
    second = np.exp(gains * (low - top))
    mass = 1 + second + sums
    with float64():
        worst = worst_of(
            jnp.asarray((1 + second) / mass),
            jnp.asarray((1 - second) / mass),
            jnp.asarray(sums / mass),
            Bowl(),
        )
        return StreamedStep(pairs, low > best, *(np.asarray(part) for part in worst))


def _draw(generator, n: int, width: int, balanced: bool) -> np.ndarray:
    if not balanced:
        return generator.integers(0, 256, (n, -(-width // 8)), dtype=np.uint8)
    if n % 2:
        raise ValueError(f"balanced positions need an even n, got {n}")
    packed = np.zeros((n, -(-width // 8)), dtype=np.uint8)
    half = np.arange(n) < n // 2
    for column in range(width):
        packed[:, column // 8] |= generator.permutation(half).astype(np.uint8) << (7 - column % 8)
    return packed


def _blocks(n: int) -> range:
    return range(0, n, BLOCK)


def _signs(packed: np.ndarray, width: int, at: int) -> np.ndarray:
    bits = np.unpackbits(packed[at : at + BLOCK], axis=1, count=width)
    return bits.astype(np.float32) * 2 - 1
