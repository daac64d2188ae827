"""The sizes behind Lemmas 7, 14, 15, 16 against automatic differentiation of each function."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.claims.hg1.example_gradients import example_loss, prediction
from paritylab.claims.hg1.smoothness import _shares
from paritylab.precision import float64


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_sizes_are_those_of_automatic_differentiation(seed):
    generator = np.random.default_rng(seed)
    directions, bits = generator.normal(size=(2, 2)), generator.integers(0, 2, 8).astype(float)
    settings = {"tau": 0.3, "b": 0.05}

    def half_square(a, x):
        return prediction(a, x, **settings) ** 2 / 2

    with float64():
        flat = jnp.ravel(directions)
        functions = (
            lambda a, x: prediction(a, x, **settings),
            half_square,
            lambda a, x: example_loss(a, x, **settings),
        )
        slope = jax.grad(lambda a: functions[0](a.reshape(2, 2), bits))(flat)
        hessians = [jax.hessian(lambda a, f=f: f(a.reshape(2, 2), bits))(flat) for f in functions]
        expected = [jnp.linalg.norm(slope), *map(jnp.linalg.norm, hessians)]
        found = _shares(directions, bits, np.array([0.3, 1.0, 1.0, 1.0, 1.0]), 0.05)
        np.testing.assert_allclose(found, jnp.stack(expected), rtol=1e-9, atol=1e-12)
