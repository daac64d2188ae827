"""Invented records for the claims of claims/hg1/training_heads.py."""

import numpy as np

from paritylab.claims.hg1.training_heads import Cell, Neighbours, Panel, Panels
from paritylab.statistics import Rate

NONE, ALL = Rate(0, 0), Rate(50, 50)


def neighbours(shared, hard, apart=ALL):
    sets, pointing = [(2, 3), (2, 3, 7)], np.array([2.4, 2.6])
    cells = [
        Cell(12, subset, Rate(50, 80), *rates, pointing)
        for subset, *rates in zip(sets, shared, hard, strict=False)
    ]
    return Neighbours(cells, (2, 6), apart)


def panels(found, middle):
    series = {"kind": "heatmaps", "panels": []}
    cells = zip((0.3, 0.1), found, middle, strict=False)
    return Panels([Panel(tau, left, 0.96, right, series) for tau, left, right in cells], 240)


TABLES = {
    "hg1-adjacency": [
        (neighbours([Rate(50, 50)], [Rate(46, 50)]), "corrected"),
        (neighbours([Rate(50, 50)] * 2, [Rate(46, 50), Rate(0, 50)]), "corrected"),
        (neighbours([Rate(50, 50)] * 2, [Rate(0, 50), Rate(1, 50)]), "holds"),
        (neighbours([Rate(2, 50)], [Rate(1, 2)]), "refuted"),
        (neighbours([Rate(50, 50)], [Rate(46, 50)], apart=NONE), "undecided"),
        (neighbours([Rate(50, 50)], [Rate(5, 9)]), "undecided"),
        (neighbours([NONE], [NONE], apart=NONE), "undecided"),
    ],
    "hg1-fig2": [
        (panels([Rate(40, 64)], [Rate(28, 64)]), "corrected"),
        (panels([Rate(40, 64), Rate(0, 64)], [Rate(28, 64), Rate(0, 64)]), "corrected"),
        (panels([Rate(64, 64)], [Rate(28, 64)]), "holds"),
        (panels([Rate(0, 64)], [Rate(28, 64)]), "refuted"),
        (panels([Rate(40, 64)], [Rate(0, 64)]), "refuted"),
        (panels([Rate(58, 64)], [Rate(28, 64)]), "undecided"),
        (panels([Rate(2, 3)], [Rate(1, 3)]), "undecided"),
    ],
}
