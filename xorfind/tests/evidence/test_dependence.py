"""Rows that depend on each other are left out; rows that merely look alike by chance are not."""

import numpy as np
import pytest
from dependent_rows import KINDS as FIVE, study as study_five
from null_tables import ALPHA, HIDDEN, KINDS, ROWS, study
from scipy import stats

from xorfind import solve
from xorfind.answer import Conclusion
from xorfind.evidence.dependence import Dependence, RowsUsed, inflation, rows_apart
from xorfind.text import lines_of

COPIED = [kind for kind in KINDS if kind.startswith(("copies", "oversampled"))]


def _table(seed, rows, columns):
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 2, (rows, columns)).astype(np.uint8)
    return generator, bits, generator.integers(0, 2, rows)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_without_a_parity_get_one_as_rarely_as_alpha_says(kind):
    _, any_parity, _ = study(kind, False, 5000, 12)
    assert stats.binom.sf(any_parity.successes - 1, any_parity.runs, ALPHA) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_planted_parities_are_found_all_the_same(kind):
    found, _, used = study(kind, True, 5000, 8)
    assert found.successes >= 7
    # Copies are undone where they matter: not where the misfits are too few to show them.
    assert kind not in COPIED or np.median(used) <= ROWS


@pytest.mark.parametrize("kind", FIVE)
def test_five_kinds_of_dependence_give_no_false_parity_and_hide_no_true_one(kind):
    """A few tables of each; the benchmark has 200."""
    false, _ = study_five(kind, False, 5000, 6)
    found, _ = study_five(kind, True, 5000, 4)
    assert false.successes <= 1
    assert found.successes >= 3


@pytest.mark.parametrize(("rows", "columns"), [(400, 3), (400, 6), (300, 10), (200, 40)])
def test_repetition_by_chance_is_not_punished(rows, columns):
    for seed in range(10):
        generator, bits, _ = _table(seed, rows, columns)
        labels = bits[:, 0] ^ bits[:, 1] ^ (generator.random(rows) < 0.1)
        answer = solve(bits, labels, rows="check")
        assert answer.used == RowsUsed(rows, rows)
        assert answer.subset == (0, 1)


def test_rows_of_a_truth_table_in_counting_order_are_all_used():
    every = np.arange(1024)[:, None] >> np.arange(10)[::-1] & 1
    for order in (slice(None), slice(None, None, -1)):
        answer = solve(every[:, order], every[:, 0] ^ every[:, 1], rows="check")
        assert answer.used == RowsUsed(1024, 1024)
        assert answer.conclusion is Conclusion.EXPLAINS


def test_copies_of_rows_that_a_parity_fits_by_luck_are_undone():
    """20 rows of 30 columns fit some parity; five copies of each do not make it true."""
    _, bits, labels = _table(4, 20, 30)
    assert solve(np.tile(bits, (5, 1)), np.tile(labels, 5), rows="check").subset is None


def test_the_factor_of_the_order_is_that_of_simulated_series():
    """Var Σ rz over independent rows' variance, from 2000 pairs of slow series."""
    generator = np.random.default_rng(5)
    stay, rows = 0.9, 400
    turns = generator.random((2, 2000, rows)) > stay
    z, y = np.cumsum(turns, axis=2) % 2
    sums = ((z - z.mean(axis=1, keepdims=True)) * (y - y.mean(axis=1, keepdims=True))).sum(axis=1)
    truth = sums.var() / (rows / 16)
    guessed = np.mean([inflation(*pair) for pair in zip(z[:300], y[:300], strict=True)])
    assert guessed == pytest.approx(truth, rel=0.25)


def test_groups_that_are_named_give_one_row_each():
    generator, bits, _ = _table(4, 90, 12)
    at = np.repeat(np.arange(90), 3)
    more = bits[at] ^ (generator.random((270, 12)) < 0.2)
    labels = 1 - 2 * (more[:, HIDDEN].sum(axis=1) % 2).astype(int)
    answer = solve(more, labels, groups=at)
    assert answer.used == RowsUsed(270, 90, (Dependence.GROUPS,))
    assert answer.subset == HIDDEN
    with pytest.raises(ValueError, match="one value per row, 270, got 3"):
        solve(more, labels, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="all rows are of one group"):
        solve(more, labels, groups=np.zeros(270))


def test_too_few_independent_rows_are_a_refusal_with_its_reason():
    """Twelve clumps of thirty rows, one label each."""
    generator = np.random.default_rng(1)
    of = generator.permutation(np.repeat(np.arange(12), 30))
    parents, labels = generator.integers(0, 2, (12, 16)), np.arange(12) % 2
    bits = parents[of] ^ (generator.random((360, 16)) < 0.05)
    answer = solve(bits, labels[of], rows="check")
    assert answer.used.too_few
    assert answer.subset is None
    assert "count as independent, too few" in str(answer)


def test_where_rows_count_for_fewer_no_number_of_rows_is_promised():
    bits, labels = FIVE["seasonal series"](np.random.default_rng([1, 2]), False)
    answer = solve(bits, labels, rows="check")
    assert answer.used.effective < 60
    said = "\n".join(lines_of(answer))
    assert f"the 600 rows count as about {answer.used.effective} independent ones" in said
    assert "may be luck\n" in said
    assert "would show it" not in said


def test_a_part_of_many_independent_rows_is_not_taken_for_dependent():
    """Parts of 3,000 of 8,000 rows: their mean residual is not that of all rows."""
    for seed in range(6):
        generator, bits, _ = _table(seed, 8000, 30)
        wrong = generator.random(8000) < 0.35
        labels = bits[:, HIDDEN].sum(axis=1) % 2 ^ wrong
        for draw in range(4):
            assert rows_apart(bits, labels, HIDDEN, seed=draw) is None
