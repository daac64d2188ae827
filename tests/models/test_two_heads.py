"""Two heads: attention kinds, readouts, position codes, one prediction by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.models import ATTENTION, Bowl, OneHot, TwoHeads, as_code, attend
from paritylab.problem import Parity


@pytest.mark.parametrize("kind", ATTENTION)
def test_every_kind_starts_uniform_and_prefers_higher_scores(kind):
    np.testing.assert_allclose(attend(jnp.zeros((2, 7)), kind), 1 / 7, rtol=1e-6)
    weights = np.asarray(attend(jnp.array([0.0, 0.4, 0.8]), kind))
    assert (np.diff(weights) > 0).all()


def test_the_readout_is_the_xor_at_the_mean_of_two_signs():
    np.testing.assert_allclose(Bowl()(jnp.array([-1.0, 0.0, 1.0])), [-1, 1, -1])


def test_a_model_on_the_pair_labels_every_string():
    problem = Parity(5, (1, 3), sign=-1)
    model = TwoHeads(60.0 * OneHot(5).vectors([1, 3]), OneHot(5))
    bits = np.array([[(i >> j) & 1 for j in range(5)] for i in range(32)], dtype=float)
    predictions = np.array([float(model(jnp.asarray(row))) for row in bits])
    np.testing.assert_allclose(predictions, np.asarray(problem.label(bits.astype(int))), atol=1e-5)


@pytest.mark.parametrize("kind", ["signs", "balanced"])
def test_random_codes_have_unit_rows_or_zero_mean(kind):
    table = np.asarray(as_code(kind, 40, key=3, width=16).table)
    norms = np.linalg.norm(table, axis=1)
    if kind != "signs":
        np.testing.assert_allclose(norms, 1, rtol=1e-12)
    np.testing.assert_allclose(table.mean(axis=0), 0, atol=1e-12)
