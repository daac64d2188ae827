"""XOR in one step: closed forms against enumeration, autodiff and sampling."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.learning.xor.exact import as_pointwise, first_gradient, worst_case, xor_risk
from paritylab.learning.xor.race import race
from paritylab.learning.xor.samples import sample_curve
from paritylab.learning.xor.stream import streamed_step
from paritylab.learning.xor.train import (
    default_gain,
    sampled_weight_gradient,
    step_in_precision,
    train_xor,
    unit_step,
)
from paritylab.models import ATTENTION, XOR_READOUTS, TwoHeads, as_code
from paritylab.precision import float64

X64_MODES = [False]
SIGNS = np.array(list(itertools.product([1.0, -1.0], repeat=8)))
PAIR = np.array([2, 5])
ON_PAIR = np.isin(np.arange(8), PAIR)
LABELS = -SIGNS[:, 2] * SIGNS[:, 5]


def enumerated(weights, readout, loss, noise=0.0):
    pointwise = as_pointwise(loss)
    return jnp.mean(pointwise(LABELS, XOR_READOUTS[readout](SIGNS @ weights), noise))


@pytest.mark.parametrize("loss", ["squared", "correlation"])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_the_risk_is_the_mean_over_all_inputs(loss, noise):
    weights = np.random.default_rng(0).normal(size=8)
    with float64():
        g = jnp.asarray(weights)
        routes = (
            lambda g: xor_risk(g, ON_PAIR, loss, noise),
            lambda g: enumerated(g, "square", loss, noise),
        )
        exact, every = (jax.value_and_grad(route)(g) for route in routes)
        assert abs(float(exact[0] - every[0])) < 1e-12
        np.testing.assert_allclose(np.asarray(exact[1]), np.asarray(every[1]), atol=1e-12)


@pytest.mark.parametrize("readout", XOR_READOUTS)
def test_the_worst_case_is_the_worst_of_all_inputs(readout):
    rng = np.random.default_rng(1)
    with float64():
        for _ in range(20):
            weights = rng.normal(size=8) * np.where(ON_PAIR, 1, 0.1)
            worst = worst_case(jnp.asarray(weights), jnp.asarray(ON_PAIR), XOR_READOUTS[readout])
            errors = jnp.abs(XOR_READOUTS[readout](SIGNS @ jnp.asarray(weights)) - LABELS)
            if float(worst.outside) <= abs(weights[PAIR].sum()):
                assert float(worst.error) == pytest.approx(float(errors.max()), rel=1e-9)
            else:
                assert float(worst.error) >= float(errors.max()) - 1e-9


@pytest.mark.parametrize("readout", XOR_READOUTS)
@pytest.mark.parametrize("loss", ["squared", "correlation"])
def test_the_first_gradient_is_that_of_enumeration(readout, loss):
    first = first_gradient(8, lambda x: -x[0] * x[1], 2, XOR_READOUTS[readout], loss)
    with float64():
        every = jax.grad(lambda g: enumerated(g, readout, loss))(jnp.full(8, 1 / 8))
    expected = np.where(ON_PAIR, first.relevant[0], first.other)
    np.testing.assert_allclose(np.asarray(every), expected, atol=1e-12)


@pytest.mark.parametrize("attention", ATTENTION)
@pytest.mark.parametrize("positions", ["signs", "onehot"])
def test_one_step_is_autodiff_of_the_whole_model(attention, positions):
    """train_xor against the gradient of the model's own loss averaged over every input."""
    runs = train_xor(8, 6, runs=2, attention=attention, positions=positions, gain=1.5, seed=4)
    with float64():
        keys = [jax.random.fold_in(jax.random.key(4), run) for run in range(2)]
        for run, key in enumerate(keys):
            code = as_code(positions, 8, key=jax.random.fold_in(key, 1), width=6)
            i, j = runs.pairs[run]
            labels = -SIGNS[:, i] * SIGNS[:, j]

            def loss(w, code=code, labels=labels):
                model = TwoHeads(w, code, attention)
                return jnp.mean((jax.vmap(model)((1 - SIGNS) / 2) - labels) ** 2) / 2

            step = unit_step(8, attention=attention) * 1.5
            expected = -step * jax.grad(loss)(jnp.zeros((2, code.width)))
            np.testing.assert_allclose(runs.directions[run], np.asarray(expected), atol=1e-9)


