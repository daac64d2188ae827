"""One exact step on labels other than XOR: which positions end on top."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from paritylab.learning.xor.exact import first_gradient
from paritylab.models import Bowl
from paritylab.models.packed import PackedSigns


class StepOn(NamedTuple):
    """signal: n/4 times how much faster each relevant bit gains weight than others, (bits,).

    found: the relevant bits have the largest scores after the step, for every draw of positions.
    """

    signal: np.ndarray
    found: np.ndarray


def step_on(
    n: int,
    width: int,
    function: Callable[[np.ndarray], float],
    bits: int,
    *,
    draws: int,
    seed: int = 0,
) -> StepOn:
    """One step from zero with the readout 1 - 2z² and the correlation loss, balanced positions.

    function: a label from the first `bits` signs of n. Larger gains keep the order of the scores,
    so the step is taken at gain 1.

    >>> step_on(64, 60, lambda x: -x[0] * x[1], 2, draws=3).found.all()
    np.True_
    """
    first = first_gradient(n, function, bits, Bowl(), "correlation")
    signal = n * (first.other - first.relevant) / 4
    found = []
    for draw in range(draws):
        generator = np.random.default_rng([seed, n, width, draw])
        table = PackedSigns.draw(generator, n, width, balanced=True).vectors(np.arange(n))
        # Balanced positions sum to zero, so the part of the push common to all cancels.
        scores = table @ (signal @ table[:bits])
        found.append(scores[:bits].min() > scores[bits:].max() + 1e-9)
    return StepOn(signal, np.array(found))
