"""XOR runs that share one draw of positions, kept as packed bits: one exact step at any n."""

from typing import Any, NamedTuple

import numpy as np

from paritylab.learning.runs import Trained
from paritylab.learning.xor.exact import SOLVED_ERROR, squared_risk
from paritylab.learning.xor.stream import StepSums, first_directions, step_sums
from paritylab.models.packed import PackedSigns

#: Hidden pairs per pass over the positions; a block of their scores takes about 64 MB.
PAIRS = 512
#: Bytes of packed positions above which a call is refused.
MOST_BYTES = 2 << 30


class SharedStep(NamedTuple):
    """The settings of a streamed step; seed: of the positions, so that any run can redraw them."""

    width: int
    gain: float
    balanced: bool
    loss: str
    seed: int


def packed_positions(step: SharedStep, n: int) -> PackedSigns:
    """The positions of all runs, a function of the settings and n alone."""
    size = n * -(-step.width // 8)
    if size > MOST_BYTES:
        raise ValueError(
            f"{n:,} packed positions of width {step.width} take {size:,} bytes, more than "
            f"{MOST_BYTES:,}; give a smaller n or width"
        )
    generator = np.random.default_rng([step.seed, n, step.width])
    return PackedSigns.draw(generator, n, step.width, balanced=step.balanced)


def train_shared(step: SharedStep, data: Any, trace: int | None) -> Trained:
    """The first exact step of every run: scores gain·(1-2ν)·<p_i + p_j - 2p̄, p_l>."""
    code = packed_positions(step, data.n)
    pairs = np.array([target.subset for target in data.targets])
    noise = np.array([target.noise for target in data.targets])
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
        trace=None if trace is None else _start(step, data.n, noise, numbers),
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
    risk = -agreement if step.loss == "correlation" else squared_risk(1 / n, 1 / n**3, agreement)
    return {
        "step": np.zeros(1, int),
        "risk": risk[:, None],
        "directions": np.zeros_like(numbers)[:, None],
    }
