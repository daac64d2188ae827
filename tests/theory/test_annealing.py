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


def log_likelihood(angles, bits, tau):
    """Σ_b log Σ_i K(θ_i - b): log c for small weights, up to a constant."""
    scores = -2 * np.sin((np.asarray(bits)[:, None] - np.asarray(angles)) / 2) ** 2 / tau
    return float(np.sum(np.logaddexp.reduce(scores, axis=1)))


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


def shared_run(bits):
    """What is left of c if r neighbouring bits share r - 1 heads evenly."""
    return math.cos(math.pi / (2 * bits)) ** bits


#: Ends of failed runs, which no small step improves: n, B, places of the heads, |c|, and how many
#: heads must be relocated at once for |c| to rise. A spare head that halves itself between two
#: empty positions costs a half. The hidden pair sits on one empty position: g = 2 and |cos π| = 1
#: there, and c = 0 as soon as one of the two has gone.
TRAPS = {
    "split spare": (12, (2, 3), (2.5, 8.5), shared_run(2) / 2, 1),
    "hidden pair": (
        *(14, (1, 2, 6, 7, 8), (1.5, 6 + 1 / 3, 7 + 2 / 3, 11.0, 11.0)),
        *(shared_run(2) * shared_run(3), 2),
    ),
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
    assert sharp_correlations(weights, subset)[0] == pytest.approx(correlation)
    risks = population_risks(weights, [Parity(n, subset)], readout=Cosine(), loss="correlation")
    assert abs(risks[0][0]) == pytest.approx(correlation, abs=1e-12)
    for together in (1, 2):
        freed = after_best_move(places, subset, n, together) > correlation + 1e-9
        assert freed == (together >= moves)


def _settled(bits, k, tau, rng, grid):
    """Heads after the best single relocation to a grid, again and again until none improves."""
    angles = rng.uniform(0, 2 * np.pi, k)
    value = log_likelihood(angles, bits, tau)
    while True:
        best = (value + 1e-9, None)
        for head in range(k):
            others = np.delete(angles, head)
            scores = -2 * np.sin((bits[:, None] - others) / 2) ** 2 / tau
            kept = np.logaddexp.reduce(scores, axis=1)
            arriving = -2 * np.sin((bits - grid[:, None]) / 2) ** 2 / tau
            values = np.logaddexp(kept, arriving).sum(axis=1)
            top = int(np.argmax(values))
            if values[top] > best[0]:
                best = (values[top], (head, grid[top]))
        if best[1] is None:
            return angles
        value, (head, place) = best
        angles[head] = place


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
        angles = _settled(bits, k, tau, rng, grid)
        near = np.abs(np.sin((bits[:, None] - angles) / 2)) < np.sin(gap / 4)
        assert (near.sum(axis=0) == 1).all()
        assert (near.sum(axis=1) == 1).all()


def test_a_trap_of_small_steps_is_none_of_single_moves():
    """Two heads on one bit, one between two: stationary, but a relocation doubles more than it
    costs."""
    bits = 2 * np.pi / 60 * np.array([0, 20, 24])
    tau = freeing_temperature(bits[2] - bits[1], 3)
    middle = (bits[1] + bits[2]) / 2
    trapped = log_likelihood(np.array([0.0, 0.0, middle]), bits, tau)
    step = np.sqrt(tau) * 0.05
    nearby = [
        log_likelihood(np.array([0.0, 0.0, middle]) + step * np.eye(3)[head] * sign, bits, tau)
        for head in range(2)
        for sign in (-1, 1)
    ]
    assert max(nearby) < trapped
    assert log_likelihood(np.array([0.0, bits[1], middle]), bits, tau) > trapped + 0.5
