"""Columns of 0, 1, 2: both cuts, and pairs by their nine cells."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from xorfind import discover
from xorfind.answer import Conclusion
from xorfind.evidence.levels import log_gamma_tail
from xorfind.table.genotypes import _log_p, _moments, is_genotype, strongest_pair

#: No effect of either locus alone at frequency 1/2, and no parity of cuts.
LATIN = np.array([[0.1, 0.1, 0.9], [0.1, 0.9, 0.1], [0.9, 0.1, 0.1]])


def genotypes(rows, loci, maf, seed):
    return np.random.default_rng(seed).binomial(2, maf, (rows, loci)).astype(np.uint8)


def labelled(values, pair, table, seed=1):
    chance = table[values[:, pair[0]], values[:, pair[1]]]
    return (np.random.default_rng(seed).random(len(values)) < chance).astype(np.uint8)


def as_table(values, labels):
    return {f"g{at}": column for at, column in enumerate(values.T)} | {"sick": labels}


def test_the_strongest_pair_is_that_of_all_tables():
    values = genotypes(800, 9, 0.5, 0)
    label = labelled(values, (2, 7), LATIN)
    found = strongest_pair(values, label)
    p_values = {}
    for i, j in itertools.combinations(range(9), 2):
        cells = values[:, i] * 3 + values[:, j]
        counts = [np.bincount(cells[label == side], minlength=9) for side in (0, 1)]
        p_values[i, j] = chi2_contingency(counts, correction=False).pvalue
    assert found.columns == (2, 7) == min(p_values, key=p_values.get)
    # Plain χ² says nearly the same where no cell is small.
    assert found.log_p == pytest.approx(math.log(36 * p_values[2, 7]), rel=0.03)
    assert np.sum(found.rows) == 800
    assert np.sum(found.true) == label.sum()


def log_p(rows, true):
    return _log_p(rows.ravel(), true.ravel())


def test_cells_of_few_rows_are_joined():
    rows = np.array([[90, 4, 100], [3, 2, 0], [80, 0, 1]])
    true = np.array([[20, 1, 30], [2, 0, 0], [10, 0, 0]])
    joined, hits = np.zeros((3, 3), int), np.zeros((3, 3), int)
    # One label in five: the four small ones have too few of it, they join the next.
    joined[0], hits[0] = (90, 90, 100), (13, 20, 30)
    assert log_p(rows, true) == pytest.approx(log_p(joined, hits))
    # About as many of either: 2 rows and 1 expect one of each, and so do the others alone.
    even = np.array([[45, 4, 40], [0, 2, 0], [50, 0, 1]])
    joined[0], hits[0] = (90, 4, 100), (45, 4, 40)
    joined[1], hits[1] = (3, 3, 80), (3, 0, 50)
    assert log_p(rows, even) == pytest.approx(log_p(joined, hits))
    assert log_gamma_tail(4.0, 300.0) == pytest.approx(chi2.logsf(600, 8), abs=1e-9)
    # Beyond floating numbers: for a whole shape the tail is e^-x·(1 + x + x²/2 + x³/6).
    exact = math.log(1 + 900 + 900**2 / 2 + 900**3 / 6) - 900
    assert log_gamma_tail(4.0, 900.0) == pytest.approx(exact, abs=1e-4)
    assert log_p(np.diag([9, 9, 9]), np.diag([1, 2, 1])) == 0


def test_moments_are_those_of_drawn_tables():
    count, rows = np.array([30, 12, 150, 8]), 200
    drawn = np.random.default_rng(0).multivariate_hypergeometric(count, 60, 40_000)
    statistic = ((drawn - count * 0.3) ** 2 / (count * 0.3 * 0.7)).sum(axis=1)
    mean, variance = _moments(count.astype(float), 60 / rows)
    assert statistic.mean() == pytest.approx(mean, rel=0.02)
    assert statistic.var() == pytest.approx(variance, rel=0.05)


def test_the_level_holds_where_labels_are_drawn_by_a_coin():
    generator, found = np.random.default_rng(3), 0
    for seed in range(150):
        values = genotypes(200, 8, 0.2, seed)
        found += strongest_pair(values, generator.random(200) < 0.3).log_p <= math.log(0.05)
    assert found <= 15  # 7.5 expected at most


def test_no_parity_but_a_pair_with_its_table():
    values = genotypes(600, 6, 0.4, 0)
    rule = discover(as_table(values, labelled(values, (1, 4), LATIN)), "sick", budget=2)
    assert rule.conclusion is not Conclusion.EXPLAINS
    pair = json.loads(json.dumps(rule.to_json()))["pair"]
    assert pair["columns"] == ["g1", "g4"]
    inside = (values[:, 1] == 0) & (values[:, 4] == 2)
    assert pair["rows"][0][2] == inside.sum()
    assert "depends on g1 and g4 together" in str(rule)


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
    assert rule.pair is None
    assert is_genotype(np.array([0.0, 1.0, 2.0]))
    assert not is_genotype(np.array([0.0, 1.0, 3.0]))
    assert not is_genotype(np.array([0.0, 1.0]))
