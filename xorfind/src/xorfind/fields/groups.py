"""Functions that rows of one group share, without labels: bank and slice functions.

Two addresses in one bank differ by d with f(d) = 0 for every bank function f. So the functions are
the null space of the differences within groups. Where some differences are wrong, draws of
differences propose functions and all vote; a function counts if differences within groups fit it
far more often than differences across groups do.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from xorfind.fields.matrix import XorMatrix
from xorfind.gf2 import affine_solutions, products, reduced

#: Dimensions of a null space of which every function is looked at.
EVERY = 10
#: Chance that a function is named where there is none.
ALPHA = 0.01
#: Differences that vote.
MOST_VOTES = 20_000
#: Differences of a first look at many functions, and draws without news that end a search.
FIRST_LOOK, QUIET = 256, 40


@dataclass(frozen=True)
class Functions:
    """What groups share.

    basis: of the functions, the lightest first, (r, n). fits: share of the differences within
    groups that each fits. across: the same for differences across groups. joint: share of the
    differences within groups that fit all. unproven: functions that all differences fit but that
    luck explains, (d, n). never: flags of bits that never differ anywhere. differences: within
    groups, how many.
    """

    names: tuple[str, ...]
    basis: np.ndarray
    fits: np.ndarray
    across: np.ndarray
    joint: float
    unproven: np.ndarray
    never: np.ndarray
    differences: int

    @property
    def matrix(self) -> XorMatrix:
        """The functions as an XOR matrix, outputs f0, f1, …"""
        outputs = tuple(f"f{at}" for at in range(len(self.basis)))
        return XorMatrix(outputs, self.names, self.basis, np.zeros(len(self.basis), np.uint8))

    def next_bit(self) -> str | None:
        """The bit in which a pair of one group should differ next: it halves what is unproven."""
        if not len(self.unproven):
            return None
        half = np.abs(self.unproven.mean(axis=0) - 0.5)
        used = self.unproven.any(axis=0)
        return self.names[int(np.where(used, half, 2.0).argmin())]

    def share_within(self, within: np.ndarray, across: np.ndarray) -> float:
        """Of the differences on which all functions vanish, the share that lies within groups.

        Near 1 if the functions say all there is to say about the groups.
        """
        agree = [int((~products(r, self.basis).any(axis=1)).sum()) for r in (within, across)]
        return agree[0] / max(sum(agree), 1)


def set_differences(bits: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Differences of neighbours within groups, and of random rows across groups.

    bits: (N, n). groups: a number per row, (N,).
    """
    order = np.argsort(groups, kind="stable")
    same = groups[order[1:]] == groups[order[:-1]]
    within = bits[order[1:][same]] ^ bits[order[:-1][same]]
    draw = np.random.default_rng(0)
    first, second = draw.integers(0, len(bits), (2, max(2000, 2 * len(bits))))
    other = groups[first] != groups[second]
    return within, bits[first[other]] ^ bits[second[other]]


def shared_functions(
    names: tuple[str, ...], within: np.ndarray, across: np.ndarray, budget: float = 10.0
) -> Functions:
    """The functions that differences within groups fit and differences across groups do not.

    names: of the bits. within: (M, n). across: (K, n). budget: seconds for draws of differences.
    """
    differences, within = len(within), within[within.any(axis=1)]
    if len(within) < 2 or not len(across):
        raise ValueError(
            "functions need at least 2 pairs within groups that differ and 1 across, got "
            f"{len(within)} and {len(across)}"
        )
    never: np.ndarray = np.logical_not(within.any(axis=0) | across.any(axis=0))
    kept, draw = np.flatnonzero(~never), np.random.default_rng(0)
    votes, others = _some(within[:, kept], draw), _some(across[:, kept], draw)
    votes = draw.permutation(votes)
    clean = _annihilator(votes)
    # One wrong difference leaves half of the functions: draws look for the others.
    found = reduced(_accepted(_span(clean[:EVERY]), votes, others))
    found = _drawn(found, votes, others, draw, time.perf_counter() + budget)
    basis = lightest_basis(found)
    odd, unproven = products(votes, basis), _independent(clean, basis)

    def widened(rows: np.ndarray) -> np.ndarray:
        made = np.zeros((len(rows), len(names)), np.uint8)
        made[:, kept] = rows
        return made

    return Functions(
        names,
        widened(basis),
        1 - odd.mean(axis=0),
        1 - products(others, basis).mean(axis=0),
        1 - float(odd.any(axis=1).mean()),
        widened(unproven),
        never,
        differences,
    )


