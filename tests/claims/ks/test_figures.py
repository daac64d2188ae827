"""The filter of Figure 2 (b) does what is drawn for every draw that Lemma 10 allows."""

import numpy as np

from paritylab.claims.ks.setup import LEAVES, _figure2b
from paritylab.problem import ParityTree

TREE = ParityTree(16, LEAVES)


def strings(seed):
    return np.random.default_rng(seed).choice([-1.0, 1.0], (64, 16))


def test_the_filter_does_not_depend_on_the_draw():
    assert all(all(_figure2b(TREE, strings(seed)).values()) for seed in range(3))


def test_strings_with_a_constant_token_mislead_the_filter():
    signs = strings(0)
    signs[:, 5] = -1
    assert not any(_figure2b(TREE, signs).values())
