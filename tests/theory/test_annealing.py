"""Traps of annealed heads: where they form, what they are worth, which moves leave them."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.learning.heads.fields import Dense, exact_loss
from paritylab.models import Cosine
from paritylab.precision import float64
from paritylab.problem import Parity
from paritylab.risk import population_risks
from paritylab.risk.objective import Target, target_of
from paritylab.theory.annealing import freeing_temperature, splitting_temperature

X64_MODES = [False]


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


@pytest.mark.parametrize("apart", [100, 400])
def test_two_heads_between_two_bits_part_at_the_splitting_temperature(apart):
    """Against the curvature of the exact -log|c| at n = 4000, where weights are small."""
    n = 4000
    problem = Parity(n, (0, apart))
    gap = 2 * np.pi * apart / n
    critical = splitting_temperature(gap)
    with float64():
        field = Dense(n, exact_loss(Target(*map(jnp.asarray, target_of(problem))), True))

        def loss(part, tau):
            return field.seen(gap / 2 + part * jnp.array([-1.0, 1.0]), tau)[0]

        curve = jax.jit(jax.grad(jax.grad(loss)))
        below, above = (float(curve(0.0, critical * factor)) for factor in (0.97, 1.03))
    assert below < 0 < above


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


def test_the_two_numbers_that_failed_runs_end_on():
    assert TRAPS["split spare"][3] == pytest.approx(0.25)
    assert TRAPS["hidden pair"][3] == pytest.approx(0.325, abs=5e-4)


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


def test_edges_of_the_formulas():
    bump = math.exp(-2 * math.sin(0.1) ** 2 / freeing_temperature(0.4, 3))
    assert 3 * 2**2 * bump == pytest.approx(1)
    for call, words in [
        (lambda: splitting_temperature(4.0), "between 0 and π"),
        (lambda: freeing_temperature(1.0, 1), "k of at least 2"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
