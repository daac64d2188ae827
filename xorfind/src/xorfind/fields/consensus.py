"""Maps for a field some of whose rows are wrong: each bit by the solvers for one label."""

import time
from dataclasses import dataclass

import numpy as np

from xorfind.answer import Conclusion
from xorfind.solvers.solving import solve

#: Chance that a field without a relation to the inputs gets a map.
ALPHA = 0.01
#: Seconds below which a search is not begun.
SHORTEST = 0.05


@dataclass
class NoisyFit:
    """Maps that most rows fit. solutions: (w, n + 1), the constant last. found: flags, (w,).
    fitting: rows that fit each bit."""

    solutions: np.ndarray
    found: np.ndarray
    fitting: np.ndarray


def consensus(
    inputs: np.ndarray, target: np.ndarray, wanted: np.ndarray, budget: float
) -> NoisyFit:
    """Maps for the wanted target bits that most rows fit, within a budget of seconds.

    inputs: (N, n). target: (N, w). wanted: flags, (w,).
    """
    rows, n = inputs.shape
    fit = NoisyFit(
        np.zeros((len(wanted), n + 1), np.uint8),
        np.zeros(len(wanted), bool),
        np.full(len(wanted), rows),
    )
    start = time.perf_counter()
    # Random rows see little noise and any map at once; what they leave open may be sparse.
    for method, end in (("elimination", start + budget / 2), ("auto", start + budget)):
        bits = np.flatnonzero(wanted & ~fit.found).tolist()
        for at, bit in enumerate(bits):
            room, side = (end - time.perf_counter()) / (len(bits) - at), target[:, bit]
            if room < SHORTEST or side.min() == side.max():
                continue
            alpha = ALPHA / 2 / len(wanted)
            answer = solve(inputs, side, alpha=alpha, budget=room, method=method)
            if answer.subset is not None and answer.conclusion is Conclusion.EXPLAINS:
                fit.solutions[bit, [*answer.subset]] = 1
                fit.solutions[bit, -1] = answer.sign < 0
                fit.found[bit], fit.fitting[bit] = True, answer.best.fitting
    return fit
