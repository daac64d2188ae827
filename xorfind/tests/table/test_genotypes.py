"""Columns of 0, 1, 2: both cuts become bits."""

import numpy as np

from xorfind import discover


def genotypes(rows, loci, maf, seed):
    return np.random.default_rng(seed).binomial(2, maf, (rows, loci)).astype(np.uint8)


def as_table(values, labels):
    return {f"g{at}": column for at, column in enumerate(values.T)} | {"sick": labels}


def test_a_parity_of_recessive_cuts_is_found():
    values = genotypes(500, 8, 0.6, 5)
    labels = ((values[:, 0] > 1) ^ (values[:, 3] > 1)).astype(np.uint8)
    rule = discover(as_table(values, labels), "sick", budget=5)
    assert rule.columns == ("g0 > 1", "g3 > 1")
    assert "an odd number of {g0 > 1, g3 > 1}" in rule.statement
    assert (rule.apply(as_table(values, labels)).astype(int) == labels).all()


def test_a_threshold_that_was_given_is_the_only_cut():
    values = genotypes(300, 4, 0.4, 0)
    labels = ((values[:, 0] > 0) ^ (values[:, 2] > 0)).astype(np.uint8)
    rule = discover(as_table(values, labels), "sick", threshold=0)
    assert rule.columns == ("g0", "g2")
