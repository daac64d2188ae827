"""The tree of 2-parities: indices as in the paper's figure, labels."""

import numpy as np

from paritylab.problem import ParityTree
from paritylab.problem.tree import level_ends

FIGURE1 = ParityTree(16, (0, 3, 6, 7, 9, 11, 12, 15))


def test_indices_of_the_figure():
    """Figure 1 counts from 1: x_17 = x_1·x_4, its parent is 21, its level 1."""
    assert FIGURE1.children[0].tolist() == [0, 3]
    parent = {child: 16 + at for at, pair in enumerate(FIGURE1.children.tolist()) for child in pair}
    assert parent[16] == 20
    assert set(parent) == {*FIGURE1.leaves, *range(16, 22)}
    assert FIGURE1.levels.tolist() == [1, 1, 1, 1, 2, 2, 3]
    assert FIGURE1.ends == (16, 20, 22, 23) == level_ends(16, 8)
    assert FIGURE1.size == 23


def test_every_token_is_the_product_of_its_children_and_the_root_is_the_parity():
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (50, 16))
    tokens = np.asarray(FIGURE1.tokens(signs))
    left, right = FIGURE1.children.T
    np.testing.assert_array_equal(tokens[:, 16:], tokens[:, left] * tokens[:, right])
    bits = ((1 - signs) / 2).astype(int)
    np.testing.assert_array_equal(tokens[:, -1], FIGURE1.problem.label(bits))
