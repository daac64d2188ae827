"""XOR matrices behind wrong rows: few rows propose a map, all rows vote on it.

A draw of r + 10 rows (r: the rank of the inputs) is free of errors with chance (1-ν)^(r+10) at
noise ν; its solution is then the map. What draws do not settle goes to the solvers of sparse
parities, bit by bit.
"""

import math
import time
from dataclasses import dataclass

import numpy as np

from xorfind.fields.equations import with_one
from xorfind.gf2 import affine_solutions, echelon, products
from xorfind.rows import packed

#: Rows beyond the rank that every draw must also fit.
CHECKS = 10
#: Chance that a field without a relation to the inputs gets a map.
ALPHA = 0.01
#: Draws after which sparse solvers take over.
MOST_DRAWS = 20_000


@dataclass
class NoisyFit:
    """Maps that most rows fit. solutions: (w, n + 1), the constant last. found: flags, (w,).
    fitting: rows that fit each bit."""

    solutions: np.ndarray
    found: np.ndarray
    fitting: np.ndarray

    def keep(self, bit: int, solution: np.ndarray, fitting: int) -> None:
        """Write down the map of one bit."""
        self.solutions[bit], self.found[bit], self.fitting[bit] = solution, True, fitting


def consensus(
    inputs: np.ndarray, target: np.ndarray, wanted: np.ndarray, budget: float
) -> NoisyFit:
    """Maps for the wanted target bits that most rows fit, within a budget of seconds.

    inputs: (N, n). target: (N, w). wanted: flags, (w,).
    """
    n, w = inputs.shape[1], target.shape[1]
    start = time.perf_counter()
    fit = NoisyFit(np.zeros((w, n + 1), np.uint8), ~wanted, np.full(w, len(inputs)))
    used = echelon(packed(with_one(inputs)), n + 1).pivots
    size, draw, draws = len(used) + CHECKS, np.random.default_rng(0), 0
    while size <= len(inputs) and not fit.found.all() and draws < MOST_DRAWS:
        if time.perf_counter() > start + budget / 2:
            break
        draws += 1
        rows = draw.choice(len(inputs), size, replace=False)
        _propose(fit, inputs, target, rows, used[used < n], draws)
    _sparse(fit, inputs, target, start + budget)
    fit.found &= wanted
    return fit


def _propose(
    fit: NoisyFit,
    inputs: np.ndarray,
    target: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    draws: int,
) -> None:
    """Solve a draw for all bits that are still open; keep what the other rows confirm."""
    left, n = np.flatnonzero(~fit.found), inputs.shape[1]
    bits = with_one(inputs[np.ix_(rows, columns)])
    part = affine_solutions(bits, target[np.ix_(rows, left)])
    others = np.ones(len(inputs), bool)
    others[rows] = False  # rows that were solved fit by construction and say nothing
    for at in np.flatnonzero(part.consistent):
        bit, solution = int(left[at]), np.zeros(n + 1, np.uint8)
        solution[np.append(columns, n)] = part.solutions[at]
        wrong = products(inputs, solution[None, :-1])[:, 0] ^ target[:, bit] ^ solution[-1]
        if _beyond_luck(wrong[others], target[others, bit], draws * len(fit.found)):
            fit.keep(bit, solution, len(wrong) - int(wrong.sum()))


def _beyond_luck(wrong: np.ndarray, side: np.ndarray, tries: int) -> bool:
    """Whether luck does not explain a map's fit: Hoeffding, against the best constant."""
    ones = side.mean()
    gain = 1 - wrong.mean() - max(ones, 1 - ones)
    return bool(gain > 0 and tries * math.exp(-2 * gain * gain * len(wrong)) < ALPHA)


def _sparse(fit: NoisyFit, inputs: np.ndarray, target: np.ndarray, end: float) -> None:
    """Sparse parities for the bits that are still open, by the solvers for one label."""
    from xorfind.answer import Conclusion
    from xorfind.solvers.solving import solve

    left = [int(bit) for bit in np.flatnonzero(~fit.found)]
    for at, bit in enumerate(left):
        room = (end - time.perf_counter()) / (len(left) - at)
        side = target[:, bit]
        if room < 0.05 or side.min() == side.max():
            continue
        answer = solve(inputs, side, alpha=ALPHA / len(fit.found), budget=room)
        if answer.subset is not None and answer.conclusion == Conclusion.EXPLAINS:
            solution = np.zeros(inputs.shape[1] + 1, np.uint8)
            solution[[*answer.subset]] = 1
            solution[-1] = answer.sign < 0
            fit.keep(bit, solution, answer.best.fitting)
