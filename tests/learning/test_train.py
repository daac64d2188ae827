"""Training loops against the front door, against each other, and against bad input."""

import jax
import numpy as np
import optax
import pytest

from paritylab.learning import Procedure, preset, random_targets, temperature, train_heads
from paritylab.models import FullFormAttention, HeadAttention, Zigzag, as_readout
from paritylab.precision import float64
from paritylab.problem import Parity, random_parity
from paritylab.problem.losses import LOSSES
from paritylab.risk import enumerated_risk, model_gradient, population_risk
from paritylab.risk.objective import target_of, weight_risk
from paritylab.theory import hg1

X64_MODES = [False]  # everything here runs in float64 of its own


def _heads(n, k, seed, norm=1.0, **options):
    problem = random_parity(seed, n, k)
    model = HeadAttention.random(seed + 1, problem, tau=1 / n, **options)
    return problem, model.with_parameters(norm * model.directions)


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("readout", ["zigzag", "cos"])
def test_the_training_objective_is_the_population_risk(loss, readout):
    problem, model = _heads(11, 3, seed=4, norm=0.1, readout=readout)
    with float64():
        risk = weight_risk(model.readout, LOSSES[loss], 11, 3)
        value = float(risk(model.weights(), target_of(problem)))
    assert value == pytest.approx(population_risk(model, problem, loss=loss).value, abs=1e-9)


def test_a_readout_of_ones_own_has_an_objective_too():
    problem = Parity(9, (1, 4), noise=0.1, bias=0.4)
    model = HeadAttention.random(3, problem, readout=lambda s: 1 - s + s**3 / 9, tau=0.2)
    with float64():
        risk = weight_risk(model.readout, LOSSES["squared"], 9, 2)
        value = float(risk(model.weights(), target_of(problem)))
    assert value == pytest.approx(enumerated_risk(model, problem, "squared").value, abs=1e-8)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("n", "k", "norm"),
    [
        (30, 2, 1),
        (60, 3, 20),
        pytest.param(40, 3, 4, marks=SLOW),
        pytest.param(30, 5, 5, marks=SLOW),
    ],
)
def test_the_moving_series_stays_close_to_the_front_door(n, k, norm):
    problem, model = _heads(n, k, seed=n, norm=norm)
    exact, slopes, _ = model_gradient(model, problem, tolerance=1e-7)
    with float64():
        risk = weight_risk(Zigzag(k), LOSSES["squared_hinge"], n, k)
        value, gradient = jax.value_and_grad(
            lambda p: risk(model.with_parameters(p).weights(), target_of(problem))
        )(model.directions)
    assert abs(float(value) - exact.value) < 2e-3
    assert np.linalg.norm(np.asarray(gradient) - slopes) < 0.05 * np.linalg.norm(slopes) + 1e-6


@pytest.mark.parametrize(("n", "name"), [(10, "paper"), (10, "code"), (30, "paper")])
def test_one_step_is_the_step_of_the_exact_gradient(n, name):
    targets = random_targets(n, 2, 3)
    runs = train_heads(targets, name, steps=1, optimiser="sgd", rate=0.05)
    for run, problem in enumerate(targets):
        start = runs.path[0, run]
        model = HeadAttention(start, runs.model(run).code, 2, Zigzag(2), runs.tau)
        risk, gradient, _ = model_gradient(model, problem, loss=runs.procedure.loss)
        assert runs.path_risks[0, run] == pytest.approx(risk.value, abs=1e-5)
        moved = runs.directions[run] - start
        slack = 1e-9 if n <= 24 else 0.06  # beyond 24 bits the loop uses the moving series
        np.testing.assert_allclose(moved, -0.05 * gradient, atol=slack * np.abs(moved).max())


def test_all_rows_train_like_the_population():
    targets = random_targets(8, 2, 4, noise=0.1, bias=0.3)
    exact = train_heads(targets, "code", steps=50)
    rows = train_heads(targets, "code", steps=50, data="all")
    np.testing.assert_allclose(rows.directions, exact.directions, atol=1e-8)
    np.testing.assert_allclose(rows.risk, exact.risk, atol=1e-10)


def test_many_samples_come_close_to_the_population():
    targets = random_targets(8, 2, 2)
    options = {"steps": 20, "optimiser": "sgd", "rate": 0.5}
    exact = train_heads(targets, "code", **options)
    moved = np.abs(exact.directions - exact.path[0]).max()
    for data in ("sample", "fresh"):
        near = train_heads(targets, "code", data=data, samples=50_000, **options)
        assert np.abs(near.directions - exact.directions).max() < 0.35 * moved


def test_the_unmasked_row_moves_its_token_entries_apart():
    runs = train_heads(Parity(8, (1, 4)), "paper", runs=3, steps=20, data="all", variant="unmasked")
    masked = train_heads(Parity(8, (1, 4)), "paper", runs=3, steps=20)
    assert np.abs(runs.directions - masked.directions).max() > 1e-3
    problem, model = _heads(8, 2, seed=0)
    full = FullFormAttention.embed(model, masked=False)
    assert enumerated_risk(full, problem).value == pytest.approx(
        population_risk(model, problem).value
    )


