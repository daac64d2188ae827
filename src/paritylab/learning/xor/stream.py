"""One exact XOR step at any n: positions kept as packed bits, scores streamed block by block.

`Heads.pair()` gives every run positions of its own and fits up to n = 10^5; here all hidden pairs
share one draw, which takes n·width bits, and n = 10^6 takes seconds.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from paritylab._support.checks import shortened, whole
from paritylab._support.precision import float64
from paritylab.learning.xor.exact import worst_of
from paritylab.models.positions import PackedSigns

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
    size = n * -(-width // 8)
    if size > MOST_BYTES:
        raise ValueError(
            f"{n:,} packed positions of width {width} take {size:,} bytes, more than "
            f"{MOST_BYTES:,}; give a smaller n or width"
        )
    generator = np.random.default_rng([seed, n, width])
    code = PackedSigns.draw(generator, n, width, balanced=balanced)
    chosen = np.stack([generator.choice(n, 2, replace=False) for _ in range(pairs)])
    return step_on(code, chosen, gains)


def step_on(
    code: PackedSigns, pairs: Int[np.ndarray, "pairs 2"], gains: Float[np.ndarray, " gains"]
) -> StreamedStep:
    """The step on given positions and pairs, in one pass over all positions.

    Scores off the pair are float32, for speed; Σ exp is taken over them in float64. Terms are
    relative to the larger score of the pair, so none of those that matter overflows.
    """
    mean = code.totals() / (code.n * np.sqrt(code.width))
    ends = [code.vectors(pairs[:, side]) for side in (0, 1)]
    directions = sum(ends) - 2 * mean  # p_i + p_j - 2p̄: where the step goes at gain 1
    on_pair = np.stack([(end * directions).sum(axis=1) for end in ends])
    top, betas = on_pair.max(axis=0).astype(np.float32), gains.astype(np.float32)
    factors = (directions / np.sqrt(code.width)).astype(np.float32)
    rest, rival = np.zeros((len(gains), len(pairs))), np.full(len(pairs), -np.inf)
    for at, signs in code.sign_blocks(ROWS):
        scores = factors @ signs.T
        inside = (pairs >= at) & (pairs < at + len(signs))
        scores[np.nonzero(inside)[0], pairs[inside] - at] = -np.inf
        rival = np.maximum(rival, scores.max(axis=1))
        scores -= top[:, None]
        for index, beta in enumerate(betas):
            rest[index] += np.exp(beta * scores).sum(axis=1, dtype=np.float64)
    # A float32 sum of width terms ±f is off by at most (width + 4)·u·Σ|f|, u the unit roundoff.
    unit = (code.width + 4) * np.finfo(np.float32).eps / 2
    rounding = unit * np.abs(factors).sum(axis=1, dtype=np.float64)
    # Softmax: the larger score of the pair has the term 1, the smaller one e^(-β·gap).
    smaller = np.exp(-gains[:, None] * np.abs(on_pair[0] - on_pair[1]))
    shares = np.stack([1 + smaller, 1 - smaller, rest]) / (1 + smaller + rest)
    with float64():
        pair_sum, apart, off = map(jnp.asarray, shares)
        error, outside, imbalance = map(np.asarray, worst_of(pair_sum, apart, off))
    return StreamedStep(pairs, on_pair.min(axis=0) > rival + rounding, error, outside, imbalance)
