"""Invented records for the claims of claims/lab/reading.py."""

from paritylab.claims.lab.reading import Pools
from paritylab.statistics import Mean, Rate

ALL, TWENTY_OF_FORTY = Rate(80, 80), Rate(20, 40)


def pools(missed=TWENTY_OF_FORTY, saved=(2.7, 2.4, 3.0), brute=ALL):
    rates = (Rate(40, 80), Rate(60, 80), missed)
    return Pools(16, 3, 9, 0.15, *rates, 2.74, Mean(*saved, 60), 11.0, 8.0, brute, Rate(60, 80))


TABLES = {
    "lab-recover-b": [
        (pools(), "holds"),
        (pools(saved=(0.1, 0.0, 0.2)), "corrected"),
        (pools(saved=(9.0, 8.0, 10.0)), "corrected"),
        (pools(missed=Rate(0, 40)), "refuted"),
        (pools(missed=Rate(0, 0)), "undecided"),
        (pools(missed=Rate(6, 40)), "undecided"),
        (pools(saved=(2.7, 0.0, 6.0)), "undecided"),
        (pools(brute=Rate(40, 80)), "undecided"),
    ]
}
