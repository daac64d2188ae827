"""Traps of annealed heads: where they form, what they are worth, which moves leave them."""

import itertools
import math

import numpy as np
import pytest

from paritylab.models import Cosine
from paritylab.problem import Parity
from paritylab.risk import population_risks

X64_MODES = [False]


def freeing_temperature(gap, k):
    """Below it k·2^(k-1)·K(d/2) < 1, d the smallest angle between two bits: the theorem's case."""
    return 2 * math.sin(gap / 4) ** 2 / math.log(k * 2 ** (k - 1))


def sharp_weights(places, n):
    """As τ → 0 a head at place j + f gives 1 - f to position j and f to its neighbour."""
    weights = np.zeros(n)
    for place in places:
        left = math.floor(place)
        weights[left % n] += 1 - (place - left)
        weights[(left + 1) % n] += place - left
    return weights


def sharp_correlations(weights, subset):
    """|c| for rows of weights."""
    on, half = np.isin(np.arange(weights.shape[1]), subset), np.pi / 2 * weights
    return np.abs(np.prod(np.where(on, np.sin(half), np.cos(half)), axis=1))


#: What is left of c if two neighbouring bits share one head evenly; and if three share two as well.
SHARED_2 = math.cos(math.pi / 4) ** 2
SHARED_5 = SHARED_2 * math.cos(math.pi / 6) ** 3
#: Ends of failed runs, which no small step improves: n, B, places of the heads, |c|, and how many
#: heads must be relocated at once for |c| to rise. A spare head that halves itself between two
#: empty positions costs a half. The hidden pair sits on one empty position: g = 2 and |cos π| = 1
#: there, and c = 0 as soon as one of the two has gone.
TRAPS = {
    "split spare": (12, (2, 3), (2.5, 8.5), SHARED_2 / 2, 1),
    "hidden pair": (14, (1, 2, 6, 7, 8), (1.5, 6 + 1 / 3, 7 + 2 / 3, 11, 11), SHARED_5, 2),
    "bare bit": (12, (2, 7), (2.0, 4.5), 0.0, 1),
    "two bare bits": (12, (2, 7), (4.5, 9.5), 0.0, 2),
}


def after_best_move(places, subset, n, together):
    """The largest |c| over all relocations of `together` heads to multiples of a half."""
    grid = np.stack([sharp_weights([place], n) for place in np.arange(2 * n) / 2])
    arrivals = itertools.combinations_with_replacement(range(2 * n), together)
    added, best = grid[np.array(list(arrivals))].sum(axis=1), 0.0
    for heads in itertools.combinations(range(len(places)), together):
        staying = [place for head, place in enumerate(places) if head not in heads]
        weights = sharp_weights(staying, n) + added
        best = max(best, float(sharp_correlations(weights, subset).max()))
    return best


@pytest.mark.parametrize("name", TRAPS)
def test_traps_have_the_stated_correlation_and_need_the_stated_moves(name):
    n, subset, places, correlation, moves = TRAPS[name]
    weights = sharp_weights(places, n)[None]
    assert sharp_correlations(weights, subset)[0] == pytest.approx(correlation, abs=1e-12)
    risks = population_risks(weights, [Parity(n, subset)], readout=Cosine(), loss="correlation")
    assert abs(risks[0][0]) == pytest.approx(correlation, abs=1e-12)
    for together in (1, 2):
        freed = after_best_move(places, subset, n, together) > correlation + 1e-9
        assert freed == (together >= moves)


def settled(bits, k, tau, rng, grid):
    """Heads after the best single relocation to a grid, again and again until none improves.

    What grows is Σ_b log Σ_i K(θ_i - b): log c for small weights, up to a constant.
    """
    angles, value = rng.uniform(0, 2 * np.pi, k), -np.inf
    arriving = -2 * np.sin((bits - grid[:, None]) / 2) ** 2 / tau
    while True:
        scores = -2 * np.sin((bits[:, None] - angles) / 2) ** 2 / tau
        staying = [np.logaddexp.reduce(np.delete(scores, i, axis=1), axis=1) for i in range(k)]
        values = np.logaddexp(np.array(staying)[:, None], arriving).sum(axis=-1)
        if values.max() <= value + 1e-9:
            return angles
        head, place = np.unravel_index(values.argmax(), values.shape)
        angles[head], value = grid[place], values.max()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_below_the_freeing_temperature_no_trap_survives_single_moves(k):
    """The theorem of docs/theorems/moves.md, attacked from random starts on random sets."""
    rng = np.random.default_rng(k)
    for _ in range(12):
        bits = np.sort(rng.choice(60, k, replace=False)) * 2 * np.pi / 60
        gaps = np.diff(np.append(bits, bits[0] + 2 * np.pi))
        gap = min(gaps.min(), np.pi)
        tau = 0.999 * freeing_temperature(gap, k)
        grid = np.concatenate([np.linspace(0, 2 * np.pi, 240, endpoint=False), bits])
        angles = settled(bits, k, tau, rng, grid)
        near = np.abs(np.sin((bits[:, None] - angles) / 2)) < np.sin(gap / 4)
        assert (near.sum(axis=0) == 1).all()
        assert (near.sum(axis=1) == 1).all()
