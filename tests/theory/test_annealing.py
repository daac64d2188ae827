"""Traps of annealed heads: where they form, what they are worth, which moves leave them."""

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
from paritylab.theory.annealing import (
    TRAPS,
    best_move,
    bump,
    correlational_rows,
    critical_width,
    freeing_temperature,
    log_likelihood,
    shared_run,
    sharp_correlation,
    sharp_weights,
    splitting_temperature,
)

X64_MODES = [False]


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


def test_heads_choose_their_bits_at_a_width_of_about_pi_over_k():
    for k in (8, 16, 64):
        assert critical_width(k) == pytest.approx(np.pi / k, rel=0.07)


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_traps_have_the_stated_correlation_and_need_the_stated_moves(trap):
    assert sharp_correlation(trap.places, trap.subset, trap.n) == pytest.approx(trap.correlation)
    weights = sharp_weights(trap.places, trap.n)[None]
    problem = Parity(trap.n, trap.subset)
    risk = population_risks(weights, [problem], readout=Cosine(), loss="correlation")[0]
    assert abs(risk[0]) == pytest.approx(trap.correlation, abs=1e-12)
    for together in (1, 2):
        move = best_move(trap.places, trap.subset, trap.n, together=together)
        freed = move.correlation > trap.correlation + 1e-9
        assert freed == (together >= trap.moves), move


def test_the_two_numbers_that_failed_runs_end_on():
    found = {trap.name: trap.correlation for trap in TRAPS}
    assert found["split spare"] == pytest.approx(0.25)
    assert found["hidden pair"] == pytest.approx(0.325, abs=5e-4)
    assert shared_run(3) == pytest.approx(np.sin(np.pi / 3) ** 3)


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
    assert bump(0.0, 0.3) == 1
    assert 3 * 2**2 * bump(0.2, freeing_temperature(0.4, 3)) == pytest.approx(1)
    assert correlational_rows(48, 2, 1500) < 1
    for call, words in [
        (lambda: splitting_temperature(4.0), "between 0 and π"),
        (lambda: critical_width(2), "k = 3 on"),
        (lambda: freeing_temperature(1.0, 1), "k of at least 2"),
        (lambda: correlational_rows(4, 2, 0), "positive"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