def test_the_closed_first_step_of_the_tent_is_autodiff_too():
    runs = train_xor(9, 6, runs=1, readout="abs", gain=1.0, seed=2)
    key = jax.random.fold_in(jax.random.key(2), 0)
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=9)))
    with float64():
        code = as_code("signs", 9, key=jax.random.fold_in(key, 1), width=6)
        i, j = runs.pairs[0]

        def loss(w):
            model = TwoHeads(w, code, readout=XOR_READOUTS["abs"])
            return jnp.mean((jax.vmap(model)((1 - signs) / 2) + signs[:, i] * signs[:, j]) ** 2) / 2

        expected = -unit_step(9, readout="abs") * jax.grad(loss)(jnp.zeros((2, 6)))
    np.testing.assert_allclose(runs.directions[0], np.asarray(expected), atol=1e-8)


@pytest.mark.parametrize("readout", XOR_READOUTS)
def test_the_streamed_gradient_approaches_the_exact_one(readout):
    weights = jnp.full(8, 1 / 8, jnp.float32)
    sampled = sampled_weight_gradient(
        weights, PAIR, jax.random.key(0), 100_001, readout=readout, noise=0.1
    )
    with float64():
        every = jax.grad(lambda g: enumerated(g, readout, "squared", 0.1))(jnp.full(8, 1 / 8))
    np.testing.assert_allclose(np.asarray(sampled), np.asarray(every), atol=0.03)


def test_streamed_and_tabled_steps_agree_in_distribution():
    table = train_xor(512, 80, runs=60, gain=20.0)
    stream = [streamed_step(512, 80, [20.0], pairs=20, seed=seed) for seed in range(3)]
    medians = np.median(table.error), np.median(np.concatenate([s.error[0] for s in stream]))
    assert table.ranked.all()
    assert all(step.ranked.all() for step in stream)
    assert 0.5 < medians[0] / medians[1] < 2


def test_balanced_positions_share_exactly():
    step = streamed_step(64, 60, [40.0, 400.0], pairs=20, balanced=True)
    assert step.imbalance.max() < 1e-12
    assert step.error[1].max() < step.error[0].max() < 1
    assert train_xor(64, 60, positions="balanced", runs=40).solved.all()


def test_learned_positions_move_nothing_in_the_first_step():
    fixed = train_xor(32, 24, runs=5)
    learned = train_xor(32, 24, runs=5, learn_positions=True)
    np.testing.assert_allclose(learned.directions, fixed.directions, rtol=1e-9)


def test_runs_are_the_same_in_other_blocks():
    whole = train_xor(32, 24, runs=6, start=0.01)
    part = train_xor(32, 24, runs=2, first=4, start=0.01)
    np.testing.assert_allclose(part.error, whole.error[4:], rtol=1e-9)


def test_softmax_wins_the_race_and_linear_does_not():
    finals = {
        kind: race(
            32, 40, kind, rates=[5.0, 10.0, 20.0], checkpoints=(1, 5), positions="balanced", runs=6
        )
        for kind in ("softmax", "linear")
    }
    assert finals["softmax"].best(1).mean() > 0.5
    assert finals["linear"].best(1).mean() == finals["linear"].best(5).mean() == 0
    assert finals["linear"].best_risk(5) > 0.3


def test_more_rows_rank_the_pair_more_often():
    curve = sample_curve(32, 40, [64, 512, 8192], runs=40, loss="correlation")
    assert curve.onehot.mean(axis=1)[0] < 0.6 < curve.onehot.mean(axis=1)[-1]
    assert (curve.onehot.mean(axis=1) >= curve.signs.mean(axis=1) - 0.1).all()


def test_single_precision_decides_like_double():
    settings = {"n": 512, "width": 75, "gain": default_gain(512), "seed": 0}
    double, single = (step_in_precision(kind, **settings) for kind in ("float64", "float32"))
    assert single == pytest.approx(double, abs=1e-3)
    assert not np.isfinite(step_in_precision("naive", **(settings | {"gain": 200.0})))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 2, "width": 4}, "needs n ≥ 3"),
        ({"n": 8}, "need a width"),
        ({"n": 8, "width": 4, "runs": 0}, "at least 1"),
        ({"n": 8, "width": 4, "noise": 0.7}, "noise in"),
        ({"n": 8, "width": 4, "readout": "abs", "steps": 2}, "needs samples"),
        ({"n": 8, "width": 4, "readout": "cube"}, "readout must be one of"),
        ({"n": 8, "width": 4, "loss": "hinge"}, "loss must be one of"),
        ({"n": 10**6, "width": 100, "attention": "exp"}, "only the exact first"),
    ],
)
def test_bad_settings_say_what_to_do(settings, message):
    with pytest.raises(ValueError, match=message):
        train_xor(**settings)
