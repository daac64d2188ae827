"""Heads: attention, readout, hard attention, and the full form of four numbers a token."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.models import (
    Circle,
    FullFormAttention,
    HeadAttention,
    OneHot,
    RandomSigns,
    Zigzag,
    attend,
    parity_network,
)
from paritylab.problem import Parity, all_bits

PROBLEM = Parity(7, (1, 3, 6))
CODES = [Circle(7), OneHot(7), RandomSigns.draw(0, 7, 5)]


@pytest.mark.parametrize("code", CODES, ids=lambda code: type(code).__name__)
@pytest.mark.parametrize("heads", [1, 3, 5])
def test_the_prediction_is_the_readout_of_the_attended_bits(code, heads):
    """Softmax of the inner products with positions; heads are averaged and multiplied by k."""
    model = HeadAttention.random(1, PROBLEM, heads=heads, code=code, readout="cos", tau=0.3)
    shares = np.exp(np.asarray(model.directions) @ code.vectors(range(7)).T / 0.3)
    shares /= shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.attention(), shares, atol=1e-5)
    weights, bits = 3 / heads * shares.sum(axis=0), np.asarray(next(all_bits(7))).astype(float)
    np.testing.assert_allclose(model.weights(), weights, atol=1e-5)
    np.testing.assert_allclose(jax.vmap(model)(bits), np.cos(np.pi * bits @ weights), atol=1e-4)


@pytest.mark.parametrize("k", [1, 2, 30])
def test_zigzag_is_the_parity_at_integers(k):
    with jax.enable_x64(True):
        s = np.arange(k + 1.0)
        np.testing.assert_array_equal(Zigzag(k)(s), (-1.0) ** s)


def test_hard_attention_takes_the_first_of_tied_positions():
    halfway = np.array([np.sin(2 * np.pi * 2.5 / 7), np.cos(2 * np.pi * 2.5 / 7)])
    model = HeadAttention(
        np.stack([halfway, Circle(7).table[4]]), Circle(7), 3, Zigzag(3), kind="hard"
    )
    assert np.flatnonzero(model.attention()).tolist() == [2, 7 + 4]
    assert attend(jnp.array([1.0, 1.001]), "hard").tolist() == [0, 1]


def test_hard_is_the_limit_of_soft():
    soft = HeadAttention.on(PROBLEM, tau=1e-4).attention()
    hard = HeadAttention.on(PROBLEM, kind="hard").attention()
    assert np.allclose(soft, hard, atol=1e-6)


def test_models_keep_float64_when_built_without_it():
    model = HeadAttention.on(Parity(1000, (3, 500)), tau=1e-6)
    with jax.enable_x64(True):
        assert model.attention().dtype == np.float64
        assert np.allclose(model.attention()[:, [3, 500]].diagonal(), 1, atol=1e-8)


@pytest.mark.parametrize("heads", [2, 3])
def test_masked_full_form_equals_the_reduced_form(heads):
    reduced = HeadAttention.random(4, PROBLEM, heads=heads, tau=1 / 7)
    full = FullFormAttention.embed(reduced)
    bits = next(all_bits(7)).astype(float)
    assert np.allclose(jax.vmap(full)(bits), jax.vmap(reduced)(bits), atol=1e-3)
    gradient = jax.grad(lambda m: full.with_parameters(m)(bits[37]))(jnp.asarray(full.matrices))
    outside = gradient.at[:, 0, 2:].set(0)
    assert float(jnp.max(jnp.abs(outside))) == 0


def test_unmasked_full_form_has_gradient_on_the_token_entries():
    model = FullFormAttention.embed(HeadAttention.random(4, PROBLEM, tau=1 / 7), masked=False)
    bits = jnp.array([1.0, 0, 1, 1, 0, 0, 1])

    def attended(matrices):
        return model.with_parameters(matrices).attention(bits) @ bits

    matrices = jnp.asarray(model.matrices)
    exact = jax.jacobian(attended)(matrices)
    share = attended(matrices)  # Σγx of every head
    formula = share * (1 - share) * 7  # ∂(Σγx)/∂a₁₁ = Σγx(1-Σγx)/τ
    assert np.allclose(np.diagonal(exact[:, :, 0, 0]), formula, rtol=1e-3)
    assert np.allclose(np.diagonal(exact[:, :, 0, 1]), -formula, rtol=1e-3)
    assert np.all(np.abs(formula) > 1e-3)


def test_parameter_counts():
    """Proposition 3: 16 numbers per head and 2k + 2 of the classification head, 18k + 2 in all."""
    model = HeadAttention.on(PROBLEM)
    assert model.directions.size == 2 * 3
    frozen = parity_network(PROBLEM).distinct_numbers()
    assert FullFormAttention.embed(model).matrices.size + frozen == 18 * 3 + 2
