"""Invented records for the claims of claims/ks/rates.py."""

from dataclasses import replace

import numpy as np

from paritylab.claims.ks.rates import Schedule, Scheduled
from paritylab.statistics import Rate


def schedule(
    failed=0, runs=80, exponent=-1.7, leak=1e-4, worst=1e-9, tilt=1.0, last=0.01, spread=0.1
):
    """exponent, leak, worst: of the formula. tilt: measured over formula. last: error at 128."""
    sizes = np.array([256.0, 1024.0])
    errors = np.exp(spread * np.linspace(-1, 1, 12))
    small = Scheduled(80, 8, 1000, Rate(failed, runs), 0.05, 0.03 * errors, 0.05, 1e-3, tilt)
    large = Scheduled(128, 16, 3000, Rate(0, 12), 0.03, last * errors, 0.05, 1e-3, tilt)
    broken, formula = worst * np.exp(-(sizes**0.25)), 0.01 * (sizes / 256) ** exponent
    return Schedule([small, large], sizes, broken, formula, np.full(2, leak), 2.0, (1e3, 1e40))


def one_size():
    record = schedule()
    return replace(record, cells=record.cells[:1])


TABLES = {
    "ks-thm5-rate": [
        (schedule(), "holds"),
        (schedule(runs=70), "undecided"),
        (schedule(failed=20), "refuted"),
        (schedule(failed=4), "undecided"),
        (schedule(failed=20, worst=2.0), "refuted"),
        (schedule(failed=1, worst=2.0), "undecided"),
        (schedule(worst=2.0), "undecided"),
        (schedule(tilt=1.4), "undecided"),
        (schedule(tilt=0.7), "undecided"),
        (schedule(exponent=-0.01), "corrected"),
        (schedule(leak=0.5), "corrected"),
        (schedule(last=0.04), "corrected"),
        (schedule(last=0.03, spread=1.0), "undecided"),
        (one_size(), "undecided"),
    ],
}
