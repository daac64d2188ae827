"""Rows as packed columns and as signs."""

import numpy as np
import pytest

from xorfind import rows as labelled_rows
from xorfind.rows import LabelledRows, packed


@pytest.mark.parametrize(
    ("rows", "n"), [(2, 1), (7, 5), (8, 8), (63, 9), (64, 64), (65, 17), (600, 13)]
)
def test_columns_are_packed_bit_by_bit(rows, n, monkeypatch):
    # Few at a time, so that rows do not fill them evenly.
    monkeypatch.setattr(labelled_rows, "TOGETHER", 24)
    bits = np.random.default_rng(rows).integers(0, 2, (rows, n), dtype=np.uint8)
    table = LabelledRows(bits, np.ones(rows))
    np.testing.assert_array_equal(table._packed, packed(bits.T))
    np.testing.assert_array_equal(table.signs, 1 - 2 * table.distinct_bits.T.astype(int))
