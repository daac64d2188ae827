"""Invented records for the claims of claims/hg1/printed.py and misprints.py."""

import numpy as np

from paritylab.claims.hg1.misprints import Misprints
from paritylab.claims.hg1.printed import Counts, Workflow


def counts(share=0.5, drawn=0.01):
    printed = np.array([0.5, 0.25])
    steps = np.array([[True, False], [True, True], [True, True], [False, False]])
    return Counts(
        np.array([6, 11]), np.array([1, 1]), share * printed, printed, steps, 0.28, drawn, 20
    )


def workflow(text=1.0, caption=0.5, moved=1e-15):
    return Workflow(np.array([1.0, 0.1]), np.array([0.5, text]), np.full(2, caption), 9, moved)


def misprints(printed=1.0, mended=1e-14):
    return Misprints(["first", "second"], np.array([0.0, printed]), np.array([0.0, mended]), 8)


TABLES = {
    "hg1-thm11-factor": [
        (counts(), "holds"),
        (counts(share=1.1), "refuted"),
        (counts(drawn=-0.1), "refuted"),
    ],
    "hg1-fig1": [
        (workflow(), "corrected"),
        (workflow(caption=1.0), "holds"),
        (workflow(text=0.9), "refuted"),
        (workflow(moved=0.1), "refuted"),
    ],
    "hg1-misprints": [
        (misprints(), "corrected"),
        (misprints(printed=0.0), "holds"),
        (misprints(mended=1e-3), "refuted"),
    ],
}
