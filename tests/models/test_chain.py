"""The chain model and its links."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.models import LINKS, ChainModel, SlopedLink, as_link
from paritylab.models.chain import visible_tokens


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
    one = model((1 - signs[0]) / 2)
    np.testing.assert_allclose(one, tokens[0], atol=1e-5)


def test_masks():
    token, level = visible_tokens(8, 4, "token"), visible_tokens(8, 4, "level")
    assert token.sum(axis=0).tolist() == [8, 9, 10]
    assert level.sum(axis=0).tolist() == [8, 8, 10]
    attention = np.asarray(ChainModel.untrained(8, 4, mask="level").attention())
    np.testing.assert_allclose(attention.sum(axis=0), 1, rtol=1e-6)
    assert (attention[~level] == 0).all()
    assert ChainModel.untrained(8, 4).count() == (27, 121)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="mask must be"):
        ChainModel.untrained(8, 4, mask="row")
    with pytest.raises(ValueError, match="link must be one of"):
        as_link("cubic")
    with pytest.raises(ValueError, match="slope must be in"):
        SlopedLink(2.0)
