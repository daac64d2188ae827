"""Learners meet juntas: what they find, what they keep on disk, what they refuse and why."""

import numpy as np
import pytest

from paritylab import (
    Descent,
    Heads,
    Junta,
    PiecewiseLinear,
    Population,
    Runs,
    Sample,
    enumerated_risk,
    learn,
)
from paritylab.models import parity_network
from paritylab.problem import Parity
from paritylab.risk import population_risk

X64_MODES = [False]


def test_heads_learn_a_conjunction_from_the_population_and_are_kept(tmp_path):
    junta = Junta.conjunction(10, (2, 7), noise=0.05)
    runs = learn(Heads.code(steps=300, tau=0.1), Population(junta), runs=8)
    assert runs.kind == "exact"
    assert runs.rate().value > 0.3
    best = int(np.argmin(runs.risk))
    assert runs.risk[best] == pytest.approx(population_risk(runs.model(best), junta).value)
    again = Runs.load(runs.save(tmp_path / "runs.npz"))
    assert again.targets == runs.targets
    assert again.model(best).readout == runs.model(best).readout


@pytest.mark.slow
def test_heads_learn_a_real_staircase_with_a_readout_of_their_own():
    junta = Junta.from_parities(9, {(1,): 0.5, (1, 6): 0.5})
    readout = PiecewiseLinear((0, 1, 2), (1, -0.5, 0))
    runs = learn(Heads(readout=readout, loss="squared", steps=5), Population(junta), runs=2)
    assert runs.loss == "squared"
    exact = [enumerated_risk(model, junta, "squared").value for model in runs.models]
    assert np.allclose(runs.risk, exact)
    rows = learn(Heads(readout=readout, loss="squared", steps=5), Sample(junta, 50), runs=2)
    assert np.isfinite(rows.risk).all()


@pytest.mark.slow
def test_annealed_heads_descend_the_correlation_with_a_junta():
    junta = Junta.majority(9, (1, 4, 6))
    runs = learn(Heads.annealed(steps=50), Population(junta), runs=2)
    found = population_risk(runs.model(0), junta, loss="log_correlation")
    assert np.exp(-found.value) == pytest.approx(runs.stats["correlation"][0], rel=1e-6)
    # All coefficients of not-all-equal belong to even sets: no weights of sum 3 see them.
    blind = learn(Heads.annealed(steps=50), Population(Junta.not_all_equal(9, (1, 4, 6))), runs=2)
    assert np.all(blind.stats["correlation"] < 1e-200)


def test_descent_takes_all_inputs_of_a_junta():
    junta = Junta.majority(5, (0, 2, 3), noise=0.1)
    network = parity_network(Parity(5, (0, 2, 3)))
    runs = learn(Descent(network, steps=2), Population(junta))
    assert runs.risk[0] == pytest.approx(enumerated_risk(runs.model(0), junta).value)
