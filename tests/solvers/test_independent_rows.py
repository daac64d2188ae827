"""Rows that depend on each other are left out; rows that merely look alike by chance are not."""

import numpy as np
import pytest
from benchmarks.null_tables import ALPHA, HIDDEN, KINDS, ROWS, study
from scipy import stats

from paritylab.solvers import solve
from paritylab.solvers.independent_rows import Dependence, RowsUsed, independent_rows

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
    assert kind not in COPIED or max(used) <= ROWS


@pytest.mark.parametrize(("rows", "columns"), [(400, 3), (400, 6), (300, 10), (200, 40)])
def test_repetition_by_chance_is_not_punished(rows, columns):
    for seed in range(10):
        _, bits, noise = _table(seed, rows, columns)
        labels = bits[:, 0] ^ bits[:, 1] ^ (noise & bits[:, 2])
        assert independent_rows(bits, labels).used == RowsUsed(rows, rows)


def test_tied_columns_repeat_rows_without_being_copies():
    """A chain of columns that agree nine times in ten has few patterns."""
    generator = np.random.default_rng(1)
    turns = generator.random((500, 10)) < 0.1
    turns[:, 0] = generator.random(500) < 0.5
    bits = np.cumsum(turns, axis=1) % 2
    labels = bits[:, 0] ^ (generator.random(500) < 0.2)
    assert not independent_rows(bits, labels).used.why


def test_rows_of_a_truth_table_in_counting_order_are_all_used():
    every = np.arange(1024)[:, None] >> np.arange(10)[::-1] & 1
    for order in (slice(None), slice(None, None, -1)):
        labels = every[:, 0] ^ every[:, 1]
        assert independent_rows(every[:, order], labels).used.used == 1024


def test_copies_are_told_and_undone_exactly():
    generator, bits, labels = _table(3, 120, 15)
    at = generator.permutation(np.repeat(np.arange(120), 4))
    chosen = independent_rows(bits[at], labels[at])
    assert chosen.used == RowsUsed(480, 120, (Dependence.REPEATED,))
    assert len(np.unique(bits[at][chosen.rows], axis=0)) == len(np.unique(bits, axis=0))


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
    with pytest.raises(ValueError, match="rows must be one of independent, check"):
        solve(more, labels, rows="some")


def test_too_few_independent_rows_are_a_refusal_with_its_reason():
    generator = np.random.default_rng(0)
    turns = generator.random((300, 8)) > 0.97
    bits = (np.cumsum(turns, axis=0) + generator.integers(0, 2, 8)) % 2
    labels = 1 - 2 * (bits[:, 0] ^ (np.cumsum(generator.random(300) > 0.99) % 2)).astype(int)
    answer = solve(bits, labels, rows="check")
    assert answer.used.too_few
    assert answer.subset is None
    assert "rows can be called independent, too few" in str(answer)
