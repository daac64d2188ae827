"""Annealed heads: forces, self-knowledge, restarts, samples."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.learning import Heads, Population, Rows, Sample, learn
from paritylab.learning.heads.moves import Attended, candidates, relocate
from paritylab.learning.heads.objective import ProductRisk, at_angles, product_risk
from paritylab.learning.judging import judge_heads
from paritylab.learning.objective import Objective, risk_of_run
from paritylab.models import Circle, Cosine, HeadAttention
from paritylab.problem import Parity, random_parities, sample
from paritylab.risk import population_risk
from paritylab.risk.objective import Target, target_of

X64_MODES = [False]
QUICK = {"steps": 400}
#: Annealing without moves, with the larger kicks that it needs.
ALONE = {"moves": 0, "jitter": 0.15}


@pytest.mark.parametrize(
    "problem", [Parity(12, (2, 7)), Parity(12, (2, 7, 8), noise=0.1, bias=0.4)]
)
def test_the_annealed_risk_is_the_engines_log_correlation(problem):
    angles, tau = np.array([0.3, 2.0, 4.0][: problem.k]), 0.4
    directions = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    model = HeadAttention(directions, Circle(12), problem.k, Cosine(), tau)
    with float64():
        target = Target(*map(jnp.asarray, target_of(problem)))
        value = float(product_risk(model.weights(), target, problem.is_uniform))
    exact = population_risk(model, problem, loss="log_correlation").value
    assert value == pytest.approx(exact, abs=1e-9)


def test_heads_find_the_set_and_know_it():
    runs = learn(Heads.annealed(restarts=6), Population(random_parities(20, 3, 24)))
    assert runs.recovered.all()
    assert runs.solved.all()
    assert (runs.stats["correlation"] > 0.99).all()
    assert runs.stats["starts"].max() <= 7


def test_the_models_own_correlation_tells_success_from_failure():
    runs = learn(Heads.annealed(**ALONE, steps=150), Population(random_parities(40, 6, 32)))
    assert not runs.recovered.all()
    np.testing.assert_array_equal(runs.recovered, runs.stats["correlation"] > 0.9)


def test_without_jitter_two_heads_meet_between_neighbours_and_never_part():
    neighbours = Population(Parity(16, (2, 3)))
    still = learn(Heads.annealed(moves=0, jitter=0.0), neighbours, runs=24)
    lively = learn(Heads.annealed(**ALONE), neighbours, runs=24)
    assert still.rate().value < 0.8
    assert lively.recovered.all()
    stuck = still.numbers[~still.recovered][0]
    np.testing.assert_allclose(stuck * 16 / (2 * np.pi) % 16, 2.5, atol=0.1)
    # Soft attention is right there, hard attention is not.
    assert (still.stats["correlation"] > 0.9).all()


def test_the_path_of_a_run_starts_evenly_spaced():
    runs = learn(Heads.annealed(steps=50), Population(Parity(16, (2, 7))), runs=3, trace=10)
    assert runs.trace["angles"].shape == (3, 5, 2)
    np.testing.assert_allclose(np.diff(runs.trace["angles"][:, 0], axis=1), np.pi)
    assert runs.trace["step"].tolist() == [0, 10, 20, 30, 40]


def test_a_move_is_taken_only_if_the_models_own_correlation_rises():
    """Heads on bits 0, 0 and midway between 20 and 22: the spare one goes; on B none goes."""
    problem = Parity(40, (0, 20, 22))
    with float64():
        target = Target(*map(jnp.asarray, target_of(problem)))
        heads = HeadAttention(np.zeros((3, 2)), Circle(40), 3, Cosine(), 0.02)
        objective = Objective.of(Population(problem), "log_correlation", exact=ProductRisk(True))
        key = jax.random.key(0)
        risk = risk_of_run(objective, target, key, heads)(key, 0)
        for places, leaves in (((0, 0, 21), True), ((0, 20, 22), False)):
            angles = 2 * jnp.pi / 40 * jnp.asarray(places, float)
            attention = at_angles(heads, angles).attention()
            loss = risk.of(Attended.by(heads, attention))
            for seed in range(5):
                key = jax.random.key(seed)
                head, place, does = relocate(heads, risk, loss, attention, angles, key, tries=256)
                after = risk.of(at_angles(heads, angles.at[head].set(place)))
                assert bool(does) == bool(after < loss)
                if leaves:
                    assert does
                    assert int(head) < 2


def test_moves_rescue_heads_that_annealing_leaves_in_traps():
    data = Population(random_parities(60, 12, 24))
    runs = learn(Heads.annealed(steps=600), data)
    alone = learn(Heads.annealed(**ALONE, steps=600), data)
    assert runs.rate().low > alone.rate().high
    assert (runs.stats["moves"] > 0).all()
    assert not alone.stats["moves"].any()
    assert candidates(12) == 3


@pytest.mark.slow
def test_from_few_rows_moves_find_what_annealing_alone_does_not():
    data = Sample(random_parities(16, 2, 24), 192)
    moving = learn(Heads.annealed(steps=600), data).rate()
    assert moving.low > 0.6
    assert learn(Heads.annealed(**ALONE, steps=600), data).rate().high < moving.value


@pytest.mark.slow
def test_samples_noise_and_bias():
    targets = random_parities(10, 2, 8, noise=0.05, bias=0.45)
    patient = Heads.annealed(restarts=3, **QUICK)
    assert learn(patient, Population(targets)).rate().value > 0.8
    assert learn(patient, Sample(targets, 4000)).rate().value > 0.7
    few = learn(Heads.annealed(**QUICK), Sample(random_parities(24, 2, 8), 20))
    assert few.rate().value < 0.5


def test_rows_of_ones_own_are_enough():
    batch = sample(Parity(12, (2, 7)), key=0, size=4000)
    runs = learn(Heads.annealed(k=2, restarts=3, **QUICK), Rows(batch.bits, batch.labels), runs=4)
    assert runs.subset == [(2, 7)] * 4
    assert runs.solved.all()
    assert runs.kind == "sampled"


def test_a_run_without_finite_weights_has_no_risk():
    data = Population(random_parities(30, 3, 5))
    weights = 3 * np.random.default_rng(0).dirichlet(np.ones(30), 5)
    weights[2] = np.nan
    assert np.isnan(judge_heads(weights, data, Cosine()).risk).tolist() == [0, 0, 1, 0, 0]
