"""One truth: the engine inside the live page, in a browser, against the lab on many cases."""

import json
import re
from fractions import Fraction
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab import Heads, Parity, ParityTree, Population, Sample, learn
from paritylab._support.precision import float64
from paritylab.learning.chain.levels import Levels, level_step
from paritylab.learning.chain.teacher import TeacherStep, usual_step
from paritylab.learning.heads.temperature import temperature
from paritylab.learning.xor.exact import default_gain, unit_step, usual_width, worst_case, xor_risk
from paritylab.models import (
    Circle,
    HeadAttention,
    PositionTable,
    TwoHeads,
    Zigzag,
    as_readout,
    attend,
)
from paritylab.problem.sampling import draw_signs
from paritylab.proofs.checker import CERTIFICATES
from paritylab.report.live.page import FOLDER
from paritylab.report.live.runs import page_positions
from paritylab.risk import enumerated_risk, population_risk
from paritylab.statistics import rate_interval
from paritylab.theory.hg2 import median_worst_error

CASES = Path(__file__).with_name("engine_cases.js").read_text()


@pytest.fixture(scope="module")
def engine(chromium, live_address):
    """engine(name, cases): what the engine inside the page answers to each case."""
    page = chromium.new_page()
    page.goto(live_address)
    code = "([name, cases]) => {%s return JSON.stringify(JSON.parse(cases).map(answers[name])); }"
    return lambda name, cases: json.loads(page.evaluate(code % CASES, [name, json.dumps(cases)]))


def run_key(seed, run):
    return jax.random.fold_in(jax.random.key(seed), run)


def test_draws_are_those_of_jax_bit_for_bit(engine):
    cases = [[seed, run, 9] for seed in (0, 7, 2**31) for run in range(30)]
    for (seed, run, count), (key, words, octets, uniform, normal) in zip(
        cases, engine("draws", cases), strict=True
    ):
        own = run_key(seed, run)
        with float64():
            assert key == np.asarray(jax.random.key_data(own)).tolist()
            assert words == jax.random.bits(own, (count,), jnp.uint32).tolist()
            assert octets == jax.random.bits(own, (count,), jnp.uint8).tolist()
            assert uniform == jax.random.uniform(own, (count,), jnp.float64).tolist()
            expected = np.asarray(jax.random.normal(own, (count,), jnp.float64))
        # XLA's logarithm and ours differ in the last place.
        np.testing.assert_allclose(normal, expected, rtol=4e-15, atol=4e-15)


def test_sets_signs_and_positions_are_drawn_alike(engine):
    cases = [[seed, run, n, k] for seed in (0, 3) for run in range(5) for n, k in ((8, 3), (50, 5))]
    for (seed, run, n, k), subset in zip(cases, engine("subset", cases), strict=True):
        words = np.asarray(jax.random.bits(jax.random.fold_in(run_key(seed, run), 0), (n,)))
        assert subset == np.sort(np.argsort(words, kind="stable")[:k]).tolist()
    cases = [[seed, 17, n] for seed in (0, 9) for n in (5, 8, 19)]
    for (seed, rows, n), found in zip(cases, engine("signs", cases), strict=True):
        assert found == np.asarray(draw_signs(jax.random.key(seed), rows, n)).ravel().tolist()
    cases = [[kind, seed, 12, 7] for kind in ("signs", "balanced") for seed in (0, 5)]
    for case, found in zip(cases, engine("positions", cases), strict=True):
        np.testing.assert_allclose(np.reshape(found, (12, 7)), page_positions(*case), atol=1e-15)


