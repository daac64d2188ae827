"""Very many rows, more columns than a transform takes, and sets that are only just supported."""

import numpy as np
import pytest
from tests.baselines.random_tables import planted

from paritylab.baselines import solve
from paritylab.baselines.pair_reduction import reduction_noise


@pytest.mark.parametrize(("n", "noise", "rows"), [(27, 0.3, 20_000), (34, 0.2, 60_000)])
def test_noisy_parities_of_half_of_more_than_26_columns_are_found(n, noise, rows):
    bits, labels, hidden = planted(n, n // 2, noise, rows, seed=3)
    assert reduction_noise(n, rows) > noise
    answer = solve(bits, labels)
    assert answer.subset == hidden
    assert answer.method == "reduction"
    assert answer.search.steps[-1].trials > 10_000


def test_reduction_of_few_rows_or_unrelated_labels_names_nothing():
    generator = np.random.default_rng(0)
    bits = generator.integers(0, 2, (5000, 30), dtype=np.uint8)
    assert solve(bits, generator.integers(0, 2, 5000), method="reduction").subset is None
    assert solve(bits[:40], generator.integers(0, 2, 40), method="reduction").subset is None
    with pytest.raises(ValueError, match="takes 2 to 48 columns"):
        solve(np.eye(60, dtype=np.uint8), generator.integers(0, 2, 60), method="reduction")


def test_a_part_of_very_many_rows_names_what_all_confirm():
    bits, labels, hidden = planted(60, 3, 0.35, 120_000, seed=1)
    answer = solve(bits, labels)
    assert answer.subset == hidden
    assert answer.rows == 120_000
    assert answer.search.steps[-1].rows == 8192
    assert answer.complete
    assert answer.agreement == pytest.approx(0.65, abs=0.01)


def test_a_set_that_is_only_just_supported_does_not_end_the_search():
    generator = np.random.default_rng(4)
    bits, labels, hidden = planted(40, 2, 0.3, 400, seed=4)
    copied = labels < 0
    copied[generator.permutation(400)[:158]] ^= True
    other = next(each for each in range(40) if each not in hidden)
    bits[:, other] = copied
    alone = solve(bits, labels, k=1)
    assert alone.subset == (other,)
    assert alone.p_value > 1e-5
    assert solve(bits, labels).subset == hidden
