"""HG1's bounds against counting and against the numbers the paper's symbols give."""

from fractions import Fraction
from math import ceil, comb

import numpy as np
import pytest
from scipy.stats import binom

from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import enumerated_gradient
from paritylab.theory import hg1
from paritylab.theory.hg1_limits import smoothed_zigzag, smoothing_floor

X64_MODES = [False]


def missed_inputs(n, heads):
    """Share of inputs one head misses in Theorem 11's count, and the last two lines of its proof.

    L = ⌈(n-1)/m⌉ - 1 positions are asked, and w = ⌈n/5m⌉ preferred tokens among them are wanted:
    P(Bin(L, 1/2) < w), then 16^w/2^L and 2/2^⌈(n-1)/5m⌉.
    """
    asked, wanted = ceil((n - 1) / heads) - 1, ceil(n / (5 * heads))
    share = Fraction(sum(comb(asked, i) for i in range(wanted)), 2**asked)
    return share, 2.0 ** (4 * wanted - asked), Fraction(2, 2 ** ceil((n - 1) / (5 * heads)))


@pytest.mark.parametrize(("n", "m"), [(7, 1), (10, 2), (12, 3)])
def test_the_missed_share_of_one_head_is_counted_over_all_inputs(n, m):
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    first = ceil((n - 1) / m) - 1
    missed = bits[:, :first].sum(axis=1) < n / (5 * m)
    share, _, last = missed_inputs(n, m)
    assert float(share) == missed.mean()
    assert share <= last


def test_the_printed_first_factor_never_exceeds_the_counted_one():
    """Theorem 11 counts the inputs on which m fixed heads overlook a bit.

    The factor is true although the last rounding of its proof is not: for most n and m the line
    before it is larger.
    """
    broken = []
    for heads in (1, 2, 3, 5, 20, 40):
        for n in range(max(2, heads), 400):
            share, before, last = missed_inputs(n, heads)
            assert hg1.attended_inputs(n, heads) <= 1 - heads * share + 1e-12
            broken.append(before > last * (1 + 1e-9))
    assert np.mean(broken) > 0.5


def test_a_flip_of_an_overlooked_bit_hardly_moves_attention():
    """|Δγ_r| ≤ (5m/n)γ_r at r ≠ p and |Δγ_p| ≤ 5m/n, when bit p becomes preferred.

    The first R = ⌈(n-1)/m⌉ - 1 positions show just so many preferred tokens as Theorem 11 asks for,
    and p comes after them; scores are random.
    """
    generator, tried = np.random.default_rng(0), 0
    for _ in range(1000):
        n, m = int(generator.integers(4, 40)), int(generator.integers(1, 4))
        first, wanted = ceil((n - 1) / m) - 1, ceil(n / (5 * m))
        if wanted > first:
            continue
        place = np.sort(generator.normal(size=n) * generator.exponential(2.0))[::-1]
        lead, p = generator.exponential(2.0), int(generator.integers(first, n))
        preferred = generator.integers(0, 2, n)
        preferred[:first] = 0
        preferred[generator.choice(first, wanted, replace=False)] = 1
        scores = [place + lead * np.where(np.arange(n) == p, flag, preferred) for flag in (0, 1)]
        old, new = (np.exp(each) / np.exp(each).sum() for each in scores)
        change = np.abs(new - old) / (5 * m / n)
        assert (np.delete(change / old, p) <= 1).all()
        assert change[p] <= 1
        tried += 1
    assert tried > 500


