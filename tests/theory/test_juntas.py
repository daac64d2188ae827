"""What heads with the cos readout see of a junta, against enumeration and the learner's step."""

import numpy as np
import pytest

from paritylab.learning.heads.one_step import named_after_step, set_forces
from paritylab.problem import Junta, random_junta
from paritylab.problem.junta import bit_patterns
from paritylab.theory.juntas import pulls, visible


@pytest.mark.parametrize("seed", range(8))
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
    off = forces[0]
    found = np.array([forces[j] - off for j in junta.subset])
    told = np.array([pulls(junta)[j] for j in junta.subset])
    cosine = found @ told / np.linalg.norm(found) / np.linalg.norm(told)
    assert cosine > 0.95


def test_a_wide_step_names_what_is_pulled_most():
    generator = np.random.default_rng(0)
    forces = set_forces(Junta.conjunction(12, (1, 4, 7)))
    assert named_after_step(forces, 3, 4000, generator) == (1, 4, 7)
    assert named_after_step(np.zeros(12), 3, 40, generator) is None
