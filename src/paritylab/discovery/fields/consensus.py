"""XOR matrices behind wrong rows: few rows propose a map, all rows vote on it.

A draw of r + 10 rows (r: the rank of the inputs) is free of errors with chance (1-ν)^(r+10) at
noise ν; its solution is then the map. What draws do not settle goes to the solvers of sparse
parities, bit by bit.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paritylab.solvers.gf2 import affine_solutions, echelon
from paritylab.solvers.labelled_rows import packed

#: Rows beyond the rank that every draw must also fit.
CHECKS = 10
#: Chance that a field without a relation to the inputs gets a map.
ALPHA = 0.01
#: Draws after which sparse solvers take over.
MOST_DRAWS = 20_000

Tell = Callable[[str], None]


class Plan(NamedTuple):
    """What a search under noise takes. draws: that 99 % of searches need. seconds: about."""

    noise: float
    draws: float
    seconds: float


@dataclass(frozen=True)
class NoisyFit:
    """Maps that most rows fit.

    solutions: (w, n + 1), the constant last. found: flags, (w,). fitting: rows that fit each bit.
    draws: that were looked at.
    """

    solutions: np.ndarray
    found: np.ndarray
    fitting: np.ndarray
    draws: int


def plan(rank: int, noise: float, seconds_per_draw: float) -> Plan:
    """Draws and seconds until a clean draw is met with chance 99 %.

    >>> round(plan(40, 0.02, 0.001).draws)
    10
    """
    clean = (1 - noise) ** (rank + CHECKS)
    draws = math.log(0.01) / math.log1p(-clean) if clean > 1e-12 else math.inf
    return Plan(noise, draws, draws * seconds_per_draw)


def consensus(
    inputs: np.ndarray,
    target: np.ndarray,
    wanted: np.ndarray,
    budget: float,
    tell: Tell = lambda text: None,
) -> NoisyFit:
    """Maps for the wanted target bits that most rows fit. wanted: flags, (w,)."""
    n, w = inputs.shape[1], target.shape[1]
    end = time.perf_counter() + budget
    blank, all_rows = np.zeros((w, n + 1), np.uint8), np.full(w, len(inputs))
    state = _State(inputs, target, packed(inputs), blank, ~wanted, all_rows)
    used = echelon(packed(_with_one(inputs)), n + 1).pivots
    columns, size = used[used < n], min(len(inputs), len(used) + CHECKS)
    draw, began, draws = np.random.default_rng(0), time.perf_counter(), 0
    if size == len(used) + CHECKS:
        while not state.found.all() and draws < MOST_DRAWS:
            if time.perf_counter() > began + budget / 2:
                break
            rows = draw.choice(len(inputs), size, replace=False)
            draws += 1
            _propose(state, rows, columns, draws)
            if draws == 10:
                per = (time.perf_counter() - began) / draws
                guess = plan(len(used), 0.05, per)
                tell(
                    f"{draws} draws took {per * draws:.2g} s; with 5 % of wrong rows a search of "
                    f"rank {len(used)} takes about {guess.draws:,.0f} draws, {guess.seconds:.2g} s"
                )
    _sparse(state, end)
    return NoisyFit(state.solutions, state.found & wanted, state.fitting, draws)


@dataclass
class _State:
    """What is known so far of every target bit. words: the inputs, packed."""

    inputs: np.ndarray
    target: np.ndarray
    words: np.ndarray
    solutions: np.ndarray
    found: np.ndarray
    fitting: np.ndarray


def _with_one(bits: np.ndarray) -> np.ndarray:
    return np.concatenate([bits, np.ones((len(bits), 1), np.uint8)], axis=1)


def _propose(state: _State, rows: np.ndarray, columns: np.ndarray, draws: int) -> None:
    """Solve a draw for all bits that are still open; keep what the other rows confirm."""
    left, n = np.flatnonzero(~state.found), state.inputs.shape[1]
    bits = _with_one(state.inputs[np.ix_(rows, columns)])
    part = affine_solutions(bits, state.target[np.ix_(rows, left)])
    others = np.ones(len(state.inputs), bool)
    others[rows] = False  # rows that were solved fit by construction and say nothing
    for at in np.flatnonzero(part.consistent):
        bit = int(left[at])
        solution = np.zeros(n + 1, np.uint8)
        solution[np.append(columns, n)] = part.solutions[at]
        words = state.words & packed(solution[None, :-1])
        odd = np.bitwise_count(np.bitwise_xor.reduce(words, axis=1)) & 1
        wrong = odd ^ state.target[:, bit] ^ solution[-1]
        if _beyond_luck(wrong[others], state.target[others, bit], draws * len(state.found)):
            state.solutions[bit], state.found[bit] = solution, True
            state.fitting[bit] = len(wrong) - int(wrong.sum())


def _beyond_luck(wrong: np.ndarray, side: np.ndarray, tries: int) -> bool:
    """Whether luck does not explain a map's fit: Hoeffding, against the best constant."""
    ones = side.mean()
    gain = 1 - wrong.mean() - max(ones, 1 - ones)
    return bool(gain > 0 and tries * math.exp(-2 * gain * gain * len(wrong)) < ALPHA)


def _sparse(state: _State, end: float) -> None:
    """Sparse parities for the bits that are still open, by the solvers for one label."""
    from paritylab.solvers.outcome import Conclusion
    from paritylab.solvers.solving import solve

    inputs, target = state.inputs, state.target
    left = [int(bit) for bit in np.flatnonzero(~state.found)]
    for at, bit in enumerate(left):
        room = (end - time.perf_counter()) / (len(left) - at)
        side = target[:, bit]
        if room < 0.05 or side.min() == side.max():
            continue
        answer = solve(
            inputs, 1 - 2 * side.astype(np.int8), alpha=ALPHA / len(state.found), budget=room
        )
        if answer.subset is None or answer.conclusion != Conclusion.EXPLAINS:
            continue
        solution = np.zeros(inputs.shape[1] + 1, np.uint8)
        solution[list(answer.subset)] = 1
        solution[-1] = answer.sign < 0
        state.solutions[bit], state.found[bit] = solution, True
        state.fitting[bit] = answer.best.fitting
