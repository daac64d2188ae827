"""Training loops against the front door, against each other, and against bad input."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from paritylab._support.precision import float64
from paritylab.learning import (
    Fresh,
    Heads,
    Population,
    Rows,
    Sample,
    learn,
)
from paritylab.learning.heads.assembly import step_size
from paritylab.models import HeadAttention, PiecewiseLinear, Zigzag
from paritylab.problem import Parity, random_parities, random_parity, sample
from paritylab.problem.losses import LOSSES
from paritylab.risk import enumerated_risk, model_gradient, population_risk
from paritylab.risk.objective import target_of, weight_risk
from paritylab.theory import hg1

X64_MODES = [False]  # everything here runs in float64 of its own


def test_a_readout_of_ones_own_has_an_objective_too():
    problem = Parity(9, (1, 4), noise=0.1, bias=0.4)
    model = HeadAttention.random(3, problem, readout=lambda s: 1 - s + s**3 / 9, tau=0.2)
    with float64():
        risk = weight_risk(model.readout, LOSSES["squared"], 9, 2)
        value = float(risk(model.weights(), target_of(problem)))
    assert value == pytest.approx(enumerated_risk(model, problem, "squared").value, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k", "norm"), [(30, 2, 1), (60, 3, 20), (40, 3, 4), (30, 5, 5)])
def test_the_moving_series_stays_close_to_the_front_door(n, k, norm):
    problem = random_parity(n, n, k)
    model = HeadAttention.random(n + 1, problem, tau=1 / n)
    model = model.with_parameters(norm * model.directions)
    exact, slopes = model_gradient(model, problem, tolerance=1e-7)
    with float64():
        risk = weight_risk(Zigzag(k), LOSSES["squared_hinge"], n, k)
        value, gradient = jax.value_and_grad(
            lambda p: risk(model.with_parameters(p).weights(), target_of(problem))
        )(model.directions)
    assert abs(float(value) - exact.value) < 2e-3
    assert np.linalg.norm(np.asarray(gradient) - slopes) < 0.05 * np.linalg.norm(slopes) + 1e-6


@pytest.mark.grid(2)
@pytest.mark.parametrize(("n", "name"), [(10, "paper"), (10, "code"), (30, "paper")])
def test_one_step_is_the_step_of_the_exact_gradient(n, name):
    data = Population(random_parities(n, 2, 3))
    learner = Heads.presets[name](steps=1, optimiser="sgd", eta=0.05)
    runs = learn(learner, data, trace=1)
    for run, problem in enumerate(data.targets):
        start = runs.trace["directions"][run, 0]
        model = runs.model(run).with_parameters(start)
        risk, gradient = model_gradient(model, problem, loss=learner.loss)
        assert runs.trace["risk"][run, 0] == pytest.approx(risk.value, abs=1e-5)
        moved = runs.numbers[run] - start
        slack = 1e-9 if n <= 24 else 0.06  # beyond 24 bits the loop uses the moving series
        np.testing.assert_allclose(moved, -0.05 * gradient, atol=slack * np.abs(moved).max())


def test_all_rows_train_like_the_population():
    targets = random_parities(8, 2, 4, noise=0.1, bias=0.3)
    exact = learn(Heads.code(steps=50), Population(targets))
    rows = learn(Heads.code(steps=50), Population(targets, "enumeration"))
    np.testing.assert_allclose(rows.numbers, exact.numbers, atol=1e-8)
    np.testing.assert_allclose(rows.risk, exact.risk, atol=1e-10)


@pytest.mark.slow
def test_many_samples_come_close_to_the_population():
    targets = random_parities(8, 2, 2)
    learner = Heads.code(steps=20, optimiser="sgd", eta=0.5)
    exact = learn(learner, Population(targets), trace=20)
    moved = np.abs(exact.numbers - exact.trace["directions"][:, 0]).max()
    for data in (Sample(targets, 50_000), Fresh(targets, 50_000)):
        near = learn(learner, data)
        assert np.abs(near.numbers - exact.numbers).max() < 0.35 * moved


def test_a_second_call_compiles_nothing_even_at_another_temperature_and_step(caplog):
    learn(Heads.code(steps=10), Population(random_parities(9, 2, 4)))
    with jax.log_compiles(), caplog.at_level("WARNING"):
        other = Population(random_parities(9, 2, 4, key=1))
        learn(Heads.code(steps=10, tau=0.7, eta=0.3), other, key=1)
    assert not [r for r in caplog.records if "Finished XLA" in r.getMessage()]


def test_what_counts_as_found():
    problem = Parity(10, (2, 7))
    right, wrong = (HeadAttention.at(at, problem).directions for at in ((7, 2), (7, 7)))
    still = {"steps": 1, "eta": 1e-12}
    runs = learn(Heads.paper(tau="1/n^2", start=right, **still), Population(problem))
    assert runs.recovered.all()
    assert runs.solved.all()
    assert runs.stats["positions"].tolist() == [[7, 2]]
    assert not learn(Heads.paper(start=wrong, **still), Population(problem)).recovered.any()


def test_solved_is_judged_by_the_squared_hinge_whatever_was_trained_on():
    runs = learn(Heads.code(steps=800), Population(random_parities(8, 2, 12)))
    assert runs.loss == "squared_hinge"
    for run in range(len(runs)):
        assert runs.risk[run] == pytest.approx(
            enumerated_risk(runs.model(run), runs.targets[run]).value, abs=1e-9
        )
    np.testing.assert_array_equal(runs.solved, runs.risk + runs.error < 0.05)


def test_heads_learn_from_rows_alone():
    problem = Parity(10, (2, 7))
    batch = sample(problem, key=3, size=2000)
    runs = learn(Heads.code(k=2, steps=400), Rows(batch.bits, batch.labels), runs=12)
    assert runs.targets is None
    assert runs.recovered is None
    assert runs.kind == "sampled"
    best = int(np.argmin(runs.risk))
    exact = population_risk(runs.model(best), problem)
    assert abs(runs.risk[best] - exact.value) < 5 * runs.error[best] + 0.05
    with pytest.raises(ValueError, match="how many bits are hidden"):
        learn(Heads.code(), Rows(batch.bits, batch.labels))


def test_presets_follow_their_sources():
    code, paper = Heads.code(), Heads.paper()
    assert (code.tau, code.loss, code.optimiser) == ("n/4", "mean_hinge_squared", "adam")
    assert (step_size(code, 16), step_size(code, 20), code.steps) == (0.1, 0.2, 2000)
    assert (paper.loss, paper.optimiser, step_size(paper, 20)) == ("squared_hinge", "sgd", 0.1)


def test_the_theorems_step_cannot_move_anything():
    step = hg1.step_size(2, 1 / 12, 0.01)
    data = Population(random_parities(12, 2, 4))
    runs = learn(Heads.paper(eta=step, steps=200), data, trace=200)
    assert np.abs(runs.numbers - runs.trace["directions"][:, 0]).max() < 1e-3


# Parts of one's own: each is one line beside the usual call.


def own_positions(n):
    """A circle walked three times as fast."""
    angles = 6 * np.pi * np.arange(n) / n
    return np.stack([np.sin(angles), np.cos(angles)], axis=1)


PARTS = {
    "link": {"readout": lambda s: 2 * (s - 1) ** 2 - 1},
    "declared link": {"readout": PiecewiseLinear([0.0, 1.0, 2.0], [1.0, -1.0, 1.0])},
    "loss": {"loss": lambda y, made: jnp.log1p(jnp.exp(-y * made))},
    "optimiser": {"optimiser": optax.lion(0.05)},
    "line search": {"optimiser": optax.lbfgs()},
    "positions": {"positions": own_positions},
    "table": {"positions": np.eye(10)[:, ::-1]},
    "attention": {"attention": lambda scores: jax.nn.softmax(2 * scores)},
    "heads": {"heads": 4},
}


@pytest.mark.slow
@pytest.mark.grid(3)
@pytest.mark.parametrize("name", PARTS)
def test_parts_of_ones_own_train_many_runs_at_once(name):
    data = Population(random_parities(10, 2, 6))
    runs = learn(Heads.code(steps=60, **PARTS[name]), data)
    for run in (0, 5):
        risk = enumerated_risk(runs.model(run), data.targets[run])
        assert abs(risk.value - runs.risk[run]) <= runs.error[run] + risk.error


def test_attention_without_a_sum_of_one_visits_all_inputs():
    plain = Heads.code(steps=20, attention="sigmoid")
    for inputs in ("bits", "signs"):
        runs = learn(replace(plain, inputs=inputs), Population(Parity(8, (1, 4))), runs=2)
        exact = [enumerated_risk(model, Parity(8, (1, 4))).value for model in runs.models]
        np.testing.assert_allclose(runs.risk, exact, rtol=1e-9)
