"""Layers behind `learn`: closed forms against autodiff, and what each part does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.learning import Layers, Sample, learn
from paritylab.learning.chain.layers import level_gradient
from paritylab.learning.chain.wide import wide_layers
from paritylab.models import LayeredChain
from paritylab.problem import ParityTree, random_tree, random_trees
from paritylab.problem.tree import level_ends

X64_MODES = [False]
TREE = ParityTree(8, (0, 2, 5, 6, 1, 3, 4, 7))


@pytest.mark.parametrize("gates", [None, 0.5])
def test_a_stage_is_the_gradient_of_its_layer(gates):
    generator = np.random.default_rng(3)
    ends = level_ends(0, 8)
    first = np.zeros((15, 7))
    first[:, : ends[1]] = generator.normal(size=(15, ends[1]))  # layer 1 is trained, layer 2 not
    opened = None if gates is None else np.full((3, 7), gates)
    with float64():
        tokens = TREE.tokens(jnp.asarray(generator.choice([-1.0, 1.0], (60, 8))))

        def loss(scores):
            model = LayeredChain(scores, 8, gates=opened)
            made = model.generate(tokens[:, :8], 2)
            return jnp.sum((made - tokens)[:, 8 + ends[1] : 8 + ends[2]] ** 2) / 2

        expected = np.array(jax.grad(loss)(jnp.asarray(first)))
        expected[:, : ends[1]] = 0  # lower layers stay as they are
        if gates is not None:
            opened = jnp.asarray(opened)
        model = LayeredChain(jnp.asarray(first), 8, gates=opened)
        hidden = model.generate(tokens[:, :8], 1)
        closed = level_gradient(model, 1, hidden, tokens, jnp.ones(60, bool))
        np.testing.assert_allclose(np.asarray(closed), expected, atol=1e-6)


DATA = Sample(random_trees(20, 8, 3, key=2), 6000)


@pytest.mark.parametrize("change", [{}, {"schedule": "staged"}, {"gates": "learnt"}])
def test_a_hidden_tree_is_learnt(change):
    runs = learn(Layers(**change), DATA)
    assert runs.solved.all()
    assert runs.subset[0] == tuple(sorted(DATA.targets[0].leaves))
    model = runs.model(1)
    assert isinstance(model, LayeredChain)
    if "gates" in change:
        gates = np.asarray(model.gates)
        assert (gates[1, :4] < 0.2).all()  # layer 2 has learnt to leave level 1 alone
        assert (gates[[0, 1, 2], [0, 4, 6]] > 0.9).all()


def test_hiding_everything_from_the_start_learns_nothing():
    assert not learn(Layers(schedule="at-once"), DATA).solved.any()


def test_wide_layers_find_what_the_learner_finds():
    tree = random_tree(3, 32, 16)
    made = wide_layers(tree, 1, 9000, rows=2048)
    judged = made.forward(2, inputs=512, part=256)
    assert made.pairs_found() == judged.right == judged.hidden_right == 1
    few = wide_layers(tree, 1, 64, rows=64)
    assert few.pairs_found() < 1
    assert few.forward(2, inputs=256, part=256).right < 0.9
    with pytest.raises(ValueError, match="multiple of 32"):
        wide_layers(tree, 1, 100, rows=33)
