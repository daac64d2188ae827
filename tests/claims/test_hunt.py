"""The hunt for violations finds what is there and nothing else."""

import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.claims.engine.hunt import hunt


def test_the_hunt_finds_a_violation_and_where_it_is():
    find = hunt(
        lambda x, shift: jnp.sum((x - shift) ** 2) - 0.5,
        lambda generator: (generator.normal(size=2), 1.0),
        starts=8,
        steps=300,
    )
    assert find.margin == pytest.approx(-0.5, abs=1e-3)
    np.testing.assert_allclose(find.moving, 1.0, atol=0.05)
    assert find.first.shape == (8,)


def test_the_hunt_cannot_break_what_holds():
    find = hunt(lambda x, _: x**2, lambda generator: (generator.normal(), 0.0), starts=8)
    assert find.margin >= 0