def test_small_laws_agree(engine):
    cases = [[0, 10], [10, 10], [3, 7], [96, 100]]
    own = [rate_interval(successes, trials) for successes, trials in cases]
    np.testing.assert_allclose(engine("interval", cases), own, atol=1e-12)
    texts = [["1/n", 20], ["0.5/n^2", 20], ["n/4", 12], ["0.3", 9], ["n", 5]]
    assert engine("temperature", texts) == [temperature(text, n) for text, n in texts]
    assert engine("temperature", [["x", 3], ["", 3], ["0", 3], ["n/0", 3]]) == [None] * 4
    sizes = [[16, 4, 20_000], [32, 8, 2**17], [12, 2, 1000]]
    for (n, k, samples), found in zip(sizes, engine("laws", sizes), strict=True):
        m = n + k - 2
        expected = [
            usual_step(n, k),
            level_step(n, k, "cos", samples),
            2 * m * (np.sqrt(2 * np.log(m)) + np.sqrt(2 * np.log(k))) ** 2,
            default_gain(n),
            usual_width(n),
            median_worst_error(n, k, 20.0),
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def alone(**changes):
    """Annealing without moves."""
    return Heads.annealed(**{"moves": 0, "jitter": 0.15, **changes})


LEARNERS = {"paper": Heads.paper, "code": Heads.code, "annealed": alone}


@pytest.mark.parametrize(
    ("procedure", "problem", "runs", "steps"),
    [
        *((procedure, Parity(11, (2, 5, 9)), 40, 2) for procedure in LEARNERS),
        ("paper", Parity(29, (0, 1, 2)), 8, 0),  # too many inputs: the page adds up a series
        ("annealed", Parity(100, (2, 3, 30, 45)), 8, 2),
        ("annealed", Parity(20, (2, 7, 12)), 32, 1500),
        ("code", Parity(8, (1, 5)), 12, 2000),
        pytest.param("annealed", Parity(60, (2, 3, 30, 45)), 8, 1500, marks=pytest.mark.slow),
        pytest.param("paper", Parity(8, (1, 5)), 12, 1000, marks=pytest.mark.slow),
    ],
)
def test_runs_end_at_the_same_risk_and_in_the_same_decision(
    engine, procedure, problem, runs, steps
):
    own = learn(LEARNERS[procedure](steps=steps), Population(problem), runs=runs, key=4)
    shared = {"n": problem.n, "subset": problem.subset, "procedure": procedure, "steps": steps}
    found = engine("run", [[{**shared, "seed": 4, "run": run}] for run in range(runs)])
    assert [tuple(each["found"]) for each in found] == own.subset
    assert [each["recovered"] for each in found] == own.recovered.tolist()
    assert [each["solved"] for each in found] == own.solved.tolist()
    if steps <= 2:  # rounding grows on the way
        for run, each in enumerate(found):
            model = own.model(run)
            np.testing.assert_allclose(each["directions"], model.directions.ravel(), atol=1e-9)
            risk = population_risk(model, problem)
            assert abs(each["value"] - risk.value) <= each["error"] + risk.error + 1e-9
            assert each["error"] < 0.02


N, WIDTH, PAIR = 16, 24, (3, 10)
KINDS = {
    "softmax": lambda scores, gain: attend(scores, "softmax"),
    "linear": lambda scores, gain: attend(scores, "linear"),
    "sigmoid": lambda scores, gain: attend(scores, "sigmoid"),
    "biased": lambda scores, gain: jax.nn.sigmoid(scores - 0.7 * gain) / 2,
}


@partial(jax.jit, static_argnames="kind")
def stepped(table, gain, eta, kind):
    """One step by automatic differentiation of the closed risk, and what it is worth."""
    on_pair = jnp.isin(jnp.arange(N), jnp.asarray(PAIR))

    def model(directions):
        return TwoHeads(directions, PositionTable(table), lambda scores: KINDS[kind](scores, gain))

    zero = jnp.zeros((2, WIDTH))
    gradient = jax.grad(lambda w: xor_risk(model(w).weights(), on_pair))(zero)
    after = model(zero - eta * gradient)
    weights = after.weights()
    worst = worst_case(weights, on_pair)
    return after.directions[0], weights, worst.error, xor_risk(weights, on_pair)


@pytest.mark.parametrize("kind", KINDS)
def test_one_step_of_xor_agrees_to_1e_9(engine, kind):
    tables = engine("positions", [["signs", 0, N, WIDTH], ["balanced", 1, N, WIDTH]])
    given = [(table, gain) for table in tables for gain in (0.5, 4.0, 30.0)]
    cases = [[table, N, PAIR, gain, kind] for table, gain in given]
    for (table, gain), found in zip(given, engine("xor", cases), strict=True):
        eta = gain * unit_step(N, attention=partial(KINDS[kind], gain=gain))
        with float64():
            own = stepped(jnp.asarray(table).reshape(N, WIDTH), gain, eta, kind)
        direction, weights, error, risk = map(np.asarray, own)
        scale = 1 + np.abs(direction).max()
        np.testing.assert_allclose(found[2], direction, atol=1e-9 * scale)
        np.testing.assert_allclose(found[1], weights, atol=1e-9 * scale)
        np.testing.assert_allclose(found[3]["error"], error, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(found[4], risk, rtol=1e-7, atol=1e-9)


def test_taught_chains_end_in_the_same_scores_and_decision(engine):
    trees = [ParityTree(12, leaves) for leaves in ((0, 2, 3, 7), (1, 4, 8, 11), (0, 1, 2, 3))]
    for samples in (150, 5000):
        own = learn(TeacherStep(eta=usual_step(12, 4)), Sample(trees, samples), key=1)
        cases = [[12, tree.leaves, 1, run, samples] for run, tree in enumerate(trees)]
        for run, found in enumerate(engine("taught", cases)):
            for node, column in enumerate(found["scores"]):
                scores = own.numbers[run][: len(column), node]
                np.testing.assert_allclose(column, scores, rtol=1e-5, atol=1e-5)  # float32
            assert all(found["pairs"]) == bool(own.recovered[run])
            assert found["solved"] == bool(own.solved[run])
            assert abs(found["right"] - own.stats["accuracy"][run]) < 1e-6
            assert abs(found["risk"] - own.risk[run]) < 1e-4


@pytest.mark.slow
def test_levels_end_in_the_same_decision(engine):
    trees = [ParityTree(16, (0, 2, 3, 7)), ParityTree(16, (1, 4, 8, 11))]
    own = learn(Levels(), Sample(trees, 20_000), key=1)
    cases = [[16, tree.leaves, 1, run, 20_000, None] for run, tree in enumerate(trees)]
    for run, found in enumerate(engine("levels", cases)):
        assert found["levels"] == own.stats["levels_per_step"][run].tolist()
        assert found["solved"] == bool(own.solved[run])
        for node, column in enumerate(found["scores"]):
            np.testing.assert_array_equal(column, own.numbers[run][: len(column), node])


def test_the_proved_minimum_is_that_of_the_certificate():
    text = (FOLDER / "engine" / "heads.js").read_text()
    shown = re.search(r"export const MINIMUM = (\[.*?\]);", text, re.S)[1]
    centre = json.loads((CERTIFICATES / "hg1-lemma8-pl.json").read_text())["witness"]["centre"]
    numbers = [[float(Fraction(number)) for number in head] for head in centre]
    assert json.loads(re.sub(r",(\s*\])", r"\1", shown)) == numbers


@pytest.mark.parametrize(
    ("settings", "readout", "tau"),
    [({}, Zigzag(2, 0.01), 1 / 8), ({"readout": "cos", "tau": 0.5}, "cos", 0.5)],
)
def test_the_landscape_is_the_exact_risk_and_a_dot_a_run_of_the_lab(engine, settings, readout, tau):
    (risks,) = engine("surface", [[settings, 8]])
    angles = 2 * np.pi * np.arange(8) / 8
    for first, second in ((0, 3), (1, 1), (6, 2)):
        heads = np.stack([[np.sin(a), np.cos(a)] for a in angles[[first, second]]])
        model = HeadAttention(heads, Circle(8), 2, as_readout(readout, 2), tau)
        own = enumerated_risk(model, Parity(8, (0, 3))).value
        assert risks[8 * first + second] == pytest.approx(own, abs=1e-12)
    (found,) = engine("fall", [[settings, 12]])
    learner = Heads.paper(readout=readout, tau=tau, eta=found["eta"], steps=400)
    runs = learn(learner, Population(Parity(8, (0, 3))), runs=12, key=0)
    own = np.stack([runs.model(run).directions for run in range(12)]).reshape(12, 4)
    np.testing.assert_allclose(found["directions"], own, atol=1e-8)


def test_outlined_traps_hold_the_dots_that_start_in_them(engine):
    """A quarter of all starts, as is proved, and descent from them stays above risk 1."""
    witness = json.loads((CERTIFICATES / "hg1-thm5.json").read_text())["witness"]
    heights = [[float(Fraction(height)) for height in row] for row in witness["heights"]]
    # An odd size: no entry lies between two cells. The heights serve every temperature.
    soft, sharp = engine("traps", [[101, heights, tau] for tau in (1 / 8, 1 / 32)])
    assert 0.25 <= np.mean(np.array(soft) > 0) < 0.28
    assert 0.63 <= np.mean(np.array(sharp) > 0) < 0.68
    (ends,) = engine("trapped", [[heights, 60]])
    stuck = [risk for depth, risk in ends if depth > 0]
    assert len(stuck) > 5
    assert min(stuck) > 1


@pytest.mark.parametrize(
    ("readout", "tau", "loss"),
    [
        ("2*(s-1)^2 - 1", "n/4", "squared_hinge"),
        ("cos(pi*s)", "2*(0.5/n)^t", "log(1 + exp(-m))"),
        ("1 - 4*relu(s-0.5)/sqrt(1+s) - (s - (2 - s)) + 2^-s", "1/n", "mean_hinge_squared"),
    ],
)
def test_a_typed_link_is_the_same_run_in_python(engine, readout, tau, loss):
    given = {"readout": readout, "tau": tau, "loss": loss, "n": 8, "subset": [1, 5]}
    shared = {"optimiser": "adam", "eta": 0.1, "steps": 60}
    ((texts, found),) = engine("own", [[{**given, **shared, "seed": 3}, 6]])
    parts = [eval(text, {"np": np, "jnp": jnp}) for text in texts]
    learner = Heads(**dict(zip(("readout", "tau", "loss"), parts, strict=True)), **shared)
    runs = learn(learner, Population(Parity(8, (1, 5))), runs=6, key=3)
    own = np.stack([runs.model(run).directions for run in range(6)]).reshape(6, 4)
    own = np.column_stack([own, runs.risk, runs.recovered])
    np.testing.assert_allclose(found, own, atol=1e-8)
