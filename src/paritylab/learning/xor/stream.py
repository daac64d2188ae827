"""One exact XOR step at any n: positions kept as packed bits, scores streamed block by block.

`streamed_step` draws hidden pairs of its own, `train_shared` takes those of the runs of `XorStep`;
both go through `step_sums`.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int
from threadpoolctl import ThreadpoolController

from paritylab.checks import told, whole
from paritylab.learning.contract import Subset, Trained
from paritylab.learning.xor.exact import SOLVED_ERROR, risk_rounding, squared_risk, worst_of
from paritylab.models.packed import PackedSigns
from paritylab.models.readouts import Bowl
from paritylab.precision import float64
from paritylab.problem import Parity

#: Positions scored at a time, as many as a cache holds, and of them side by side in one line; about
#: so many positions make a segment.
ROWS, LANES, SEGMENT = 4096, 32, 1 << 17
#: Hidden pairs per pass over the positions; a block of their scores takes about 64 MB.
PAIRS = 512
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
        raise ValueError(f"gains must be a list of finite numbers, got {told(gains)}")
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

    n: number of positions. gains: β (gains, pairs). on_pair: scores of i and j at gain 1 (2,
    pairs), in float64. rivals: the two largest scores off the pair; rival_positions: where. first,
    second, fourth: Σ_l, off the pair, of exp(β(score_l - top)) to the power 1, 2 and 4. rounding:
    how far scores off the pair, in float32, may be off (pairs,).
    """

    n: int
    pairs: np.ndarray
    gains: np.ndarray
    on_pair: np.ndarray
    rivals: np.ndarray
    rival_positions: np.ndarray
    first: np.ndarray
    second: np.ndarray
    fourth: np.ndarray
    rounding: np.ndarray

    @property
    def ranked(self) -> np.ndarray:
        """Whether both scores of the pair are above all others."""
        return np.asarray(self.on_pair.min(axis=0) > self.rivals[0] + self.rounding)

    def best(self) -> list[Subset]:
        """The two positions with the largest scores, None where a third has the same."""
        scores = np.concatenate([self.on_pair, self.rivals])
        positions = np.concatenate([self.pairs.T, self.rival_positions])
        order = np.argsort(-scores, axis=0, kind="stable")
        scores, positions = (np.take_along_axis(of, order, axis=0) for of in (scores, positions))
        pairs = zip(positions[:2].T.tolist(), scores[1] > scores[2] + self.rounding, strict=True)
        return [tuple(sorted(pair)) if clear else None for pair, clear in pairs]

    def worst(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Largest |ŷ - y|, weight outside the pair and |g_i - g_j|, (gains, pairs) each."""
        one, other, mass = self._pair_terms()
        with float64():
            found = worst_of(
                jnp.asarray((one + other) / mass),
                jnp.asarray((one - other) / mass),
                jnp.asarray(self.first / mass),
                Bowl(),
            )
            error, outside, imbalance = (np.asarray(part) for part in found)
        return error, outside, imbalance

    def risk(self, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """½E(ŷ-y)² and how far it may be off; noise: ν of every pair."""
        one, other, mass = self._pair_terms()
        second = (one**2 + other**2 + self.second) / mass**2
        fourth = (one**4 + other**4 + self.fourth) / mass**4
        agreement = 4 * one * other / mass**2 * (1 - 2 * noise)
        # Σ_l g_l·|∂risk/∂g_l - mean| over the outside terms, each off by a share of `slack`.
        mean = -4 * second + 24 * second**2 - 16 * fourth - 2 * agreement
        outside = np.abs(24 * second - 4) * self.second / mass**2 + 16 * self.fourth / mass**4
        slack = 2 * np.expm1(self.gains * self.rounding)
        outside += np.abs(mean) * self.first / mass
        # The terms of a lane add up in float32, and so they are squared.
        error = (slack + (ROWS // LANES + 4) * np.finfo(np.float32).eps) * outside
        error += risk_rounding(self.n, second)
        return squared_risk(second, fourth, agreement), error

    def _pair_terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        gap = np.abs(self.on_pair[0] - self.on_pair[1])
        other = np.exp(-self.gains * gap)
        return np.ones_like(other), other, 1 + other + self.first


def step_sums(
    code: PackedSigns, pairs: np.ndarray, directions: np.ndarray, gains: np.ndarray
) -> StepSums:
    """One pass over all positions. directions: w at gain 1, (pairs, width)."""
    sides = (code.vectors(pairs[:, side]) for side in (0, 1))
    on_pair = np.stack([(side * directions).sum(axis=1) for side in sides])
    top = on_pair.max(axis=0).astype(np.float32)
    factors = (directions / np.sqrt(code.width)).astype(np.float32)
    # An even number, so that two cores finish together.
    segments = max(1, 2 * round(code.n / (2 * SEGMENT)))
    bounds = np.linspace(0, code.n, segments + 1).astype(int).tolist()

    def segment(ends: tuple[int, int]) -> _Segment:
        part = PackedSigns(code.packed[slice(*ends)], code.width)
        found = _segment_sums(part, pairs - ends[0], factors, top, gains.astype(np.float32))
        return found._replace(places=found.places + ends[0])

    # A thread per segment: products that each wake all threads wait for a busy core every time.
    with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(segment, pairwise(bounds)))
    sums = np.sum([part.sums for part in parts], axis=0)
    rivals = np.concatenate([part.rivals for part in parts])
    order = np.argsort(-rivals, axis=0, kind="stable")[:2]
    places = np.concatenate([part.places for part in parts])
    rivals, places = (np.take_along_axis(of, order, axis=0) for of in (rivals, places))
    unit = (code.width + 4) * np.finfo(np.float32).eps / 2
    rounding = unit * np.abs(factors).sum(axis=1, dtype=np.float64)
    first, second, fourth = sums
    return StepSums(code.n, pairs, gains, on_pair, rivals, places, first, second, fourth, rounding)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


class _Segment(NamedTuple):
    """What some positions add: Σ exp to the powers 1, 2 and 4 (3, gains, pairs); the two largest
    scores and their positions (2, pairs)."""

    sums: np.ndarray
    rivals: np.ndarray
    places: np.ndarray


def _segment_sums(
    code: PackedSigns, pairs: np.ndarray, factors: np.ndarray, top: np.ndarray, gains: np.ndarray
) -> _Segment:
    found = _Segment(
        np.zeros((3, *gains.shape)),
        np.full((2, len(pairs)), -np.inf),
        np.full((2, len(pairs)), -1),
    )
    rows = -(-min(ROWS, code.n) // LANES) * LANES
    work = np.empty((2, rows, len(pairs)), np.float32)
    # As wide as LANES positions: numpy is slow where a line is as short as a few pairs.
    tops, all_gains = np.tile(top, LANES), np.tile(gains, LANES)
    turned = np.ascontiguousarray(factors.T)
    for at, signs in code.sign_blocks(ROWS):
        scores, terms = work[:, : -(-len(signs) // LANES) * LANES]
        np.matmul(signs, turned, out=scores[: len(signs)])
        scores[len(signs) :] = -np.inf
        inside = (pairs >= at) & (pairs < at + len(signs))
        scores[pairs[inside] - at, np.nonzero(inside)[0]] = -np.inf
        _keep_largest(scores, at, found.rivals, found.places)
        lines, powers = (each.reshape(-1, LANES * len(pairs)) for each in (scores, terms))
        lines -= tops
        for index, gain in enumerate(all_gains):
            np.multiply(lines, gain, out=powers)
            np.exp(powers, out=powers)
            for power in range(3):
                if power:
                    powers *= powers
                sums = powers.sum(axis=0).reshape(LANES, -1)
                found.sums[power, index] += sums.sum(axis=0, dtype=np.float64)
    return found


def _keep_largest(scores: np.ndarray, at: int, best: np.ndarray, places: np.ndarray) -> None:
    """Update the two largest scores of every pair (2, pairs) and their positions in place.

    scores: of some positions from `at` on, (positions, pairs).
    """
    largest = scores.reshape(-1, LANES * scores.shape[1]).max(axis=0).reshape(LANES, -1)
    risen = np.flatnonzero(largest.max(axis=0) > best[1])
    if not len(risen):
        return
    some, each = scores[:, risen], np.arange(len(risen))
    first = some.argmax(axis=0)
    top = some[first, each]
    some[first, each] = -np.inf
    second = some.argmax(axis=0)
    values = np.concatenate([best[:, risen], [top, some[second, each]]])
    where = np.concatenate([places[:, risen], [at + first, at + second]])
    # Stable: of equal scores the position that came first stays.
    order = np.argsort(-values, axis=0, kind="stable")[:2]
    best[:, risen] = np.take_along_axis(values, order, axis=0)
    places[:, risen] = np.take_along_axis(where, order, axis=0)


class SharedStep(NamedTuple):
    """The settings of a step shared by runs; seed: of the positions, so that any run can redraw
    them. correlation: the loss is -yŷ, else ½(ŷ-y)²."""

    width: int
    gain: float
    balanced: bool
    correlation: bool
    seed: int

    def positions(self, n: int) -> PackedSigns:
        """The positions of all runs."""
        return draw_positions(n, self.width, balanced=self.balanced, seed=self.seed)[0]


def train_shared(step: SharedStep, targets: Sequence[Parity], trace: int | None) -> Trained:
    """The first exact step of every run: scores gain·(1-2ν)·<p_i + p_j - 2p̄, p_l>."""
    n = targets[0].n
    code = step.positions(n)
    pairs = np.array([target.subset for target in targets])
    noise = np.array([target.noise for target in targets])
    gains, directions = step.gain * (1 - 2 * noise), first_directions(code, pairs)
    passes: list[StepSums] = []
    for at in range(0, len(pairs), PAIRS):
        few = slice(at, at + PAIRS)
        passes.append(step_sums(code, pairs[few], directions[few], gains[None, few]))
    worst = np.concatenate([sums.worst()[0][0] for sums in passes])
    slices = np.split(noise, np.arange(PAIRS, len(noise), PAIRS))
    judged = [sums.risk(part) for sums, part in zip(passes, slices, strict=True)]
    risk, error = (np.concatenate([each[part][0] for each in judged]) for part in (0, 1))
    subsets = [pair for sums in passes for pair in sums.best()]
    # Both heads start equal and take the same step.
    numbers = np.repeat((gains[:, None] * directions)[:, None, :], 2, axis=1)
    return Trained(
        numbers=numbers,
        subset=subsets,
        risk=risk,
        error=error,
        kind="exact",
        loss="squared",
        solved=worst <= SOLVED_ERROR,
        trace={} if trace is None else _start(step, n, noise, numbers),
        stats={
            "worst": worst,
            "split": np.zeros(len(pairs), bool),
            "numbers": np.full(len(pairs), numbers[0].size),
        },
    )


def _start(
    step: SharedStep, n: int, noise: np.ndarray, numbers: np.ndarray
) -> dict[str, np.ndarray]:
    """The trace of one step: w = 0 and the risk of equal weights."""
    agreement = 4 / n**2 * (1 - 2 * noise)
    risk = squared_risk(np.asarray(1 / n), np.asarray(1 / n**3), agreement)
    risk = -agreement if step.correlation else risk
    return {
        "step": np.zeros(1, int),
        "risk": risk[:, None],
        "directions": np.zeros_like(numbers)[:, None],
    }
