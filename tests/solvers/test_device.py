"""The accelerator's route, run on the CPU: the same subsets as the plain one."""

import numpy as np
import pytest
from tests.solvers.tables import planted, unrelated

from paritylab.solvers import device
from paritylab.solvers.correlation import correlate, count_subsets
from paritylab.solvers.table import Table


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    for name, value in {"TALL": 32, "WIDE": 64, "NARROW": 16, "AHEAD": 5}.items():
        monkeypatch.setattr(device, name, value)


@pytest.mark.parametrize("size", [3, 4, 6])
@pytest.mark.parametrize("longest", [1 << 30, 64 * 64])
def test_every_subset_is_in_one_tile(monkeypatch, size, longest):
    monkeypatch.setattr(device, "LARGEST_LIST", longest)
    below, above = (size - 1) // 2, size - 1 - (size - 1) // 2
    tiles = device._tiles(14, below, above, max(64, longest // 64 // 64 * 64))
    assert sum(tile.subsets for tile in tiles) == count_subsets(14, size)
    bits, labels, hidden = planted(14, size, 0.05, 60, seed=0)
    found = device.device_correlate(Table(bits, labels).signs, labels, size)
    assert found.complete
    assert found.examined == count_subsets(14, size)
    assert found.subsets[0] == hidden


def test_biased_tables_rank_as_on_the_cpu():
    bits, labels = unrelated(12, 80, seed=1, bias=0.2, plus=0.8)
    signs = Table(bits, labels).signs
    for size in (3, 4):
        one = device.device_correlate(signs, labels, size).subsets[0]
        assert one == correlate(signs, labels, size).subsets[0]


def test_a_deadline_ends_the_search():
    bits, labels = unrelated(16, 40, seed=0)
    found = device.device_correlate(Table(bits, labels).signs, labels, 4, deadline=-np.inf)
    assert not found.complete
    assert 0 < found.examined < count_subsets(16, 4)
