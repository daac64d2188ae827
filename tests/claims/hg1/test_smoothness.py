"""The sizes behind Lemmas 7, 14, 15, 16 against automatic differentiation of each function."""

import jax
import jax.numpy as jnp
import numpy as np

from paritylab._support.precision import float64
from paritylab.experiments.hg1_example_gradients import example_loss, prediction
from paritylab.experiments.hg1_smoothness import shares_of_constants


def test_sizes_are_those_of_automatic_differentiation():
    generator = np.random.default_rng(0)
    directions, bits = generator.normal(size=(2, 2)), generator.integers(0, 2, 8).astype(float)
    tau, b = 0.3, 0.05
    functions = (
        lambda a: prediction(a.reshape(2, 2), bits, tau=tau, b=b),
        lambda a: prediction(a.reshape(2, 2), bits, tau=tau, b=b) ** 2 / 2,
        lambda a: example_loss(a.reshape(2, 2), bits, tau=tau, b=b),
    )
    with float64():
        flat = jnp.ravel(directions)
        sizes = [jax.grad(functions[0])(flat), *(jax.hessian(f)(flat) for f in functions)]
        for order in (None, 2):
            found = shares_of_constants(
                directions, bits, np.array([tau, b, 1.0, 1.0, 1.0, 1.0]), order
            )
            orders = [None, order, order, order]
            expected = [jnp.linalg.norm(x, ord=o) for x, o in zip(sizes, orders, strict=True)]
            np.testing.assert_allclose(found, jnp.stack(expected), rtol=1e-9, atol=1e-12)
