"""The same heads with hard attention: each looks at its best position alone."""

import numpy as np
import pytest

from paritylab.learning import Heads, Population, learn
from paritylab.models import HeadAttention
from paritylab.problem import Parity, random_parities
from paritylab.risk import enumerated_risk

X64_MODES = [False]
INPUTS = np.random.default_rng(0).integers(0, 2, (20, 8)).astype(float)


@pytest.mark.parametrize("inputs", ["bits", "signs"])
def test_hard_heads_look_at_one_position_each(inputs):
    problem = Parity(8, (1, 4))
    soft = HeadAttention.at((4, 1), problem, tau=0.5)
    hard = HeadAttention(soft.directions, soft.code, 2, soft.readout, 0.5, inputs=inputs).hard()
    np.testing.assert_array_equal(np.asarray(hard.attention()).argmax(axis=1), [4, 1])
    np.testing.assert_array_equal(np.asarray(hard.attention()).max(axis=1), 1)
    assert enumerated_risk(hard, problem).value == 0
    assert enumerated_risk(soft, problem).value > 0.5


@pytest.mark.parametrize("learner", [Heads.annealed(steps=300), Heads.pair(width=60, gain=6.0)])
def test_trained_heads_harden(learner):
    """Hard attention of heads that rank the hidden bits on top is right on every input; of a pair
    that starts at zero both heads are equal and look at one of its bits."""
    pair = learner.targets == ("pair",)
    data = Population(random_parities(8, 2, 4, sign=-1 if pair else 1))
    runs = learn(learner, data)
    for run in np.flatnonzero(runs.recovered):
        hard = runs.model(run).hard()
        named = set(np.asarray(hard.attention()).argmax(axis=1).tolist())
        if pair:
            assert named < set(runs.subset[run])
        else:
            assert named == set(runs.subset[run])
            assert enumerated_risk(hard, data.targets[run]).value == pytest.approx(0, abs=1e-12)
    assert runs.recovered.any()


def test_the_readout_that_trains_with_the_heads_starts_as_the_zigzag():
    learner = Heads.code(trains=("directions", "readout"), steps=40, eta=0.02)
    runs = learn(learner, Population(Parity(6, (1, 4))), runs=3, trace=20)
    np.testing.assert_allclose(runs.trace["readout.1"][0, 0], [-4.0, 12.0])
    moved = runs.numbers["readout"][1] - runs.trace["readout.1"][:, 0]
    assert (np.abs(moved).max(axis=1) > 1e-3).all()
    frozen = learn(Heads.code(trains="readout", steps=5), Population(Parity(6, (1, 4))), trace=1)
    assert set(frozen.numbers) == {"readout"}
    assert runs.trace["risk"][:, -1].mean() < runs.trace["risk"][:, 0].mean()
