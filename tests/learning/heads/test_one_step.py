"""One normalised step from zero: any k, any code, what was trained can be rebuilt."""

import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.learning import OneStep, Population, learn
from paritylab.learning.heads.one_step import set_forces
from paritylab.models import Cosine, HeadAttention, RandomSigns
from paritylab.problem import Parity, random_parities
from paritylab.risk import enumerated_risk, model_gradient

X64_MODES = [False]


def test_the_force_on_fair_bits_is_the_indicator_without_its_mean():
    target = Parity(20, (2, 7, 11), noise=0.2)
    np.testing.assert_allclose(set_forces(target), target.indicator - 3 / 20, atol=1e-12)


@pytest.mark.parametrize("bias", [0.5, 0.4])
def test_the_step_follows_the_exact_gradient(bias):
    target = Parity(12, (1, 4, 9), bias=bias)
    runs = learn(OneStep(width=10, gain=3.0), Population(target), key=2)
    model = runs.model(0)
    zero = model.with_parameters(np.zeros((3, 10)))
    gradient = np.asarray(model_gradient(zero, target, loss="log_correlation").gradient)[0]
    step = runs.numbers[0, 0]
    assert -gradient @ step / np.linalg.norm(gradient) / np.linalg.norm(step) == pytest.approx(1)


@pytest.mark.grid(2)
@pytest.mark.parametrize("positions", ["signs", "balanced", "onehot", np.eye(12)[:, :7]])
def test_what_is_rebuilt_is_what_was_trained(positions):
    width = 20 if isinstance(positions, str) and positions != "onehot" else None
    learner = OneStep(width=width, positions=positions)
    runs = learn(learner, Population(random_parities(12, 3, 3, noise=0.1)), trace=1)
    model = runs.model(1)
    assert isinstance(model, HeadAttention)
    assert isinstance(model.readout, Cosine)
    signs = isinstance(positions, str) and positions in ("signs", "balanced")
    assert isinstance(model.code, RandomSigns) == signs
    exact = enumerated_risk(model, runs.targets[1])
    assert runs.risk[1] == pytest.approx(exact.value, abs=1e-9)
    with float64():
        weights = np.asarray(model.weights())
        bits = ((np.arange(1 << 12)[:, None] >> np.arange(12)) & 1).astype(float)
    off = np.abs(bits @ weights - bits @ runs.targets[1].indicator).max()
    assert runs.stats["deviation"][1] == pytest.approx(off, abs=1e-9)
    assert runs.trace["directions"].shape == (3, 1, *runs.numbers.shape[1:])


def test_a_wide_code_is_right_on_every_input_and_a_narrow_one_is_not():
    targets = random_parities(64, 3, 12)
    wide, narrow = (learn(OneStep(width=w), Population(targets)) for w in (2000, 8))
    assert wide.recovered.all()
    assert wide.rate("solved").value > 0.9
    assert (wide.stats["deviation"] < 0.5).mean() > 0.9
    assert narrow.rate().value < 0.5
    part = learn(OneStep(width=8), Population(targets[3:5]), first_run=3)
    np.testing.assert_array_equal(part.numbers, narrow.numbers[3:5])


def test_the_whole_set_is_already_right():
    runs = learn(OneStep(width=6), Population(Parity(5, (0, 1, 2, 3, 4))))
    assert runs.solved.all()
    assert runs.recovered.all()
