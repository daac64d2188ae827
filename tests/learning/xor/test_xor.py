"""XOR in one step: closed forms against enumeration, autodiff and sampling."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import softmax

from paritylab._support.precision import float64
from paritylab.learning import Fresh, Heads, Population, Sample, learn
from paritylab.learning.xor.exact import (
    SOLVED_ERROR,
    default_gain,
    first_gradient,
    unit_step,
    worst_case,
    xor_risk,
)
from paritylab.learning.xor.stream import step_on, streamed_step
from paritylab.models import (
    ATTENTION,
    Bowl,
    OneHot,
    PackedSigns,
    RandomSigns,
    attend,
)
from paritylab.problem import Parity, as_loss, random_parities
from paritylab.risk import enumerated_risk

X64_MODES = [False]
SIGNS = np.array(list(itertools.product([1.0, -1.0], repeat=8)))
PAIR = np.array([2, 5])
ON_PAIR = np.isin(np.arange(8), PAIR)
LABELS = -SIGNS[:, 2] * SIGNS[:, 5]


def pairs(n, runs, **options):
    return random_parities(n, 2, runs, sign=-1, **options)


def enumerated(weights, loss, noise=0.0):
    loss = as_loss(loss)
    return loss.outer(jnp.mean(loss.noisy(LABELS, Bowl()(SIGNS @ weights), noise)))


@pytest.mark.parametrize("loss", ["squared", "correlation"])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_the_risk_is_the_mean_over_all_inputs(loss, noise):
    weights = np.random.default_rng(0).normal(size=8)
    with float64():
        g = jnp.asarray(weights)
        routes = (
            lambda g: xor_risk(g, ON_PAIR, loss, noise),
            lambda g: enumerated(g, loss, noise),
        )
        exact, every = (jax.value_and_grad(route)(g) for route in routes)
        assert abs(float(exact[0] - every[0])) < 1e-12
        np.testing.assert_allclose(np.asarray(exact[1]), np.asarray(every[1]), atol=1e-12)


def test_the_worst_case_is_the_worst_of_all_inputs():
    rng = np.random.default_rng(1)
    with float64():
        for _ in range(20):
            weights = rng.normal(size=8) * np.where(ON_PAIR, 1, 0.1)
            worst = worst_case(jnp.asarray(weights), jnp.asarray(ON_PAIR))
            errors = jnp.abs(Bowl()(SIGNS @ jnp.asarray(weights)) - LABELS)
            if float(worst.outside) <= abs(weights[PAIR].sum()):
                assert float(worst.error) == pytest.approx(float(errors.max()), rel=1e-9)
            else:
                assert float(worst.error) >= float(errors.max()) - 1e-9


@pytest.mark.parametrize("loss", ["squared", "correlation"])
def test_the_first_gradient_is_that_of_enumeration(loss):
    first = first_gradient(8, lambda x: -x[0] * x[1], 2, loss)
    with float64():
        every = jax.grad(lambda g: enumerated(g, loss))(jnp.full(8, 1 / 8))
    expected = np.where(ON_PAIR, first.relevant[0], first.other)
    np.testing.assert_allclose(np.asarray(every), expected, atol=1e-12)


def twice_as_sharp(scores):
    return jax.nn.softmax(2 * scores, axis=-1)


def checked(learner, key=1):
    """Two runs whose model gives, over every input, the risk and worst error they report."""
    runs = learn(learner, Population(pairs(8, 2, noise=0.05)), key=key)
    model, (i, j) = runs.model(1), runs.targets[1].subset
    with float64():
        predicted = jax.vmap(model)((1 - SIGNS) / 2)
        errors = predicted + SIGNS[:, i] * SIGNS[:, j]
        flipped = predicted - SIGNS[:, i] * SIGNS[:, j]
        risk = float(jnp.mean(0.95 * errors**2 + 0.05 * flipped**2) / 2)
        worst, found = float(jnp.abs(errors).max()), np.argsort(-np.asarray(model.weights()))[:2]
    assert runs.kind == "exact"
    assert runs.risk[1] == pytest.approx(risk, rel=1e-9, abs=1e-9)
    assert runs.stats["worst"][1] >= worst - 1e-9
    assert runs.subset[1] in (None, tuple(sorted(found.tolist())))
    return runs


@pytest.mark.grid(4)
@pytest.mark.parametrize("attention", ATTENTION)
def test_what_is_rebuilt_is_what_was_trained_by_the_exact_gradient(attention):
    """The risk by enumeration, and the step by autodiff of the model over every input."""
    for positions in ("balanced", "circle", "onehot", "signs"):
        learner = Heads.pair(
            width=None if positions in ("circle", "onehot") else 5,
            attention=attention,
            positions=positions,
            gain=1.5,
        )
        runs = checked(learner)
    model, labels = runs.model(1), -np.prod(SIGNS[:, runs.targets[1].subset], axis=1)
    with float64():

        def loss(w):
            predicted = jax.vmap(model.with_parameters(w))((1 - SIGNS) / 2)
            return jnp.mean(as_loss("squared").noisy(labels, predicted, 0.05))

        step = unit_step(8, attention=attention) * 1.5
        expected = -step * jax.grad(loss)(jnp.zeros((2, 5)))
    np.testing.assert_allclose(runs.numbers[1], np.asarray(expected), atol=1e-8)


def test_own_parts_are_rebuilt_too():
    table = np.random.default_rng(0).normal(size=(8, 5))
    for changes in (
        {"attention": twice_as_sharp, "width": 5},
        {"positions": table},
        {"positions": OneHot(8)},
        {"attention": "exp", "positions": lambda n: np.eye(n)[:, :5]},
    ):
        checked(Heads.pair(gain=1.5, **changes))


def test_the_trace_is_the_path_of_the_exact_risk():
    learner = Heads.pair(width=6, gain=0.3, steps=3)
    runs = learn(learner, Population(pairs(8, 2)), trace=1)
    assert runs.trace["step"].tolist() == [0, 1, 2]
    for step in range(3):
        model = runs.model(0).with_parameters(runs.trace["directions"][0, step])
        exact = enumerated_risk(model, runs.targets[0], "squared").value
        assert runs.trace["risk"][0, step] == pytest.approx(exact, abs=1e-12)


def test_a_sample_is_the_same_rows_at_every_step_and_fresh_rows_are_not():
    learner = Heads.pair(width=12, gain=1e-9, steps=3)
    seen = {
        kind: learn(learner, kind(pairs(16, 2), 64), trace=1).trace["risk"]
        for kind in (Sample, Fresh)
    }
    assert np.ptp(seen[Sample], axis=1).max() < 1e-6
    assert np.ptp(seen[Fresh], axis=1).min() > 1e-3


@pytest.mark.slow
def test_many_rows_find_the_pair_with_noise():
    learner = Heads.pair(width=24, loss="correlation", positions="balanced")
    runs = learn(learner, Sample(pairs(16, 10, noise=0.1), 20_000))
    assert runs.rate().value > 0.8


def test_the_stream_takes_the_same_step_as_a_table():
    """The same positions and pairs through the learner: every score and weight by jax."""
    code = PackedSigns.draw(np.random.default_rng(3), 64, 30)
    chosen = np.array([[7, 39], [33, 12], [0, 63], [5, 6]])
    step = step_on(code, chosen, np.array([8.0]))
    targets = [Parity(64, tuple(sorted(map(int, pair))), sign=-1) for pair in chosen]
    table = learn(Heads.pair(gain=8.0, positions=code.vectors(np.arange(64))), Population(targets))
    np.testing.assert_allclose(step.error[0], table.stats["worst"], atol=1e-5)
    np.testing.assert_array_equal(step.ranked, table.recovered)


def test_blocks_of_the_stream_are_summed():
    n, gains = 10_000, np.array([5.0, 40.0])
    code = PackedSigns.draw(np.random.default_rng(0), n, 20)
    chosen = np.array([[7, 9000], [5000, 12]])
    table, step = code.vectors(np.arange(n)), step_on(code, chosen, gains)
    np.testing.assert_array_equal(code.totals(), (table * np.sqrt(20)).round().sum(axis=0))
    for at, pair in enumerate(chosen):
        scores = table @ (table[pair].sum(axis=0) - 2 * table.mean(axis=0))
        assert step.ranked[at] == (set(np.argsort(-scores)[:2]) == set(pair))
        weights = softmax(gains[:, None] * scores[None], axis=1)
        outside = 1 - weights[:, pair].sum(axis=1)
        np.testing.assert_allclose(step.outside[:, at], outside, rtol=1e-4)
        apart = np.ptp(weights[:, pair], axis=1)
        np.testing.assert_allclose(step.imbalance[:, at], apart, rtol=1e-4)


def test_balanced_positions_share_exactly():
    step = streamed_step(64, 60, [40.0, 400.0], pairs=20, balanced=True)
    assert step.imbalance.max() < 1e-12
    assert step.error[1].max() < step.error[0].max() < 1
    runs = learn(Heads.pair(width=80, positions="balanced"), Population(pairs(64, 40)))
    assert runs.rate("solved").value > 0.95
    assert runs.recovered.all()


def test_from_zero_any_number_of_heads_takes_the_same_step():
    targets = Population(random_parities(64, 2, 3, sign=-1))
    ends = [learn(Heads.pair(heads=heads), targets, key=1) for heads in (1, 2, 4)]
    for runs in ends:
        np.testing.assert_allclose(runs.risk, ends[1].risk, rtol=1e-9)
        np.testing.assert_array_equal(runs.solved, ends[1].solved)


def test_a_second_call_compiles_nothing_even_at_another_gain_and_key(caplog):
    learn(Heads.pair(width=12), Population(pairs(20, 3)))
    with jax.log_compiles(), caplog.at_level("WARNING"):
        learn(Heads.pair(width=12, gain=9.0), Population(pairs(20, 3, key=1, noise=0.1)), key=1)
    assert not [r for r in caplog.records if "Finished XLA" in r.getMessage()]


def test_diverged_runs_are_never_solved():
    for gain in (1e300, 300.0):
        lost = learn(Heads.pair(width=12, attention="exp", gain=gain), Population(pairs(20, 3)))
        assert lost.diverged.all() or gain == 300
        assert not lost.solved.any()
        assert not (lost.diverged & lost.recovered).any()


def worst_errors(kind, gains, n=512, width=75):
    """Largest |ŷ - y| over all inputs after one step at each gain, gradient and softmax in a
    precision; "naive" is float32 with a softmax that does not subtract its maximum."""
    with float64():
        table = jnp.asarray(RandomSigns.draw(0, n, width).table, "f8" if kind == "f8" else "f4")
        on_pair = jnp.arange(n) < 2

        def weights(direction):
            terms = jnp.exp(table @ direction)
            return terms / terms.sum() if kind == "naive" else attend(table @ direction)

        # Two equal heads share the gradient of their common direction.
        slope = jax.grad(lambda w: xor_risk(weights(w), on_pair))(jnp.zeros(width, table.dtype)) / 2
        made = [weights(-gain * n * n / 2 * slope).astype("f8") for gain in gains]
        return np.array([float(worst_case(g, on_pair).error) for g in made])


def test_single_precision_decides_like_double():
    gains = [default_gain(512), 1.0, 40.0, 200.0, 4000.0]
    double, single, naive = (worst_errors(kind, gains) for kind in ("f8", "f4", "naive"))
    assert single[0] == pytest.approx(double[0], abs=1e-3)
    assert np.array_equal(single <= SOLVED_ERROR, double <= SOLVED_ERROR)
    assert naive[0] == pytest.approx(double[0], abs=1e-3)
    assert not np.isfinite(naive[-1]), "a plain softmax overflows"


def test_a_label_of_four_bits_adds_nothing_to_the_first_gradient():
    """z² holds products of two bits only, so two layers need the inner parities as labels."""
    generator = np.random.default_rng(0)
    g = generator.dirichlet(np.ones(8))
    slope = np.mean((SIGNS[:, :4].prod(axis=1) * -4 * (SIGNS @ g))[:, None] * SIGNS, axis=0)
    assert np.abs(slope).max() < 1e-12
