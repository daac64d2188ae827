"""Layers that hide the chain: the same as KS's generation where they should be."""

import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.models import ChainModel, LayeredChain
from paritylab.models.chain import visible_tokens

X64_MODES = [False]
SCORES = np.random.default_rng(0).normal(size=(15, 7)) * 3
SIGNS = np.random.default_rng(1).choice([-1.0, 1.0], (50, 8))


@pytest.mark.parametrize("gates", [None, np.ones((3, 7))])
def test_tied_layers_are_ks_generation(gates):
    with float64():
        seen = visible_tokens(8, 8, "prev")
        theirs = ChainModel(np.where(seen, SCORES, -np.inf), 8).generate(jnp.asarray(SIGNS))
        ours = LayeredChain(SCORES, 8, gates=gates, tied=True)
        np.testing.assert_allclose(ours.generate(jnp.asarray(SIGNS)), theirs, atol=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_prescribed_gates_are_gates_that_open_one_level(tied):
    gates = np.zeros((3, 7))
    gates[0, :4] = gates[1, 4:6] = gates[2, 6] = 1
    with float64():
        short = LayeredChain(SCORES, 8, tied=tied).generate(jnp.asarray(SIGNS))
        long = LayeredChain(SCORES, 8, gates=gates, tied=tied)
        np.testing.assert_allclose(long.generate(jnp.asarray(SIGNS)), short, atol=1e-12)


def test_masks_say_what_a_node_sees():
    """Those of KS, "level" and "token": tests/claims/ks/test_true_by_definition.py."""
    seen = visible_tokens(8, 8, "prev")
    assert seen.sum(axis=0).tolist() == [8, 8, 8, 8, 4, 4, 2]
    assert np.flatnonzero(seen[:, 4]).tolist() == [8, 9, 10, 11]
    attention = np.asarray(ChainModel.untrained(8, 8, mask="level").attention())
    np.testing.assert_allclose(attention.sum(axis=0), 1, rtol=1e-6)
    assert (attention[~visible_tokens(8, 8, "level")] == 0).all()


def test_unwritten_levels_are_zero():
    half = LayeredChain(SCORES, 8).generate(jnp.asarray(SIGNS), 1)
    assert (np.asarray(half)[:, 12:] == 0).all()
    assert (np.asarray(half)[:, 8:12] != 0).all()
