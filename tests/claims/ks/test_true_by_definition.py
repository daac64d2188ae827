"""What KS says that is true by definition or algebra: figures, masks, links, formulas."""

from math import comb

import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.experiments.ks_queries import random_signs, target_values
from paritylab.learning import Elimination, Sample, learn
from paritylab.learning.chain.curriculum import filter_levels
from paritylab.models import ChainModel, CosineLink, SlopedLink
from paritylab.models.chain import visible_tokens
from paritylab.problem import ParityTree, random_parities
from paritylab.problem.junta import walsh_transform
from paritylab.statistics import power_law
from paritylab.theory.ks import child_signal, lemma4_bound, samples_for_every_pair
from paritylab.theory.ks_hardness import mean_label_square

X64_MODES = [False]
#: Figure 1's tree: 16 bits, 8 leaves, the first two on x_1 and x_4; the text names no others.
FIGURE1 = ParityTree(16, (0, 3, 6, 7, 9, 11, 12, 15))


def signs_of(seed, rows=64, n=16):
    return np.random.default_rng(seed).choice([-1.0, 1.0], (rows, n))


def test_node_17_of_figure_1_is_trivial_with_its_children():
    """Its children, parent, height and levels: tests/problem/test_tree.py."""
    tokens = np.asarray(FIGURE1.tokens(jnp.asarray(signs_of(0))))
    assert (tokens[:, 0] * tokens[:, 3] * tokens[:, 16] == 1).all()


def test_token_m_of_figure_2a_is_final_after_m_minus_d_rounds():
    signs, scores = signs_of(0), np.random.default_rng(1).normal(size=(23, 7))
    with float64():
        model = ChainModel(scores, 16, CosineLink(), "token")
        final = np.asarray(model.generate(jnp.asarray(signs)))
        tokens = jnp.concatenate([jnp.asarray(signs), jnp.zeros((64, 7))], axis=1)
        for rounds in range(1, 8):
            tokens = model.iterate(tokens)
            written = 16 + rounds
            np.testing.assert_allclose(tokens[:, :written], final[:, :written], atol=1e-12)
            assert rounds == 7 or np.abs(tokens - final)[:, written:].max() > 1e-9


def levels_passed(strings):
    """Levels that pass the filter with 0, 1, 2 and 3 levels solved, on strings as in Lemma 10.

    Lemma 10 promises small means of the first tokens; strings without them are left out.
    """
    tokens = np.asarray(FIGURE1.tokens(jnp.asarray(strings)))
    means = np.stack([tokens[:, :end].mean(axis=1) for end in FIGURE1.ends[:-1]])
    kept, passed = jnp.asarray(strings[np.abs(means).max(axis=0) <= 0.5]), []
    for solved in range(FIGURE1.depth + 1):
        scores = np.zeros((FIGURE1.size, FIGURE1.k - 1))
        for node, (pair, level) in enumerate(zip(FIGURE1.children, FIGURE1.levels, strict=True)):
            scores[pair, node] = 30.0 * (level <= solved)
        model = ChainModel(scores, 16, CosineLink(), "level")
        passed.append(int(np.sum(filter_levels(model, kept, 1.6))))
    return passed


def test_the_filter_of_figure_2b_zeroes_what_follows_an_uninformative_level():
    assert all(levels_passed(signs_of(seed)) == [1, 2, 3, 3] for seed in range(3))
    constant = signs_of(0)
    constant[:, 5] = -1
    assert levels_passed(constant) != [1, 2, 3, 3]


def test_the_masks_of_figure_3_open_earlier_tokens_or_lower_levels():
    token, level = (visible_tokens(16, 8, mask).sum(axis=0) for mask in ("token", "level"))
    assert token.tolist() == list(range(16, 23))
    assert level.tolist() == [16] * 4 + [20] * 2 + [22]


@pytest.mark.parametrize(("mask", "rounds"), [("level", (3, 4, 5)), ("token", (7, 15, 31))])
def test_the_level_mask_shortens_generation_from_k_minus_1_to_log_k_rounds(mask, rounds):
    """Every node averages the last token that it sees and an input."""
    for k, expected in zip((8, 16, 32), rounds, strict=True):
        n, nodes = 2 * k, np.arange(k - 1)
        scores, seen = np.zeros((n + k - 1, k - 1)), visible_tokens(n, k, mask).sum(axis=0)
        scores[seen - 1, nodes] = scores[nodes % (n - 1), nodes] = 500.0
        with float64():
            model = ChainModel(scores, n, CosineLink(), mask)
            rows = jnp.asarray(signs_of(k, n=n))
            took, tokens = model.settle(rows)
            assert took == expected
            np.testing.assert_allclose(tokens, model.generate(rows), atol=1e-12)


@pytest.mark.parametrize("slope", [2.01, 2.05, 2.2, 2.5, 3.0, 4.0])
def test_six_requ_neurons_make_a_link_of_any_slope_above_2(slope):
    """Quadratic around 0 and ±1, straight between; so g = log2‖φ'‖∞ + 1/2 comes close to 1.5."""
    link, t = SlopedLink(slope), np.linspace(-1, 1, 20_001)
    with float64():
        values, slopes = np.asarray(link(jnp.asarray(t))), np.asarray(link.slope(jnp.asarray(t)))
    c, a, size = link.curvature, link.knee, np.abs(t)
    straight = c * a**2 - 1 + slope * (size - a)
    curve = np.select([size <= a, size <= 1 - a], [c * t**2 - 1, straight], 1 - c * (1 - size) ** 2)
    np.testing.assert_allclose(values, curve, atol=1e-9)
    np.testing.assert_allclose(values[[0, 10_000, 20_000]], [1, -1, 1], atol=1e-9)
    np.testing.assert_allclose(slopes[[0, 10_000, 20_000]], 0, atol=1e-9)
    assert np.abs(values).max() <= 1 + 1e-9
    assert np.abs(slopes).max() == pytest.approx(slope, abs=1e-9)
    assert len(link.neurons) == 6
    assert c == pytest.approx(slope**2 / (2 * (slope - 2)))


