"""The accelerator's route, run on the CPU: the same subsets as the plain one."""

from functools import partial

import numpy as np
import pytest
from drawn import planted, unrelated

from xorfind.rows import LabelledRows
from xorfind.solvers.correlation import colex, correlate, count_subsets

jnp = pytest.importorskip("jax.numpy")
device = pytest.importorskip("xorfind.solvers.device")


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    for name, value in {"TALL": 32, "WIDE": 64, "AHEAD": 5}.items():
        monkeypatch.setattr(device, name, value)


@pytest.mark.parametrize("size", [3, 4, 6])
@pytest.mark.parametrize("longest", [1 << 30, 128 * 64])
def test_every_subset_is_in_one_tile(monkeypatch, size, longest):
    monkeypatch.setattr(device, "LARGEST_LIST", longest)
    tiles = list(device.tiles(device.split_of(14, size), max(64, longest // 128 // 64 * 64)))
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
        made = np.asarray(device.listed(columns, size, 5, 9, 8))
        sets = colex(np.arange(5, 9), size)
        np.testing.assert_array_equal(made[:4], columns[sets].prod(axis=1))
        assert made.shape == (8, 128)
        assert not made[4:].any()


@pytest.mark.parametrize("widest", [384, 100, 0])
def test_the_kernel_keeps_the_largest_sum(widest):
    generator = np.random.default_rng(widest)
    left, right = (generator.choice([-1, 1], (rows, 256)).astype(np.int8) for rows in (256, 384))
    inside = np.sort(generator.integers(0, widest + 1, 256))[::-1].astype(np.int32)
    found = device.largest_sum(left, right, jnp.asarray(inside), interpret=True)
    assert int(found) == device.plain_largest(left, right, inside)


def test_the_kernel_finds_what_the_plain_route_finds(monkeypatch):
    bits, labels, hidden = planted(14, 4, 0.05, 60, seed=0)
    signs = LabelledRows(bits, labels).signs
    plain = device.device_correlate(signs, labels, 4, on_chip=False)
    for name in ("TALL", "WIDE"):
        monkeypatch.setattr(device, name, 128)
    kernel = partial(device.largest_sum, interpret=True)
    monkeypatch.setattr(device, "largest_sum", kernel)
    found = device.device_correlate(signs, labels, 4, on_chip=True)
    assert found.subsets[0] == plain.subsets[0] == hidden
    assert found.complete


def test_a_tile_that_is_no_multiple_is_refused():
    with pytest.raises(ValueError, match="multiples of 128"):
        device.largest_sum(np.ones((100, 128)), np.ones((128, 128)), np.ones(100))
