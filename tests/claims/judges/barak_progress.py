"""Invented records for the claims of claims/barak/progress.py."""

from dataclasses import replace

import numpy as np

from paritylab.claims.barak.progress import Hidden, Probe
from paritylab.statistics import Mean, Rate

SPREAD = np.linspace(-0.02, 0.02, 12)
PATH = np.linspace(0, 1, 5)


def hidden(low=1.04, high=1.12, accuracy=0.51, learned=12):
    ratio = Mean((low + high) / 2, low, high, 12)
    at_chance = Mean(accuracy, accuracy - 0.01, accuracy + 0.01, 12)
    return Hidden(Rate(learned, 12), 1000.0, at_chance, ratio, PATH, PATH, PATH, PATH)


def probe(ratio=1.0, share=0.3, learned=12, spread=1.0):
    ratios = ratio * (1 + spread * SPREAD)
    ones = np.ones(len(ratios))
    found = Rate(learned, 12)
    return Probe(found, 1000 * ones, share * ones, ratios, 0.9 * ones, PATH, PATH, PATH, PATH)


TABLES = {
    "barak-progress": [
        (hidden(), "holds"),
        (hidden(low=0.99), "undecided"),
        (hidden(low=0.9, high=0.98), "refuted"),
        (hidden(accuracy=0.58), "corrected"),
        (hidden(learned=6), "undecided"),
        (replace(hidden(), ratio=None), "undecided"),
    ],
    "barak-probe": [
        (probe(), "corrected"),
        (probe(ratio=2.0), "holds"),
        (probe(share=0.01), "refuted"),
        (probe(ratio=1.1, spread=8.0), "undecided"),
        (probe(learned=6), "undecided"),
        (probe(ratio=2.0, learned=6), "undecided"),
        (replace(probe(ratio=2.0), ratio=np.array([2.0])), "undecided"),
    ],
}
