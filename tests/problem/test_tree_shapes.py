"""Trees of other arity and shape, with noise: tokens against the children they multiply."""

import numpy as np
import pytest

from paritylab.problem import ParityTree, random_trees
from paritylab.problem.tree import token_masks

SHAPES = [
    (2, "balanced", (5, 0, 3, 7)),
    (3, "balanced", (5, 0, 3, 7, 1, 8, 2, 9, 4)),
    (2, "line", (5, 0, 3, 7, 1)),
    (3, "line", (5, 0, 3, 7, 1)),
    (2, "line", (5, 0)),
]


@pytest.mark.parametrize(("arity", "shape", "leaves"), SHAPES)
def test_every_node_is_the_product_of_its_children(arity, shape, leaves):
    tree = ParityTree(10, leaves, arity=arity, shape=shape)
    signs = 1.0 - 2 * np.random.default_rng(0).integers(0, 2, (20, 10))
    tokens = np.asarray(tree.tokens(signs))
    assert tokens.shape == (20, tree.size)
    for node, children in enumerate(tree.children):
        assert len(children) == arity
        np.testing.assert_array_equal(tokens[:, 10 + node], tokens[:, children].prod(axis=1))
    np.testing.assert_array_equal(tokens[:, -1], signs[:, leaves].prod(axis=1))
    assert token_masks(tree)[-1] == sum(1 << leaf for leaf in leaves)
    assert len(tree.levels) == tree.nodes
    assert tree.ends[-1] == tree.size


def test_noise_belongs_to_the_label():
    (tree,) = random_trees(12, 4, 1, noise=0.1)
    assert tree.problem.noise == 0.1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"leaves": (0, 1, 2, 3), "arity": 3}, "k = 3, 9, 27, …, got k=4; nearest: 3 and 9"),
        ({"leaves": (0, 1, 2, 3), "arity": 3, "shape": "line"}, "k = 3, 5, 7, …"),
        ({"leaves": (0, 1), "shape": "ring"}, "shape must be one of balanced, line"),
        ({"leaves": (0, 1), "noise": 0.6}, "noise"),
        ({"leaves": (0,)}, "k = 2, 4, 8, …"),
    ],
)
def test_trees_that_cannot_be_are_one_line(settings, words):
    with pytest.raises(ValueError, match=words) as raised:
        ParityTree(10, **settings)
    assert "\n" not in str(raised.value)
