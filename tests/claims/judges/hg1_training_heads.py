"""Invented records for the claims of claims/hg1/training_heads.py."""

import numpy as np

from paritylab.claims.hg1.training_heads import Cell, Neighbours
from paritylab.statistics import Rate

NONE, ALL = Rate(0, 0), Rate(50, 50)


def neighbours(shared, hard, apart=ALL):
    sets, pointing = [(2, 3), (2, 3, 7)], np.array([2.4, 2.6])
    cells = [
        Cell(12, subset, 0.3, 0.0, Rate(50, 80), alike, right, right, 0.01, 0.001, pointing)
        for subset, alike, right in zip(sets, shared, hard, strict=False)
    ]
    return Neighbours(cells, (2, 6), apart)


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
}
