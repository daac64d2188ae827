"""Invented records for the claim of claims/barak/progress.py."""

from dataclasses import replace

import numpy as np

from paritylab.claims.barak.progress import Progress
from paritylab.statistics import Rate

SPREAD = np.linspace(-0.02, 0.02, 12)


def progress(ratio=1.0, share=0.3, learned=12, spread=1.0):
    path = np.linspace(0, 1, 5)
    ratios = ratio * (1 + spread * SPREAD)
    ones = np.ones(len(ratios))
    found = Rate(learned, 12)
    return Progress(found, 1000 * ones, share * ones, ratios, 0.9 * ones, path, path, path, path)


TABLES = {
    "barak-progress": [
        (progress(), "corrected"),
        (progress(ratio=2.0), "holds"),
        (progress(share=0.01), "refuted"),
        (progress(ratio=1.1, spread=8.0), "undecided"),
        (progress(learned=6), "undecided"),
        (progress(ratio=2.0, learned=6), "undecided"),
        (replace(progress(ratio=2.0), ratio=np.array([2.0])), "undecided"),
    ],
}
