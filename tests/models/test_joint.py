"""Heads with a trainable feed-forward head."""

import numpy as np

from paritylab.models import HeadAttention, JointAttention
from paritylab.problem import Parity


def test_the_papers_head_as_a_network_predicts_the_same():
    problem = Parity(7, (1, 3, 5))
    heads = HeadAttention.random(0, problem, tau=0.3)
    joint = JointAttention.from_zigzag(heads)
    for seed in range(5):
        bits = np.random.default_rng(seed).integers(0, 2, 7).astype(float)
        np.testing.assert_allclose(joint(bits), heads(bits), rtol=1e-4, atol=1e-5)


def test_parameters_go_out_and_back_in():
    joint = JointAttention.from_random(HeadAttention.random(0, Parity(7, (1, 3))), 1, width=5)
    changed = joint.with_parameters({**joint.parameters(), "directions": np.zeros((2, 2))})
    assert np.asarray(changed.heads.directions).sum() == 0
    assert changed.network.output.shape == (5,)
