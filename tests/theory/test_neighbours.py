"""Closed forms of the neighbours against sums over all inputs, integrators and descent."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from paritylab.problem import Parity
from paritylab.theory.neighbours import (
    fourier_gap,
    majority_coefficient,
    polynet_end,
    polynet_flow,
    power_signal,
    readout_gap,
    rows_to_rank_by_majority,
    sign_path,
)

X64_MODES = [False]  # plain numpy


def cube(n):
    return np.array(list(product((1, -1), repeat=n)), dtype=float)


@pytest.mark.parametrize(("k", "sign", "noise"), [(2, 1, 0.0), (3, -1, 0.1), (4, 1, 0.2)])
def test_the_power_net_sees_only_the_hidden_set(k, sign, noise):
    generator, x = np.random.default_rng(k), cube(7)
    problem = Parity(7, (1, 2, 4, 6)[:k], sign=sign, noise=noise)
    weights, outputs = generator.normal(size=(3, 7)), np.array([1.0, -1.0, 1.0])
    y = sign * (1 - 2 * noise) * np.prod(x[:, list(problem.subset)], axis=1)
    z = x @ weights.T
    mean, gradient = power_signal(weights, outputs, problem)
    assert mean == pytest.approx(np.mean(y * (z**k @ outputs)))
    by_sums = k * outputs[:, None] * ((z ** (k - 1) * y[:, None]).T @ x) / len(x)
    np.testing.assert_allclose(gradient, by_sums, atol=1e-10)


def test_the_readout_identity_is_exact_in_whole_numbers():
    assert all(readout_gap(k) == 0 for k in range(1, 8))


def test_sign_descent_keeps_good_neurons_and_forgets_the_rest():
    path = sign_path(3, 0.1, 1.0, 0.1, 60)
    np.testing.assert_allclose(path.kept, 1.0)
    np.testing.assert_allclose(path.off, 0.9 ** np.arange(61))
    assert np.all(np.diff(path.lost) < 0)
    assert 0 < path.lost[-1] < 0.01


def test_without_a_dead_zone_a_bad_neuron_of_odd_degree_turns_good():
    """All its weights change sign together, and with them their product."""
    assert sign_path(3, 0.1, 1.0, 0.0, 200).lost[-1] == pytest.approx(-1.0)
    assert abs(sign_path(2, 0.1, 1.0, 0.0, 200).lost[-1]) < 0.2


@pytest.mark.parametrize("n", [3, 5, 9])
def test_coefficients_of_majority(n):
    x = cube(n)
    majority = np.sign(x.sum(axis=1))
    for size in range(n + 1):
        summed = np.mean(majority * np.prod(x[:, :size], axis=1))
        assert majority_coefficient(n, size) == pytest.approx(summed, abs=1e-12)


def test_the_gap_closes_at_n_equal_to_2k_minus_1():
    even = fourier_gap(11, 6)
    assert even.on == pytest.approx(even.off)
    assert fourier_gap(9, 6).on < fourier_gap(9, 6).off
    assert fourier_gap(13, 6).on > fourier_gap(13, 6).off


def test_half_of_the_batches_rank_the_set_with_the_rows_derived():
    n, k, generator = 33, 2, np.random.default_rng(0)
    rows, gap = round(rows_to_rank_by_majority(n, k)), fourier_gap(n, k)
    means = np.where(np.arange(n) < k, gap.on, gap.off)
    scores = np.abs(generator.normal(means, 1 / np.sqrt(rows), (4000, n)))
    first = scores[:, :k].min(axis=1) > scores[:, k:].max(axis=1)
    assert first.mean() == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("start", [(0.3, 0.5), (0.3, -0.5, -0.7), (0.3, 0.5, -0.7, -0.4)])
def test_the_polynet_flow_is_the_solution_of_its_equation(start):
    start = np.array(start)
    time = 1.5 if len(start) == 2 else 0.7 * polynet_end(start)

    def velocity(t, v):
        return [np.prod(np.delete(v, i)) for i in range(len(v))]

    solved = solve_ivp(velocity, (0, time), start, rtol=1e-10, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(polynet_flow(start, time), solved, rtol=1e-7)


def test_the_gradient_of_a_polynet_moves_the_hidden_bits_only():
    """E[y·Π_i w_iᵀx_i] over all inputs, one hidden bit per block: the right side of the flow."""
    x, weights = cube(6).reshape(-1, 3, 2), np.random.default_rng(0).uniform(0.3, 0.9, (3, 2))
    y, units = np.prod(x[:, :, 0], axis=1), np.sum(x * weights, axis=2)
    for i in range(3):
        slope = np.mean((y * np.prod(np.delete(units, i, axis=1), axis=1))[:, None] * x[:, i], 0)
        expected = [np.prod(np.delete(weights[:, 0], i)), 0.0]
        np.testing.assert_allclose(slope, expected, atol=1e-12)


def test_what_has_no_closed_form_is_one_line():
    for call, words in (
        (lambda: polynet_flow(np.array([0.5, -0.5, 0.5]), 0.1), "positive product"),
        (lambda: polynet_flow(np.array([0.5, 0.5, 0.5]), 9.0), "the flow ends at 2"),
        (lambda: majority_coefficient(4, 1), "odd n"),
        (lambda: fourier_gap(9, 3), "even k"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