def test_a_slope_near_2_costs_curvature_and_signal():
    """The price of a small g: where the quadratic piece is short, a child has less than 2c/M²."""
    gentle, steep = SlopedLink(2.01), SlopedLink(4.0)
    assert (gentle.curvature, steep.curvature) == pytest.approx((202.005, 4))
    signals = [child_signal(256, link) * 256**2 / (2 * link.curvature) for link in (gentle, steep)]
    assert signals == pytest.approx([0.0632, 0.9922], abs=1e-4)


def test_rounding_weights_is_rounding_updates_if_halves_go_up():
    generator = np.random.default_rng(0)
    old, moves = generator.integers(-20, 21, 100_000), generator.uniform(-10, 10, 100_000)
    halves = np.floor(moves) + 0.5
    np.testing.assert_array_equal(np.round(old + moves), old + np.round(moves))
    up = np.floor(halves + 0.5)
    np.testing.assert_array_equal(np.floor(old + halves + 0.5), old + up)
    assert np.mean(np.round(old + halves) != old + np.round(halves)) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("n", [32, 128])
def test_elimination_solves_parity_from_n_plus_20_rows(n):
    data = Sample(random_parities(n, n // 2, 20), n + 20)
    assert learn(Elimination(), data).rate("solved").low > 0.7


N, K = 10, 5
MASKS = [mask for mask in range(1 << N) if mask.bit_count() == K]


def mean_of(targets):
    """The mean of some targets at every input."""
    spectrum = np.zeros(1 << N)
    spectrum[targets] = 1 / len(targets)
    return walsh_transform(spectrum)


def fixed_answers():
    generator = np.random.default_rng(0)
    return {
        "0": np.zeros(1 << N),
        "mean of all targets": mean_of(MASKS),
        "one target": mean_of(MASKS[:1]),
        "mean of 20 targets": mean_of(generator.choice(MASKS, 20, replace=False)),
        "random signs": generator.choice([-1.0, 1.0], 1 << N),
        "uniform numbers": generator.uniform(-1, 1, 1 << N),
    }


@pytest.mark.parametrize("name", fixed_answers())
def test_no_fixed_answer_beats_0_on_many_targets_or_in_the_sup_norm(name):
    """At most 1/g targets have E(p - f)² ≤ 1 - g, and the mean of sup|p - f| is at least 1."""
    answers, inputs = fixed_answers()[name], np.arange(1 << N)
    values = np.array([1.0 - 2 * (np.bitwise_count(inputs & mask) % 2) for mask in MASKS])
    losses = np.mean((values - answers) ** 2, axis=1)
    gaps = np.sort(1 - losses)[::-1]
    assert np.max(np.arange(1, gaps.size + 1) * gaps) <= 1 + 1e-9
    sup = np.abs(values - answers).max(axis=1).mean()
    assert sup >= 1 - 1e-9
    assert sup == 1 or name != "0"
    assert losses.mean() >= 1 - mean_label_square(N, K) - 1e-9


def test_what_the_best_fixed_answer_saves_falls_exponentially():
    sizes = (6, 8, 10, 12)
    saved = [mean_label_square(n, n // 2) for n in sizes]
    assert saved == pytest.approx([1 / comb(n, n // 2) for n in sizes])
    assert np.polyfit(sizes, np.log(saved), 1)[0] < -0.6


def test_two_random_parities_correlate_like_one_over_root_n():
    generator, rows, pairs = np.random.default_rng(0), (100, 1000, 10_000), 500
    means = []
    for size in rows:
        subsets = [tuple(generator.permutation(32)[:16]) for _ in range(2 * pairs)]
        values = target_values(random_signs(generator, size, 32), subsets)
        means.append(np.abs(np.mean(values[:pairs] * values[pairs:], axis=1)).mean())
    assert power_law(rows, means).exponent == pytest.approx(-0.5, abs=0.1)
    # |a Gaussian| has the mean √(2/π).
    assert means[-1] * np.sqrt(rows[-1]) == pytest.approx(np.sqrt(2 / np.pi), rel=0.1)


@pytest.mark.parametrize(("epsilon", "fits"), [(0.5, 96), (1.0, 96), (2.0, 112)])
def test_bound_5_speaks_from_n_to_the_11_plus_epsilon_samples(epsilon, fits):
    """For T = n^(ε/4) queries and an error of n^(-2-ε/8); up to about 100 bits more than inputs.

    Bound (5), 1 - (4T/error²)·(1/|P| ∨ √(4n/N))·sup‖∇f‖², is ½ at the N below, if the targets are
    enough for that.
    """
    needed = {}
    for n in (32, 64, 80, 96, 112, 128, 256, 512, 1024):
        gradient = lemma4_bound(n // 2, CosineLink()) ** 2
        correlation = n ** (-4 - epsilon / 4) / (8 * n ** (epsilon / 4) * gradient)
        enough = correlation >= 1 / comb(n, n // 2)
        needed[n] = 4 * n / correlation**2 if enough else np.inf
    assert np.log2(needed[1024] / needed[512]) == pytest.approx(11 + epsilon, abs=0.1)
    assert min(n for n, rows in needed.items() if np.log2(rows) < n) == fits
    assert needed[1024] > 1e30 * samples_for_every_pair(1024, 512)
