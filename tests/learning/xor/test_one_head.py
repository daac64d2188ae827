"""One head does what two do: from w = 0 the second head is a copy of the first.

Both heads get the same gradient and stay equal, whatever the data, the attention and the number of
steps, so a single head with half of the step size makes the same predictions.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.learning.xor.exact import default_gain, usual_width, xor_risk
from paritylab.models import PackedSigns, attend

X64_MODES = [False]
N = 32
ON_PAIR = np.arange(N) < 2


def sigmoid(scores):
    return 0.5 * jax.nn.sigmoid(scores - 40.0)


def first_step(attention, gain):
    """The step size of one head that gives the pair scores of `gain`."""
    slope = jax.grad(lambda score: attention(jnp.zeros(N).at[0].set(score))[0])(0.0)
    return gain / (4 * attention(jnp.zeros(N))[0] * slope)


def trained(code, signs, attention, heads, eta, steps):
    """Attention weights of every head after steps on ½E(ŷ - y)², ŷ = 1 - 2z², z their mean."""

    def weights(heads):
        return jax.vmap(lambda w: attention(code @ w))(heads)

    def risk(heads):
        g = weights(heads).mean(axis=0)
        if signs is None:
            return xor_risk(g, ON_PAIR)
        return jnp.mean((1 - 2 * (signs @ g) ** 2 + signs[:, 0] * signs[:, 1]) ** 2) / 2

    slope = jax.jit(jax.grad(risk))
    for _ in range(steps):
        heads = heads - eta * slope(heads)
    return np.asarray(weights(heads))


def one_and_two(attention, gain, rows, steps, start=0.0):
    """Weights of one head, and of two with twice the step size, on the same positions and rows."""
    generator, width = np.random.default_rng(0), usual_width(N)
    code = PackedSigns.draw(generator, N, width, balanced=True).vectors(np.arange(N))
    signs = generator.choice([-1.0, 1.0], (rows, N)) if rows else None
    starts = start * generator.normal(size=(2, width))
    with float64():
        code, starts = jnp.asarray(code), jnp.asarray(starts)
        eta = first_step(attention, gain)
        two = trained(code, signs, attention, starts, 2 * eta, steps)
        one = trained(code, signs, attention, starts[:1], eta, steps)
    return one, two


GAIN = default_gain(N)
ARMS = {
    "softmax": (attend, GAIN, 0, 1),
    "half the gain": (attend, GAIN / 2, 0, 1),
    "four times the gain": (attend, 4 * GAIN, 0, 1),
    "three steps": (attend, GAIN / 10, 0, 3),
    "sigmoid with a bias": (sigmoid, 55.0, 0, 1),
    "80n² rows": (attend, GAIN, 80 * N * N, 1),
}


@pytest.mark.parametrize("arm", ARMS)
def test_from_zero_two_heads_are_one(arm):
    one, two = one_and_two(*ARMS[arm])
    np.testing.assert_allclose(two[0], two[1], atol=1e-12)
    np.testing.assert_allclose(one[0], two[0], atol=1e-9)
    assert two[0][:2].sum() > two[0][2:].max(), "the step moves the weights"


def test_from_starts_of_their_own_two_heads_differ():
    _, two = one_and_two(*ARMS["softmax"], start=0.3)
    assert np.abs(two[0] - two[1]).max() > 1e-3
