"""Invented records for the claims of claims/hg1/lemmas.py and pairs.py."""

import numpy as np

from paritylab.claims.hg1.lemmas import Motion, Pairs
from paritylab.claims.hg1.pairs import Cosines


def cosines(smallest=-1.0, gap=1e-15):
    cells = [(8, 3, 0.125, 0.0), (16, 2, 0.0625, 0.01)]
    values = np.array([smallest, smallest / 2])
    return Cosines(cells, values, np.linspace(smallest, 1, 9), gap, 1e-30, 40.0, 16)


def motion(printed=1e-9, true=1e-20, slope=0.0, gap=1e-14):
    grid = np.array([[1.0, 2.0], [1.0, 3.0]])
    return Motion(
        n=np.array([8, 12]),
        printed=printed * grid,
        true=true * grid,
        bits=grid,
        attended=1e-6 * grid,
        ones_printed=np.array([30.0, 40.0]),
        ones_true=np.array([true, true]),
        b=np.array([0.0, 0.01]),
        slope=np.array([slope, slope]),
        gap=gap,
        starts=2,
    )


def pairs(smooth=0.5, far=4.0):
    right = np.array([[0.0, 0.0], [0.0, smooth]])
    return Pairs(
        k=np.array([2, 3]),
        b=np.array([0.0, 0.01]),
        left=np.zeros((2, 2)),
        loss=right / 2,
        right=right,
        far_s=np.full(2, 1e-14),
        far_left=np.full(2, 1e-24),
        far_loss=np.full(2, 8.0),
        far_right=np.full(2, far),
    )


TABLES = {
    "hg1-lemma17": [
        (cosines(), "refuted"),
        (cosines(smallest=0.2), "holds"),
        (cosines(smallest=-1e-12), "holds"),
        (cosines(smallest=-0.01), "undecided"),
        (cosines(gap=0.1), "undecided"),
    ],
    "hg1-lemma18": [
        (motion(), "refuted"),
        (motion(printed=2.0, true=2.0, slope=8.0), "holds"),
        (motion(printed=2.0), "corrected"),
        (motion(printed=2.0, true=2.0), "corrected"),
        (motion(gap=0.1), "undecided"),
    ],
    "hg1-lemma19": [
        (pairs(), "refuted"),
        (pairs(far=0.0), "refuted"),
        (pairs(smooth=0.0), "corrected"),
        (pairs(smooth=0.0, far=0.0), "holds"),
    ],
}