def test_joint_training_from_the_papers_head_starts_where_the_frozen_one_does():
    options = {"runs": 4, "steps": 300, "data": "all"}
    joint = train_heads(Parity(8, (1, 4)), "code", variant="joint", **options)
    frozen = train_heads(Parity(8, (1, 4)), "code", **options)
    np.testing.assert_allclose(joint.path_risks[0], frozen.path_risks[0], atol=1e-9)
    assert joint.risk.mean() <= frozen.risk.mean()
    random = train_heads(Parity(8, (1, 4)), "code", variant="joint-random", **options)
    assert np.isfinite(random.risk).all()


def test_the_same_seed_gives_the_same_bits_and_a_block_its_own_runs():
    targets = random_targets(8, 2, 6, seed=3)
    first = train_heads(targets, "code", steps=40, seed=3)
    again = train_heads(targets, "code", steps=40, seed=3)
    np.testing.assert_array_equal(first.directions, again.directions)
    late_targets = random_targets(8, 2, 3, seed=3, first=3)
    late = train_heads(late_targets, "code", steps=40, seed=3, first=3)
    assert late_targets == targets[3:]
    np.testing.assert_allclose(late.directions, first.directions[3:], atol=1e-9)


def test_a_second_call_compiles_nothing_even_at_another_temperature_and_rate(caplog):
    train_heads(random_targets(9, 2, 4), "code", steps=10)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        train_heads(random_targets(9, 2, 4, seed=1), "code", steps=10, tau=0.7, rate=0.3, seed=1)
    assert not [r for r in caplog.records if "Finished XLA" in r.getMessage()]


def test_what_counts_as_found():
    problem = Parity(10, (2, 7))
    directions = np.asarray(HeadAttention.at((7, 2), problem).directions)
    options = {"starts": directions[None], "steps": 1, "rate": 1e-12}
    runs = train_heads(problem, "paper", tau="1/n^2", **options)
    assert runs.recovered.all()
    assert runs.solved.all()
    assert runs.positions.tolist() == [[7, 2]]
    wrong = np.asarray(HeadAttention.at((7, 7), problem).directions)
    assert not train_heads(problem, "paper", **(options | {"starts": wrong[None]})).recovered.any()


def test_heads_may_differ_in_number_from_k_and_any_optax_optimiser_serves():
    runs = train_heads(
        Parity(9, (1, 5)), "code", runs=3, heads=4, steps=30, optimiser=optax.lion(0.05)
    )
    assert runs.directions.shape == (3, 4, 2)
    assert np.isfinite(runs.risk).all()


def test_presets_follow_their_sources():
    assert preset("code", 16) == Procedure("n/4", "mean_hinge_squared", "zigzag", "adam", 0.1, 2000)
    assert preset("code", 20).rate == 0.2
    assert preset("paper", 20).loss == "squared_hinge"
    assert temperature("0.5/n", 10) == 0.05
    assert temperature("1/n²", 10) == temperature("1/n^2", 10) == 0.01
    assert temperature(3, 10) == 3.0


def test_the_theorems_step_cannot_move_anything():
    step = hg1.step_size(2, 1 / 12, 0.01)
    runs = train_heads(random_targets(12, 2, 4), "paper", rate=step, steps=200)
    assert np.abs(runs.directions - runs.path[0]).max() < 1e-3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"procedure": "best"}, "preset must be one of paper, code"),
        ({"tau": "n^3"}, "tau must be a number or a formula"),
        ({"tau": -1.0}, "tau must be positive"),
        ({"steps": 0}, "steps must be a whole number"),
        ({"rate": float("nan")}, "rate must be positive"),
        ({"optimiser": "lbfgs"}, "optimiser must be one of"),
        ({"loss": "nll"}, "loss must be one of"),
        ({"readout": "relu"}, "readout must be"),
        ({"data": "stream"}, "data must be one of"),
        ({"data": "fresh"}, "needs samples"),
        ({"samples": 10}, "uses no samples"),
        ({"variant": "unmasked"}, "needs data="),
        ({"variant": "free"}, "variant must be one of"),
        ({"runs": 0}, "runs must be at least 1"),
        ({"heads": 0}, "heads must be at least 1"),
        ({"starts": np.zeros((1, 3, 2))}, "starts must have shape"),
    ],
)
def test_bad_settings_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        train_heads(Parity(6, (1, 3)), **options)


def test_problems_of_one_call_must_agree():
    with pytest.raises(ValueError, match="equal n and k"):
        train_heads([Parity(6, (1, 3)), Parity(6, (1,))])
    with pytest.raises(ValueError, match="at least one position"):
        train_heads(Parity(6, ()))
    with pytest.raises(ValueError, match="takes n ≤ 20"):
        train_heads(Parity(30, (1,)), data="all")


def test_as_readout_passes_functions():
    assert as_readout(abs, 2) is abs
