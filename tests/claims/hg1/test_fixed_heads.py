"""Heads on fixed attention: hard ones, large weights, the repaired margin."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.experiments.hg1_fixed_heads import (
    fixed_attention_margin,
    hard_features,
    smallest_worst_risk,
)
from paritylab.learning.hardness.frozen import every_input
from paritylab.theory import hg1


def test_hard_heads_obey_the_bounds_unless_ties_are_averaged():
    for heads in (1, 2, 3):
        any_size, each_size = smallest_worst_risk(5, heads, draws=10)
        assert any_size >= each_size >= hg1.fixed_hard_attention_ranked(5, heads) - 1e-12
        assert any_size >= hg1.fixed_hard_attention(5, heads)
    assert smallest_worst_risk(4, 4, draws=0)[0] == 0  # a head for every bit
    assert smallest_worst_risk(5, 1, draws=0, average=True)[1] == 0


def test_a_hard_head_asks_two_positions_on_average():
    """The argument of the ranked bound, with orders and preferred bits of every kind."""
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


def test_the_margin_is_the_risk_less_the_bound():
    margin, draw = fixed_attention_margin(5, 2)
    margin = jax.jit(margin)
    with float64():
        drawn, _ = draw(np.random.default_rng(0))
        # Hidden neurons that never fire predict the offset: risk 1 at 0, and 2 at 1.
        silent = {name: jnp.ones(np.shape(each)) for name, each in drawn.items()}
        silent |= {"threshold": jnp.full((16,), -9.0), "offset": jnp.zeros(())}
        silent |= {"tokens": jnp.eye(2), "places": jnp.eye(5)}
        case = {"share": 0.1, "positional": False, "bound": 0.25}
        assert float(margin(silent, 0.0, case)) == pytest.approx(0.75)
        at_one = {**silent, "offset": jnp.ones(())}
        assert float(margin(at_one, 0.0, case)) == pytest.approx(1.75)


def test_heads_that_look_for_the_next_one_gain_more_than_positions_can():
    """n heads, each on the first one from its own place: the constant 1/2 needs fixed scores."""
    n, share = 10, 0.2
    bits = every_input(n)
    ahead = (np.arange(n)[None] - np.arange(n)[:, None]) % n
    seen = np.stack([np.where(bits > 0, -row, -row - 2 * n).argmax(axis=1) for row in ahead])
    v = np.mean(seen == 0, axis=0)  # how many of them attend to position 0, embedded as e_0
    labels, norms = 1 - 2 * bits[:, 0], share * n / np.sqrt(2)
    offsets = np.linspace(-1, 1, 401)[:, None]
    risks = np.mean(np.maximum(0, 1 - labels * (offsets - norms * v)) ** 2, axis=1)
    assert hg1.fixed_attention(n, norms, np.sqrt(2)) < risks.min() - 0.05
    assert risks.min() < hg1.fixed_attention(n, norms, np.sqrt(2), positional=True) - 0.01


def test_one_bit_attains_the_bound_for_fixed_scores():
    share = 0.6  # one position, tokens 1 apart, a net of norm 0.6 and any offset
    risks = [
        np.mean(np.maximum(0, 1 - np.array([1, -1]) * (a - share * np.array([0, 1]))) ** 2)
        for a in np.linspace(-1, 1, 201)
    ]
    assert min(risks) == pytest.approx(hg1.fixed_attention(1, share, 1.0, positional=True))