def _some(rows: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    if len(rows) <= MOST_VOTES:
        return rows
    return rows[draw.choice(len(rows), MOST_VOTES, replace=False)]


def _annihilator(differences: np.ndarray) -> np.ndarray:
    """Basis of the functions that vanish on all differences."""
    some = reduced(differences)
    return affine_solutions(some, np.zeros((len(some), 1), np.uint8)).basis


def _span(basis: np.ndarray) -> np.ndarray:
    """Every sum of basis rows but the empty one."""
    made = np.zeros((1, basis.shape[1]), np.uint8)
    for each in basis:
        made = np.concatenate([made, made ^ each])
    return made[1:]


def _accepted(functions: np.ndarray, within: np.ndarray, across: np.ndarray) -> np.ndarray:
    """The functions that fit within groups more often than luck and the rows' habits explain.

    Chernoff's bound, corrected for all 2^n functions that could have been named.
    """
    if len(functions) and len(within) > 2 * FIRST_LOOK:
        share = 1 - products(within[:FIRST_LOOK], functions).mean(axis=0)
        functions = functions[share > 0.5 + 1 / math.sqrt(FIRST_LOOK)]
    if not len(functions):
        return functions
    fits = 1 - products(within, functions).mean(axis=0)
    usual = 1 - (products(across, functions).sum(axis=0, dtype=np.int64) + 1) / (len(across) + 2)
    usual = np.clip(usual, 0.5, 1 - 1e-9)
    gain = rel_entr(fits, usual) + rel_entr(1 - fits, 1 - usual)
    enough = len(within) * gain > within.shape[1] * math.log(2) - math.log(ALPHA)
    passed = (fits > usual) & enough & (1 - fits < (1 - usual) / 1.5)
    return np.asarray(functions[passed])


def _drawn(
    found: np.ndarray,
    within: np.ndarray,
    across: np.ndarray,
    draw: np.random.Generator,
    end: float,
) -> np.ndarray:
    """Functions that draws of differences propose and all differences confirm."""
    size, quiet = max(within.shape[1] - EVERY, 1), 0
    while time.perf_counter() < end and quiet < QUIET:
        rows = within[draw.choice(len(within), min(size, len(within)), replace=False)]
        null = _annihilator(rows)
        if len(null) > EVERY:  # the draw was not independent: look at a random part of it
            mix = draw.integers(0, 2, (EVERY, len(null))).astype(np.uint8)
            null = reduced((mix @ null) & 1)
        more = _accepted(_span(null), within, across)
        grown = reduced(np.concatenate([found, more]))
        quiet = quiet + 1 if len(found) and len(grown) == len(found) else 0
        found = grown
    return _consistent(found, within, across)


def _consistent(found: np.ndarray, within: np.ndarray, across: np.ndarray) -> np.ndarray:
    """A largest space of which every function fits, the best ones first.

    A function plus a bit that hardly ever differs fits nearly as well as the function; that bit
    by itself does not, so only one of the two may enter.
    """
    if not len(found) or len(found) > EVERY:
        return found
    fitting = _accepted(_span(found), within, across)
    known = {each.tobytes() for each in fitting}
    order = np.argsort(products(within, fitting).mean(axis=0), kind="stable")
    chosen = np.zeros((1, found.shape[1]), np.uint8)  # the span so far, zero included
    basis: list[np.ndarray] = []
    for each in fitting[order]:
        new = chosen ^ each
        if all(row.tobytes() in known for row in new):
            chosen = np.concatenate([chosen, new])
            basis.append(each)
    return np.array(basis, np.uint8).reshape(len(basis), found.shape[1])


def lightest_basis(functions: np.ndarray) -> np.ndarray:
    """A basis of the span that takes the fewest bits: the lightest function first, ties by the
    lowest bit.

    >>> lightest_basis(np.array([[1, 1, 1], [0, 1, 1]], np.uint8)).tolist()
    [[1, 0, 0], [0, 1, 1]]
    """
    base = reduced(functions)
    if not len(base) or len(base) > EVERY + 4:
        return base
    every = _span(base)
    order = np.lexsort((*every[:, ::-1].T[::-1], every.sum(axis=1)))
    return _independent(every[order], base[:0], most=len(base))


def _independent(functions: np.ndarray, known: np.ndarray, most: int | None = None) -> np.ndarray:
    """The functions that neither the known ones nor those before them reach; `most`, then stop."""
    chosen: list[np.ndarray] = []
    space = known
    for each in functions:
        if len(chosen) == most:
            break
        grown = reduced(np.concatenate([space, each[None]]))
        if len(grown) > len(space):
            chosen.append(each)
            space = grown
    return np.array(chosen, np.uint8).reshape(len(chosen), functions.shape[1])
