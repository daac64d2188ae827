"""Classical solvers as learners: the rows that others see, abstention, rows of one's own."""

import jax
import numpy as np
import pytest

from paritylab.learning import Result, Rows, Sample, learn
from paritylab.learning.classical_solvers import Auto, Correlation
from paritylab.learning.runs import run_keys
from paritylab.problem import Parity
from paritylab.problem.sampling import draw_bits

X64_MODES = [False]


def planted(n, k, noise, rows, seed, *, sign=1):
    """Bits, labels ±1 and the hidden subset."""
    generator = np.random.default_rng([seed, n, k, rows])
    bits = (generator.random((rows, n)) < 0.5).astype(np.uint8)
    subset = tuple(sorted(generator.choice(n, k, replace=False).tolist()))
    labels = sign * (1 - 2 * (bits[:, subset].sum(axis=1) % 2).astype(int))
    return bits, np.where(generator.random(rows) < noise, -labels, labels), subset


def test_solvers_see_the_rows_that_other_learners_see():
    """Heads draw their rows by fold_in(key, 2) of the run's key; so do solvers."""
    target = Parity(8, (1, 4), noise=0.2)
    runs = learn(Auto(), Sample(target, 150), runs=2, key=4)
    key = jax.random.fold_in(run_keys(4, 1, 1)[0], 2)
    bits, flips = draw_bits(key, target.probabilities, 0.2, 150, True)
    assert runs.recovered.all()
    assert runs.kind == "exact"
    assert runs.stats["noise_rate"][1] == np.mean(np.asarray(flips) < 0)
    assert bits.shape == (150, 8)


def test_a_learner_abstains_and_says_so():
    runs = learn(Correlation(), Sample(Parity(30, (1, 2, 3), noise=0.3), 40), runs=2)
    assert runs.result == [Result.ABSTAINED] * 2
    assert runs.subset == [None, None]
    assert (runs.risk == 1).all()
    assert float(runs.model(0)(np.zeros(30))) == 0


def test_rows_of_ones_own():
    bits, labels, hidden = planted(30, 3, 0.1, 150, seed=0, sign=-1)
    runs = learn(Auto(alpha=0.001), Rows(bits, labels))
    assert runs.subset == [hidden]
    assert runs.result == [Result.SOLVED]
    model = runs.model(0)
    fits = np.mean([float(model(row)) == label for row, label in zip(bits, labels, strict=True)])
    assert fits == pytest.approx(runs.stats["agreement"][0])
