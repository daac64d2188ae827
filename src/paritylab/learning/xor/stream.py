"""One exact XOR step at any n: positions kept as packed bits, scores streamed block by block."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from paritylab.learning.xor.exact import SOLVED_ERROR, risk_rounding, squared_risk, worst_of
from paritylab.models.packed import BLOCK, PackedSigns
from paritylab.models.readouts import Bowl
from paritylab.precision import float64


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
    n: int, width: int, gains: Any, *, pairs: int = 50, balanced: bool = False, seed: int = 0
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
    code = PackedSigns.draw(generator, n, width, balanced=balanced)
    chosen = np.stack([generator.choice(n, 2, replace=False) for _ in range(pairs)])
    gains = np.broadcast_to(np.asarray(gains, dtype=np.float64)[:, None], (len(gains), pairs))
    sums = step_sums(code, chosen, first_directions(code, chosen), gains)
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
    total = sum(signs.sum(axis=0, dtype=np.float64) for _, signs in code.sign_blocks())
    mean = total / (code.n * np.sqrt(code.width))
    return code.vectors(pairs[:, 0]) + code.vectors(pairs[:, 1]) - 2 * mean


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
        return self.on_pair.min(axis=0) > self.rivals[0] + self.rounding

    def best(self) -> list[tuple[int, ...] | None]:
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
        error = slack * (outside + np.abs(mean) * self.first / mass)
        # Squares and fourth powers of a block add up in float32.
        error += min(self.n, BLOCK) * np.finfo(np.float32).eps * outside
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
    factors = (directions.T / np.sqrt(code.width)).astype(np.float32)
    sums = np.zeros((3, *gains.shape))
    rivals = np.full((2, len(pairs)), -np.inf)
    places = np.full((2, len(pairs)), -1)
    work = np.empty((min(BLOCK, code.n), len(pairs)), np.float32)
    for at, signs in code.sign_blocks():
        scores = signs @ factors
        inside = (pairs >= at) & (pairs < at + len(scores))
        scores[(pairs[inside] - at), np.nonzero(inside)[0]] = -np.inf
        _keep_largest(scores, at, rivals, places)
        scores -= top
        for index, gain in enumerate(gains.astype(np.float32)):
            terms = np.multiply(scores, gain, out=work[: len(scores)])
            np.exp(terms, out=terms)
            sums[0, index] += terms.sum(axis=0, dtype=np.float64)
            sums[1, index] += np.einsum("lp,lp->p", terms, terms)
            terms *= terms
            sums[2, index] += np.einsum("lp,lp->p", terms, terms)
    unit = (code.width + 4) * np.finfo(np.float32).eps / 2
    rounding = unit * np.abs(factors).sum(axis=0, dtype=np.float64)
    first, second, fourth = sums
    return StepSums(code.n, pairs, gains, on_pair, rivals, places, first, second, fourth, rounding)


def _keep_largest(scores: np.ndarray, at: int, best: np.ndarray, places: np.ndarray) -> None:
    """Update the two largest scores of every column (2, pairs) and their positions in place."""
    seen = 0
    if at == 0:
        # The first rows set a bar that few later scores clear.
        seen = min(1024, len(scores))
        order = np.argpartition(-scores[:seen], 2, axis=0)[:2]
        values = np.take_along_axis(scores, order, axis=0)
        swapped = np.argsort(-values, axis=0, kind="stable")
        best[:] = np.take_along_axis(values, swapped, axis=0)
        places[:] = np.take_along_axis(order, swapped, axis=0)
    later = scores[seen:]
    for index in np.flatnonzero(later > best[1].astype(np.float32)):
        row, column = divmod(int(index), scores.shape[1])
        score, place = later[row, column], at + seen + row
        if score > best[0, column]:
            best[1, column], places[1, column] = best[0, column], places[0, column]
            best[0, column], places[0, column] = score, place
        elif score > best[1, column]:
            best[1, column], places[1, column] = score, place
