"""What is particular to the neighbours' learners; the contract has its own tests."""

from dataclasses import replace

import numpy as np
import pytest

from paritylab.claims.barak.progress import first_gradient, names_the_set
from paritylab.learning import Fresh, HingeNet, Population, SignDescent, learn
from paritylab.learning.neighbours.strings import draw_strings
from paritylab.learning.runs import run_keys
from paritylab.models.shallow import ShallowNet
from paritylab.problem import Junta, Parity, random_parities
from paritylab.theory.neighbours import fourier_gap, sign_path

X64_MODES = [False]  # learners choose their own precision


@pytest.mark.parametrize(
    "target",
    [
        Parity(11, (0, 7, 8), sign=-1),
        Parity(11, (2, 9), bias=0.2),
        Junta.majority(11, (1, 5, 10)),
    ],
)
def test_strings_carry_the_labels_of_their_target(target):
    rows = draw_strings(np.random.default_rng(0), target, (40, 50))
    bits = np.unpackbits(rows.packed, axis=-1, count=11)
    np.testing.assert_array_equal(rows.labels, np.asarray(target.label(bits)))
    assert bits.mean() == pytest.approx(np.mean(target.probabilities), abs=0.02)


def test_noise_flips_its_share_and_a_mixture_shares_its_signs():
    target = Parity(11, (0, 7, 8), noise=0.2)
    rows = draw_strings(np.random.default_rng(0), target, (4000,), mixture=0.5)
    bits = np.unpackbits(rows.packed, axis=-1, count=11)
    clean = np.asarray(replace(target, noise=0.0).label(bits))
    assert np.mean(rows.labels != clean) == pytest.approx(0.2, abs=0.03)
    same = np.isin(bits[:, [0, 7, 8]].sum(axis=1), (0, 3))
    assert same.mean() == pytest.approx(0.5 + 0.5 / 4, abs=0.03)


def test_the_antisymmetric_start_predicts_nothing():
    net = ShallowNet.antisymmetric(3, 10, 8)
    bits = np.random.default_rng(0).integers(0, 2, (20, 10)).astype(float)
    made = [float(net(each)) for each in bits]
    np.testing.assert_allclose(made, 0, atol=1e-6)


def test_frozen_nets_keep_their_hidden_layer():
    options = {"width": 16, "steps": 20, "decay": 0.1}
    runs = learn(HingeNet(frozen=True, **options), Fresh(Parity(8, (1, 4)), 8), runs=2, trace=5)
    np.testing.assert_array_equal(runs.trace["moved"], 0)
    moving = learn(HingeNet(**options), Fresh(Parity(8, (1, 4)), 8), runs=2, trace=5)
    assert (moving.trace["moved"][:, 1:] > 0).all()
    first, still = moving.trace["squares"][:, 0], runs.trace["squares"]
    np.testing.assert_array_equal(still, np.repeat(first[:, None], still.shape[1], axis=1))
    assert (moving.trace["squares"][:, -1] != first).all()


def test_sign_descent_on_the_population_follows_the_closed_form():
    learner, targets = SignDescent(steps=15), random_parities(12, 3, 3, sign=-1)
    runs = learn(learner, Population(targets))
    path = sign_path(3, 0.1, 1.0, 0.1, 15)
    for weights, target in zip(runs.numbers["hidden"], targets, strict=True):
        hidden = np.abs(weights[:, list(target.subset)])
        off = np.delete(np.abs(weights), target.subset, axis=1)
        np.testing.assert_allclose(off, path.off[-1], atol=1e-6)
        near = np.minimum(np.abs(hidden - path.kept[-1]), np.abs(hidden - abs(path.lost[-1])))
        assert near.max() < 1e-6


def test_the_first_gradient_has_the_means_of_majority():
    target, rows = Parity(9, (1, 4)), 200_000
    gradient, named = first_gradient(target, rows, run_keys(0, 0, 1)[0])
    gap = fourier_gap(9, 2)
    means = np.where(target.indicator > 0, gap.on, gap.off) / 2
    np.testing.assert_allclose(np.abs(gradient), means, atol=5 / np.sqrt(rows))
    assert named == target.subset
    assert names_the_set([target], rows, run_keys(0, 0, 1)).all()
