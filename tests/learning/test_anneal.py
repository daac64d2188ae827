"""Annealed heads: forces, self-knowledge, restarts, samples; one step for any k."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.learning import Annealing, anneal_heads, random_targets
from paritylab.learning.heads.anneal import _minus_log
from paritylab.learning.heads.one_step import one_step, smallest_width
from paritylab.models import Circle, Cosine, HeadAttention
from paritylab.precision import float64
from paritylab.problem import Parity
from paritylab.risk import population_risk
from paritylab.risk.objective import Target, target_of

X64_MODES = [False]
QUICK = Annealing(steps=400)


@pytest.mark.parametrize(
    "problem", [Parity(12, (2, 7)), Parity(12, (2, 7, 8), noise=0.1, bias=0.4)]
)
def test_the_annealed_risk_is_the_engines_log_correlation(problem):
    angles, tau = np.array([0.3, 2.0, 4.0][: problem.k]), 0.4
    directions = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    model = HeadAttention(directions, Circle(12), problem.k, Cosine(), tau)
    with float64():
        target = Target(*map(jnp.asarray, target_of(problem)))
        value = float(
            _minus_log(
                jnp.asarray(angles), tau, target=target, rows=None, fair=problem.is_uniform, n=12
            )
        )
    exact = population_risk(model, problem, loss="log_correlation").value
    assert value == pytest.approx(exact, abs=1e-9)


def test_the_force_picture():
    """d log c/dg is (π/2)cot(πg/2) on B and -(π/2)tan(πg/2) off B."""
    weights = np.array([0.3, 1.4, 0.2, 0.1])
    on = np.array([1.0, 1.0, 0.0, 0.0])

    def log_c(g):
        half = jnp.pi * g / 2
        return jnp.sum(jnp.log(jnp.abs(jnp.where(on > 0, jnp.sin(half), jnp.cos(half)))))

    with float64():
        force = np.asarray(jax.grad(log_c)(jnp.asarray(weights)))
    half = np.pi * weights / 2
    np.testing.assert_allclose(force[:2], np.pi / 2 / np.tan(half[:2]), rtol=1e-9)
    np.testing.assert_allclose(force[2:], -np.pi / 2 * np.tan(half[2:]), rtol=1e-9)
    assert force[1] < 0 < force[0]  # a second head is pushed away, an uncovered bit pulls


def test_heads_find_the_set_and_know_it():
    runs = anneal_heads(random_targets(20, 3, 24), restarts=6)
    assert runs.recovered.all()
    assert (runs.correlation > 0.99).all()
    assert runs.starts.max() <= 7


def test_the_models_own_correlation_tells_success_from_failure():
    runs = anneal_heads(random_targets(40, 6, 32), Annealing(steps=150))
    assert not runs.recovered.all()
    np.testing.assert_array_equal(runs.recovered, runs.correlation > 0.9)


def test_without_jitter_two_heads_meet_between_neighbours_and_never_part():
    neighbours = Parity(16, (2, 3))
    still = anneal_heads(neighbours, Annealing(jitter=0.0), runs=24)
    lively = anneal_heads(neighbours, runs=24)
    assert still.recovered.mean() < 0.8
    assert lively.recovered.all()
    stuck = still.directions[~still.recovered][0]
    angle = np.arctan2(stuck[:, 0], stuck[:, 1]) * 16 / (2 * np.pi)
    np.testing.assert_allclose(angle, 2.5, atol=0.1)
    assert (still.correlation > 0.9).all()  # soft attention is right there, hard attention is not


def test_same_seed_same_bits_and_given_starts():
    targets = random_targets(16, 2, 4)
    first, again = (anneal_heads(targets, QUICK, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.directions, again.directions)
    starts = np.tile(2 * np.pi * np.array([2, 7]) / 16, (3, 1))
    placed = anneal_heads(
        Parity(16, (2, 7)), Annealing(steps=50, tau_start=0.01), runs=3, starts=starts
    )
    assert placed.recovered.all()


def test_samples_noise_and_bias():
    targets = random_targets(10, 2, 8, noise=0.05, bias=0.45)
    assert anneal_heads(targets, QUICK, restarts=3).recovered.mean() > 0.8
    assert anneal_heads(targets, QUICK, samples=4000, restarts=3).recovered.mean() > 0.7
    few = anneal_heads(random_targets(24, 2, 8), QUICK, samples=20)
    assert few.recovered.mean() < 0.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"restarts": -1}, "restarts must be at least 0"),
        ({"samples": 0}, "samples must be at least 1"),
        ({"starts": np.zeros((2, 2))}, "starts must be angles of shape"),
        ({"runs": 0}, "runs must be at least 1"),
    ],
)
def test_bad_settings_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        anneal_heads(Parity(8, (1, 4)), **options)


def test_one_step_follows_the_exact_gradient():
    """The direction of the step is that of the gradient of the log-correlation at w = 0."""
    n, k, width = 40, 3, 16
    rng = np.random.default_rng(0)
    positions = rng.choice([-1.0, 1.0], (n, width)) / np.sqrt(width)

    def loss(w):
        half = jnp.pi / 2 * k * jax.nn.softmax(jnp.asarray(positions) @ w)
        return -jnp.sum(jnp.log(jnp.where(jnp.arange(n) < k, jnp.sin(half), jnp.cos(half))))

    with float64():
        gradient = np.asarray(jax.grad(loss)(jnp.zeros(width)))
    predicted = positions[:k].sum(axis=0) - k * positions.mean(axis=0)
    cosine = -gradient @ predicted / np.linalg.norm(gradient) / np.linalg.norm(predicted)
    assert cosine == pytest.approx(1, abs=1e-9)


def test_one_step_ranks_and_is_exact_when_wide_enough():
    assert one_step(512, 3, 400, seed=1).ranked
    assert one_step(512, 3, 4000, seed=1).deviation < 0.5
    assert not one_step(512, 8, 8, seed=1).ranked
    assert smallest_width(256, 2, trials=5, goal="rank") <= 64
    for bad in ({"k": 0}, {"width": 0}, {"k": 600}):
        with pytest.raises(ValueError, match="need 1 ≤ k ≤ n"):
            one_step(**({"n": 512, "k": 3, "width": 8, "seed": 0} | bad))
    with pytest.raises(ValueError, match="goal must be"):
        smallest_width(64, 2, trials=1, goal="best")
