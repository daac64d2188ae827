"""The chain model and its links."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.models import LINKS, ChainModel, as_link
from paritylab.models.protocol import check_model


@pytest.mark.parametrize("name", LINKS)
def test_links_take_the_product_of_signs_and_are_flat_there(name):
    link, grid, near = LINKS[name], jnp.linspace(-1, 1, 401), 1e-2
    t = jnp.array([-1.0, 0.0, 1.0])
    np.testing.assert_allclose(link(t), [1, -1, 1], atol=1e-6)
    np.testing.assert_allclose(link.slope(t), 0, atol=1e-5)
    np.testing.assert_allclose(link(grid), link(-grid), atol=1e-6)
    slopes = jax.vmap(jax.grad(link.__call__))(grid)
    np.testing.assert_allclose(slopes, link.slope(grid), atol=1e-4)
    assert float(jnp.abs(slopes).max()) <= link.steepest * (1 + 1e-5)
    assert float(link(jnp.asarray(near))) == pytest.approx(-1 + link.curvature * near**2, abs=1e-5)


@pytest.mark.parametrize("name", LINKS)
def test_a_plain_function_is_a_link(name):
    link, t = LINKS[name], jnp.linspace(-1, 1, 41)
    own = as_link(link.__call__)
    np.testing.assert_allclose(own(t), link(t), atol=1e-6)
    np.testing.assert_allclose(own.slope(t), link.slope(t), atol=1e-4)
    assert own.curvature == pytest.approx(link.curvature, rel=1e-6)
    assert own.steepest == pytest.approx(link.steepest, rel=1e-6)
    assert eqx.filter_jit(ChainModel.untrained(8, 4, own))(jnp.zeros(8)).shape == ()


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
