"""What heads with the cos readout see of a junta, against enumeration and the learner's step."""

import numpy as np
import pytest

from paritylab.learning.heads.one_step import set_forces
from paritylab.problem import Junta, random_junta
from paritylab.problem.junta import bit_patterns
from paritylab.theory.juntas import pulls, visible


@pytest.mark.parametrize("seed", range(4))
def test_heads_see_the_visible_sets_and_no_others(seed):
    """E[f cos πs] by the formula of theory.juntas, against the mean over all inputs."""
    junta = random_junta(seed, 8, 2 + seed % 4)
    weights = np.random.default_rng(seed).dirichlet(np.ones(8)) * junta.k
    bits = bit_patterns(8).astype(float)
    hidden = bits[:, list(junta.subset)].astype(int)
    labels = junta.values[hidden @ (1 << np.arange(junta.k))]
    mean = np.mean(labels * np.cos(np.pi * bits @ weights))
    sine, cosine = np.sin(np.pi / 2 * weights), np.cos(np.pi / 2 * weights)
    formula = sum(
        (-1) ** ((junta.k - len(seen)) // 2)
        * coefficient
        * np.where(np.isin(np.arange(8), seen), sine, cosine).prod()
        for seen, coefficient in visible(junta).items()
    )
    assert formula == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    "junta",
    [
        Junta.majority(40, (3, 9, 20)),
        Junta.multiplexer(40, (3,), (9, 20)),
        Junta.staircase(40, (9, 3, 20)),
    ],
)
def test_pulls_are_the_forces_of_the_learner_to_leading_order(junta):
    forces = set_forces(junta)
    found = forces[list(junta.subset)] - forces[0]
    expected = np.array(list(pulls(junta).values()))
    assert found @ expected / np.linalg.norm(found) / np.linalg.norm(expected) > 0.95
