"""Invented records for the claims of claims/lab/xor_start.py."""

from paritylab.claims.lab.xor_start import Starts
from paritylab.statistics import PowerLaw, Rate


def starts(squared=(-0.1, 0.1), correlation=(-0.1, 0.1), zero=40):
    laws = {
        "squared": PowerLaw(0.0, *squared, 0.03),
        "correlation": PowerLaw(0.0, *correlation, 0.8),
    }
    half = {"squared": [0.02, 0.01], "correlation": [0.7, 0.8]}
    specific = {"squared": Rate(0, 40), "correlation": Rate(30, 40)}
    return Starts([64, 256], half, laws, Rate(zero, 40), specific)


TABLES = {
    "lab-init-variance": [
        (starts(), "holds"),
        (starts(zero=4), "refuted"),  # a start of zero fails
        (starts(squared=(0.3, 0.5)), "refuted"),
        (starts(correlation=(-0.6, -0.3)), "refuted"),
        (starts(squared=(0.1, 0.4)), "undecided"),
        (starts(correlation=(-0.4, 0.0)), "undecided"),
        (starts(zero=20), "undecided"),
    ],
}
