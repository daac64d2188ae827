"""The chain model and its links."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.models import LINKS, ChainModel, SlopedLink, as_link
from paritylab.models.protocol import check_model


@pytest.mark.parametrize("name", LINKS)
def test_links_take_the_product_of_signs_and_are_flat_there(name):
    link = LINKS[name]
    t = jnp.array([-1.0, 0.0, 1.0])
    np.testing.assert_allclose(link(t), [1, -1, 1], atol=1e-6)
    np.testing.assert_allclose(link.slope(t), 0, atol=1e-5)
    grid = jnp.linspace(-1, 1, 401)
    np.testing.assert_allclose(link(grid), link(-grid), atol=1e-6)
    slopes = jnp.asarray([jax.grad(link.__call__)(t) for t in grid[::10]])
    np.testing.assert_allclose(slopes, link.slope(grid[::10]), atol=1e-4)
    assert float(jnp.abs(slopes).max()) <= link.steepest * (1 + 1e-5)
    near = 1e-2
    assert float(link(jnp.asarray(near))) == pytest.approx(-1 + link.curvature * near**2, abs=1e-5)


def test_slope_four_is_the_published_link_and_six_neurons_make_it():
    t = np.linspace(-1, 1, 101)
    inner, outer = 4 * t**2 - 1, -4 * t**2 + 8 * np.abs(t) - 3
    np.testing.assert_allclose(SlopedLink()(t), np.where(np.abs(t) < 0.5, inner, outer), atol=1e-6)
    assert len(SlopedLink(2.2).neurons) == 6


@pytest.mark.parametrize("mask", ["token", "level"])
def test_generation_is_the_fixed_point_of_the_layer(mask):
    rng = np.random.default_rng(1)
    model = ChainModel(rng.normal(size=(15, 7)), 8, as_link("quadratic"), mask)
    signs = jnp.asarray(rng.choice([-1.0, 1.0], (5, 8)))
    tokens = jnp.concatenate([signs, jnp.zeros((5, 7))], axis=1)
    for _ in range(7 if mask == "token" else 3):
        tokens = model.iterate(tokens)
    np.testing.assert_allclose(tokens, model.generate(signs), atol=1e-5)
    bits = (1 - signs[0]) / 2
    np.testing.assert_allclose(model.tokens(bits), tokens[0], atol=1e-5)
    np.testing.assert_allclose(model(bits), tokens[0, -1], atol=1e-5)
    check_model(model, 8)


def test_rounds_until_nothing_changes():
    scores = np.zeros((15, 7))
    for node in range(7):  # every node rests on the token just before it
        scores[[node, 7 + node], node] = 500.0
    signs = jnp.asarray(np.random.default_rng(0).choice([-1.0, 1.0], (16, 8)))
    model = ChainModel(scores, 8)
    rounds, tokens = model.settle(signs)
    assert rounds == 7
    np.testing.assert_allclose(tokens, model.generate(signs), atol=1e-6)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="mask must be"):
        ChainModel.untrained(8, 4, mask="row")
    with pytest.raises(ValueError, match="link must be one of"):
        as_link("cubic")
    with pytest.raises(ValueError, match="slope must be in"):
        SlopedLink(2.0)


@pytest.mark.parametrize("name", LINKS)
def test_a_plain_function_is_a_link(name):
    link = LINKS[name]
    own = as_link(link.__call__)
    t = jnp.linspace(-1, 1, 41)
    np.testing.assert_allclose(own(t), link(t), atol=1e-6)
    np.testing.assert_allclose(own.slope(t), link.slope(t), atol=1e-4)
    assert own.curvature == pytest.approx(link.curvature, rel=1e-6)
    assert own.steepest == pytest.approx(link.steepest, rel=1e-6)
    model = ChainModel.untrained(8, 4, own)
    assert eqx.filter_jit(model)(jnp.zeros(8)).shape == ()


def branch(t):
    return -jnp.cos(jnp.pi * t) if t < 2 else t


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (3, "link must be one of cos, quadratic, gentle, an AbstractLink or an even function"),
        (lambda t: 2 * t**2, r"needs φ\(-1\) = 1, got 2"),
        (lambda t: 2 * jnp.abs(t) - 1 + jnp.sin(2 * jnp.pi * t), "must be even"),
        (branch, "branch branches on its value.*use jnp.where"),
        (lambda t: -math.cos(math.pi * t), "use jax.numpy, such as jnp.cos for math.cos"),
    ],
)
def test_a_wrong_link_gets_one_clear_line(link, message):
    with pytest.raises(ValueError, match=message) as caught:
        as_link(link)
    assert "\n" not in str(caught.value)
