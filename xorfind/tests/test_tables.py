"""Planted tables hold what they say they hold."""

import numpy as np
import pytest
import tables

PARITIES = {
    "plain": tables.planted(20, 3, 2000, seed=1),
    "noisy": tables.planted(20, 3, 4000, noise=0.2, seed=2),
    "negative": tables.planted(20, 2, 2000, sign=-1, seed=5),
    "crc": tables.crc_bit(),
    "linear approximation": tables.linear_approximation(4000),
}


@pytest.mark.parametrize("table", PARITIES.values(), ids=PARITIES)
def test_labels_follow_the_subset_up_to_the_noise(table):
    truth = table.truth
    signs = truth.sign * (-1.0) ** table.bits[:, table.positions].sum(axis=1)
    wrong = (signs != table.labels).mean()
    error = 4 * np.sqrt(truth.noise * (1 - truth.noise) / len(signs))
    assert abs(wrong - truth.noise) <= error


@pytest.mark.parametrize("kind", ["and", "or", "majority", "nothing"])
def test_decoys_are_functions_of_their_columns_and_no_parity(kind):
    table = tables.decoy(kind, 12, 3, 8000, seed=1)
    if kind == "nothing":
        assert table.truth.subset == ()
        assert abs(table.labels.mean()) < 0.05
        return
    rows = table.bits[:, table.positions]
    value = {"and": rows.all(1), "or": rows.any(1), "majority": rows.sum(1) > 1}[kind]
    assert (value == table.columns["y"]).all()


def test_timings_separate_and_five_per_cent_are_wrong():
    table = tables.address_hash(20_000)
    address, slow = table.columns["address"], table.columns["cycles"] > 220
    bits = [int(name.split(".")[1]) for name in table.truth.subset]
    parity = np.bitwise_xor.reduce([address >> bit & 1 for bit in bits]).astype(bool)
    assert (parity != slow).mean() == pytest.approx(0.05, abs=0.006)
