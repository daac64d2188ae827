"""Every search against plain enumeration."""

import itertools
import math
import time

import numpy as np
import pytest
import scipy.linalg
from tests.baselines.random_tables import planted, unrelated

from paritylab.baselines import correlation as split
from paritylab.baselines.labelled_rows import LabelledRows
from paritylab.baselines.meet_in_the_middle import fitting_subsets
from paritylab.baselines.random_systems import column_trials, random_rows, restarts, row_trials
from paritylab.baselines.task import Task
from paritylab.baselines.walsh import hadamard, walsh


def task_for(bits, labels, k=None, seconds=20.0):
    end = time.perf_counter() + seconds
    return Task(LabelledRows(bits, labels), k, 0.01, end, np.random.default_rng(0))


def strength(bits, labels, subset):
    odd = bits[:, list(subset)].sum(axis=1) % 2
    return 0.0 if odd.std() == 0 else abs(np.corrcoef(odd, labels)[0, 1])


@pytest.mark.parametrize("size", range(1, 9))
def test_every_subset_comes_up_exactly_once(size):
    bits, labels = unrelated(8, 40, seed=size)
    total = math.comb(8, size)
    found = split.correlate(1 - 2 * bits.T.astype(np.float32), labels, size, keep=total + 5)
    assert (found.examined, found.complete) == (total, True)
    assert sorted(found.subsets) == list(itertools.combinations(range(8), size))


@pytest.mark.parametrize("blocks", [(1 << 26, 1 << 19, 1024), (200, 30, 4)])
@pytest.mark.parametrize(
    ("size", "bias", "plus"), [(2, 0.5, 0.5), (3, 0.5, 0.6), (4, 0.15, 0.5), (5, 0.5, 0.9)]
)
def test_the_best_are_kept_whatever_the_blocks(monkeypatch, blocks, size, bias, plus):
    for name, value in zip(("SIDE", "BLOCK", "BLOCK_WIDTH"), blocks, strict=True):
        monkeypatch.setattr(split, name, value)
    bits, labels = unrelated(10, 60, seed=size, bias=bias, plus=plus)
    table = LabelledRows(bits, labels)
    found = split.correlate(table.signs, table.labels, size, keep=10)
    best = sorted(
        (strength(bits, labels, s) for s in itertools.combinations(range(10), size)), reverse=True
    )
    kept = [strength(bits, labels, table.distinct_columns[list(s)]) for s in found.subsets]
    if bias == 0.5 and plus < 0.75:  # ranked by covariance, the same up to small margins
        assert max(kept) == pytest.approx(best[0])
    else:
        np.testing.assert_allclose(kept, best[:10], rtol=1e-4)


@pytest.mark.parametrize("plus", [0.5, 0.9])
def test_pairs_come_out_the_same_in_tiles(monkeypatch, plus):
    bits, labels = unrelated(23, 70, seed=3, plus=plus)
    signs = LabelledRows(bits, labels).signs
    whole = split.correlate(signs, labels, 2, keep=300)
    for name, value in (("TILE_WIDTH", 7), ("CACHE_ROWS", 16), ("TILE_WORK", 3000)):
        monkeypatch.setattr(split, name, value)
    tiled = split.correlate(signs, labels, 2, keep=300)
    assert tiled.examined == whole.examined == math.comb(23, 2)
    assert (
        sorted(tiled.subsets) == sorted(whole.subsets) == list(itertools.combinations(range(23), 2))
    )
    assert tiled.subsets[0] == whole.subsets[0]


def test_a_deadline_ends_the_search():
    bits, labels = unrelated(60, 50, seed=0)
    found = split.correlate(
        LabelledRows(bits, labels).signs, labels, 4, deadline=time.perf_counter() - 1
    )
    assert not found.complete
    assert 0 < found.examined < math.comb(60, 4)


@pytest.mark.parametrize("bits", [1, 5, 6, 7, 13])
def test_transforms_agree(bits):
    values = np.random.default_rng(bits).integers(-9, 9, 1 << bits).astype(np.float32)
    signs = scipy.linalg.hadamard(1 << bits) if bits < 13 else None
    if signs is None:
        masks, at = np.random.default_rng(0).integers(0, 1 << bits, 50), np.arange(1 << bits)
        expected = [(values * (-1.0) ** np.bitwise_count(mask & at)).sum() for mask in masks]
        np.testing.assert_array_equal(hadamard(values.copy())[masks], expected)
        return
    np.testing.assert_array_equal(hadamard(values.copy()), signs @ values)


@pytest.mark.parametrize(("bias", "plus"), [(0.5, 0.5), (0.2, 0.8)])
def test_walsh_holds_the_best_of_every_size(bias, plus):
    bits, labels = unrelated(9, 80, seed=1, bias=bias, plus=plus)
    for size in (1, 2, 4):
        found = walsh(task_for(bits, labels, k=size)).subsets
        best = max(itertools.combinations(range(9), size), key=lambda s: strength(bits, labels, s))
        assert found[0] == best


@pytest.mark.parametrize(("size", "rows"), [(1, 6), (2, 8), (3, 8), (4, 9), (5, 9), (4, 80)])
def test_meeting_lists_all_that_fit(size, rows):
    bits, labels, hidden = planted(12, size, 0.0, rows, seed=0, sign=-1)
    task = task_for(bits, labels, k=size)
    found, whole = fitting_subsets(task, size)
    fitting = [
        each
        for each in itertools.combinations(task.table.distinct_columns.tolist(), size)
        if abs((labels * (-1) ** bits[:, each].sum(axis=1).astype(int)).sum()) == rows
    ]
    assert whole
    assert sorted(found) == fitting
    assert hidden in fitting or task.table.distinct < 12


def test_restarts_solve_for_fewer_columns_than_rows():
    bits, labels, hidden = planted(60, 10, 0.0, 60, seed=0)
    found = restarts(task_for(bits, labels))
    assert hidden in found.subsets
    assert column_trials(60, 39, 10) == pytest.approx(math.comb(60, 10) / math.comb(39, 10))


@pytest.mark.parametrize("small", [1000, 10])
def test_random_rows_outvote_a_little_noise(monkeypatch, small):
    """Many systems at once, or one at a time as for very many columns."""
    monkeypatch.setattr("paritylab.baselines.random_systems.MAX_BATCH_COLUMNS", small)
    bits, labels, hidden = planted(40, 17, 0.03, 200, seed=0)
    told = []
    task = task_for(bits, labels)
    task.progress = lambda fraction, text: told.append(text)
    found = random_rows(task)
    assert hidden in found.subsets
    assert "trials at" in told[0]
    assert row_trials(40, 0.03) == pytest.approx(0.97**-49)
