"""The accelerator's route, run on the CPU: the same subsets as the plain one."""

import numpy as np
import pytest
from drawn import planted, unrelated

from xorfind.rows import LabelledRows
from xorfind.solvers.correlation import colex, correlate, count_subsets

pytest.importorskip("jax.numpy")
device = pytest.importorskip("xorfind.solvers.device")


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    for name, value in {"TALL": 32, "WIDE": 64, "AHEAD": 5}.items():
        monkeypatch.setattr(device, name, value)


@pytest.mark.parametrize("size", [3, 4, 6])
def test_every_subset_is_in_one_tile(size):
    split = device.split_of(14, size)
    assert split.highs <= split.lows
    tiles = list(device.tiles(split))
    assert sum(tile.subsets for tile in tiles) == count_subsets(14, size)
    bits, labels, hidden = planted(14, size, 0.05, 60, seed=0)
    found = device.device_correlate(LabelledRows(bits, labels).signs, labels, size)
    assert found.complete
    assert found.examined == count_subsets(14, size)
    assert found.subsets[0] == hidden


def test_biased_tables_rank_as_on_the_cpu():
    bits, labels = unrelated(12, 80, seed=1, bias=0.2, plus=0.8)
    signs = LabelledRows(bits, labels).signs
    for size in (3, 4):
        one = device.device_correlate(signs, labels, size).subsets[0]
        assert one == correlate(signs, labels, size).subsets[0]


def test_a_deadline_ends_the_search():
    bits, labels = unrelated(24, 40, seed=0)
    found = device.device_correlate(LabelledRows(bits, labels).signs, labels, 4, deadline=-np.inf)
    assert not found.complete
    assert 0 < found.examined < count_subsets(24, 4)


def test_lists_hold_the_products_in_order():
    columns = np.random.default_rng(0).choice([-1, 1], (9, 128)).astype(np.int8)
    for size in (1, 2, 3):
        made = np.asarray(device.listed(columns, size, 9, 8))
        sets = colex(np.arange(9), size)
        np.testing.assert_array_equal(made[:9], columns[sets].prod(axis=1))
        assert made.shape == (16, 128)
        assert not made[9:].any()