def test_our_bound_for_fixed_attention_implies_the_printed_one():
    """With the paper's embeddings, whose diameter is at most √6, and every number of heads."""
    for n in (4, 7, 40, 1000):
        assert hg1.embedding_diameter(n) <= np.sqrt(6) + 1e-12
        for heads in (1, 2, n // 2, n):
            for norms in np.geomspace(1e-3, 10 * n, 40):
                printed = hg1.fixed_attention_printed(n, heads, norms)
                assert printed <= hg1.fixed_attention(n, norms, hg1.embedding_diameter(n)) + 1e-12
    assert hg1.fixed_attention(7, 1e4, 2.5) == 0
    assert 0.99 < hg1.fixed_attention(10**6, 1.0, 2.5) <= 1


def test_the_ranked_bound_is_at_least_the_printed_and_the_linear_one():
    for n in range(2, 60):
        for heads in range(1, n + 1):
            ranked = hg1.fixed_hard_attention_ranked(n, heads)
            assert ranked >= hg1.fixed_hard_attention(n, heads) - 1e-12
            assert ranked >= 1 - 2 * heads / n - 1e-12
    assert hg1.fixed_hard_attention(4, 1) == 0.75
    assert hg1.fixed_hard_attention(1000, 200) < 0 < hg1.fixed_hard_attention_ranked(1000, 200)


def first_order(k, b):
    """Λ of L - L* ≈ Λ·ε: Σ_s C(k, s)2^-k·2h_s·g_s·(2s - k), h the missing hinge at s, g its slope.

    h_s = (1 - (-1)^s ŷ(s))₊ and g_s = (-1)^s ŷ'(s); given s of k bits set, a head's neighbours
    lower the attended sum by (2s - k)ε on average. For k = 3 it changes sign near b = 0.94.
    """
    s, i = np.arange(k + 1), np.arange(1, k + 1)
    z = s[:, None] + 0.5 - i
    rising = (1 + z / np.sqrt(z**2 + b)) / 2 @ ((-1.0) ** i * (8 * i - 4))
    missing = np.maximum(0, 1 - (-1.0) ** s * smoothed_zigzag(s, k, b))
    return float(binom.pmf(s, k, 0.5) @ (2 * missing * (-1.0) ** s * rising * (2 * s - k)))


@pytest.mark.parametrize(
    ("n", "subset"), [(10, (4,)), (10, (1, 4)), (10, (0, 3, 6)), (12, (0, 3, 6, 9))]
)
@pytest.mark.parametrize("b", [0.0, 0.1, 0.5, 2.0])
def test_the_excess_risk_law_for_heads_on_the_set(n, subset, b):
    k, norm, tau = len(subset), 7.0, 1 / n
    directions = norm * np.asarray(Circle(n).vectors(subset), dtype=float)
    heads = HeadAttention(directions, Circle(n), k, Zigzag(k, b), tau)
    found = enumerated_gradient(heads, Parity(n, subset))
    excess = found.risk.value - smoothing_floor(k, b)
    ratio = 0.5 * np.sum(np.square(found.gradient)) / excess**2
    assert ratio == pytest.approx(hg1.slope_on_target(n, k, tau, b), rel=2e-3)
    if b and k != 2:
        spilled = np.exp(-norm * (1 - np.cos(2 * np.pi / n)) / tau)
        assert excess == pytest.approx(first_order(k, b) * spilled, rel=5e-3)


def test_flipping_a_neglected_bit_moves_a_head_by_no_more_than_the_repair_allows():
    """g²(2(1-cg)² + 4c²) ≤ 4 on the unit square, the step that makes 2 serve as the diameter."""
    g, c = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
    assert np.max(g**2 * (2 * (1 - c * g) ** 2 + 4 * c**2)) <= 4


@pytest.mark.parametrize("k", [1, 3])
def test_the_descent_factor_follows_from_the_three_bounds(k):
    """With every bound of the proof met by equality and orthogonal slopes, ½‖∇L‖² = μL."""
    n, c2, losses = 3, 0.7, np.linspace(0.1, 2.0, 8)
    moved = 64 * losses * 2 * c2**2 / (k * n) ** 2
    paired = 64 * k**2 * c2**2 / n**2 * losses
    half = np.minimum(moved, paired).sum() / 4**n / 2
    assert hg1.descent_factor(n, k, c2) * losses.mean() == pytest.approx(half)
