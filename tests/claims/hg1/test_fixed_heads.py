"""Heads on fixed attention: hard ones, large weights, the repaired margin."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.claims.hg1.fixed_heads import (
    circle_attention,
    hard_features,
    repaired_margin,
    risk_with_averaged_ties,
    smallest_worst_risk,
    solving_heads,
)
from paritylab.learning.hardness.frozen import every_input
from paritylab.precision import float64
from paritylab.theory import hg1


def test_hard_heads_obey_corollary_20_unless_ties_are_averaged():
    found = smallest_worst_risk(4, 1, draws=40)
    assert found.any_size >= found.each_size >= hg1.fixed_hard_attention(4, 1)
    assert smallest_worst_risk(4, 4, draws=0).any_size == 0  # a head for every bit
    assert risk_with_averaged_ties(5) == 0
    assert risk_with_averaged_ties(6) > 0


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 5])
def test_hard_heads_obey_the_linear_bound_for_every_size_of_the_set(heads):
    found = smallest_worst_risk(6, heads, draws=40)
    assert found.each_size >= hg1.fixed_hard_attention_linear(6, heads) - 1e-12


def test_a_hard_head_asks_two_positions_on_average():
    """The argument of the linear bound, with orders and preferred bits of every kind."""
    generator, bits = np.random.default_rng(0), every_input(7)
    for _ in range(20):
        base, slope = generator.normal(size=(2, 1, 7))
        order = np.argsort(-np.maximum(base, base + slope)[0])
        preferred = (slope[0] > 0)[order]
        hit = bits[:, order] == preferred
        asked = np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, 7)
        assert asked.mean() <= 2
        seen = hard_features(bits, base, slope, average=False)
        for place, position in enumerate(order):
            flipped = np.arange(len(bits)) ^ (1 << int(position))
            unasked = asked <= place
            np.testing.assert_array_equal(seen[unasked], seen[flipped][unasked])


def test_the_repaired_margin_is_the_risk_less_the_bound():
    margin, draw = repaired_margin(5, 2, 0.1)
    with float64():
        shapes, _ = jax.eval_shape(draw, jax.random.key(0))
        # Hidden neurons that never fire predict the offset: risk 1 at 0, and 2 at 1.
        silent = {name: jnp.ones(each.shape) for name, each in shapes.items()}
        silent |= {"threshold": jnp.full((16,), -9.0), "offset": jnp.zeros(())}
        expected = 1 - hg1.fixed_attention_repaired(5, 2, 0.1)
        assert float(margin(silent, 0.0)) == pytest.approx(expected)
        assert float(margin({**silent, "offset": jnp.ones(())}, 0.0)) == pytest.approx(expected + 1)


def test_circle_attention_is_what_heads_on_the_circle_attend_to():
    weights = circle_attention(6, 3)
    assert weights.sum() == pytest.approx(1)
    assert weights.max() / weights.min() < np.exp(2)


def test_large_weights_solve_parity_on_fixed_attention():
    found = solving_heads(5, 2, [(0,), (1, 3)])
    assert found.sets == 2
    assert found.risk < 1e-12
    assert found.norms_low > 100
    assert solving_heads(5, 2).sets == 1
