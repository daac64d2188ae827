"""Juntas: tables, Fourier coefficients, degree and leap, labels and samples."""

import itertools

import jax
import numpy as np
import pytest

from paritylab.problem import Junta, Parity, all_bits, random_junta, sample

X64_MODES = [False]


def brute_fourier(junta):
    """E[f·χ_S] over all inputs of a junta with few bits."""
    bits = np.concatenate(list(all_bits(junta.n)))
    labels = np.asarray(junta.label(bits), dtype=float)
    found = {}
    for size in range(junta.n + 1):
        for chosen in itertools.combinations(range(junta.n), size):
            value = np.mean(labels * (-1.0) ** bits[:, list(chosen)].sum(axis=1))
            if abs(value) > 1e-6:
                found[chosen] = value
    return found


FAMILIES = [
    (Junta.conjunction(6, (4, 1, 2)), 1),
    (Junta.majority(6, (0, 3, 5)), 1),
    (Junta.not_all_equal(6, (0, 3, 5)), 2),
    (Junta.multiplexer(6, (5,), (2, 0)), 1),
    (Junta.from_parities(6, {(0, 2, 5): 1.0}), 3),
    (Junta.staircase(6, (5, 1, 3)), 1),
    (Junta.from_parities(6, {(1,): 0.5, (1, 2, 3): 0.5}), 2),
    (Junta(6, (2,), (0.25, 0.25)), 0),
]


@pytest.mark.parametrize(("junta", "leap"), FAMILIES)
def test_fourier_coefficients_and_leap(junta, leap):
    truth, found = brute_fourier(junta), junta.fourier()
    assert found.keys() == truth.keys()
    assert np.allclose([found[s] for s in truth], list(truth.values()), atol=1e-6)
    assert junta.leap == leap
    assert junta.relevant == tuple(sorted(set().union(*map(set, truth))))


def test_the_order_of_positions_is_the_order_of_the_table():
    junta = Junta(7, (5, 2), (10, 20, 30, 40))
    assert junta.subset == (2, 5)
    for low, high in itertools.product((0, 1), repeat=2):
        bits = np.zeros(7, int)
        bits[5], bits[2] = low, high
        assert float(junta.label(bits)) == 10 * (1 + low + 2 * high)
    mux = Junta.multiplexer(8, (7, 1), (0, 2, 3, 5))
    for row in np.random.default_rng(0).integers(0, 2, (20, 8)):
        assert int(mux.label(row)) == 1 - 2 * row[(0, 2, 3, 5)[row[7] + 2 * row[1]]]


def test_a_parity_is_a_junta_with_its_labels():
    parity, junta = Parity(8, (6, 0, 3)), Junta.from_parities(8, {(0, 3, 6): 1.0})
    bits = np.concatenate(list(all_bits(8)))
    assert np.array_equal(parity.label(bits), junta.label(bits))
    assert junta.by_count == (1, -1, 1, -1)
    assert Junta.not_all_equal(5, (1, 4)).table == Junta.from_parities(5, {(1, 4): 1.0}).table


def test_samples_follow_table_noise_and_bias():
    junta = random_junta(3, 9, 4, noise=0.2, bias=np.linspace(0.2, 0.8, 9))
    drawn = sample(junta, key=1, size=20_000)
    wrong = np.mean(np.asarray(junta.label(drawn.bits)) != np.asarray(drawn.labels))
    assert abs(wrong - 0.2) < 0.015
    assert np.abs(np.asarray(drawn.bits).mean(axis=0) - junta.probabilities).max() < 0.02
    real = random_junta(3, 9, 2, values=(0.5, -2.0, 3.0))
    assert set(np.asarray(sample(real, 0, 500).labels).tolist()) <= set(real.table)
    assert hash(junta) == hash(random_junta(3, 9, 4, noise=0.2, bias=np.linspace(0.2, 0.8, 9)))
    assert np.isfinite(jax.vmap(real.labels_unchecked)(drawn.bits)).all()
