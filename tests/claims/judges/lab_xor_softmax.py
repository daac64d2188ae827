"""Invented records for the claims of claims/lab/xor_softmax.py."""

import numpy as np

from paritylab.claims.lab.xor_softmax import Band, BandCell, StandInCell, StandIns, TwoLayers
from paritylab.statistics import PowerLaw, Rate


def stand_ins(softmax=32, largest=32, score=0, features=0, runs=32):
    names = ("softmax", "two largest", "one plus score", "random features")
    found = (softmax, largest, score, features)
    rates = {name: Rate(each, runs) for name, each in zip(names, found, strict=True)}
    return StandIns([StandInCell(n, rates) for n in (64, 256)])


def band(low=0.2, high=0.6, balanced=30, runs=30):
    law = PowerLaw((low + high) / 2, low, high, 1.0)
    ends = ((256, 12.0, 40.0), (1024, 14.0, 90.0))
    return Band([BandCell(*each, Rate(balanced, runs)) for each in ends], law, 4000.0)


def layers(label=1e-18, right=20, runs=20):
    return TwoLayers(label, {"n = 64": Rate(right, runs), "n = 256": Rate(runs, runs)}, 0.6, 2000)


TABLES = {
    "lab-cheap-softmax": [
        (stand_ins(), "holds"),
        (stand_ins(largest=0), "refuted"),
        (stand_ins(features=32), "refuted"),
        (stand_ins(score=32), "refuted"),
        (stand_ins(softmax=0), "undecided"),
        (stand_ins(runs=10, softmax=10, largest=10), "undecided"),  # too few
        (stand_ins(softmax=5, largest=5, runs=5), "undecided"),
        (stand_ins(largest=50, softmax=100, runs=100), "undecided"),
        (stand_ins(softmax=100, largest=100, score=50, runs=100), "undecided"),
        (stand_ins(softmax=100, largest=30, score=0, runs=100), "refuted"),
        (stand_ins(softmax=100, largest=70, score=30, runs=100), "holds"),
        (stand_ins(softmax=100, largest=100, score=70, runs=100), "refuted"),
    ],
    "lab-temperature-band": [
        (band(), "holds"),
        (band(low=-0.6, high=-0.2), "refuted"),
        (band(balanced=0), "refuted"),
        (band(low=-0.2, high=0.2), "undecided"),
        (band(balanced=5, runs=5), "undecided"),
        (band(low=np.nan, high=np.nan), "undecided"),
        (band(balanced=50, runs=100), "undecided"),
        (band(balanced=70, runs=100), "holds"),
        (band(balanced=30, runs=100), "refuted"),
        (band(low=-0.1, high=0.3, balanced=30, runs=100), "refuted"),
        (band(low=-0.1, high=0.3, balanced=5, runs=5), "undecided"),
    ],
    "lab-two-layers": [
        (layers(), "holds"),
        (layers(label=1e-3), "refuted"),
        (layers(right=0), "refuted"),
        (layers(right=30, runs=100), "refuted"),
        (layers(right=70, runs=100), "holds"),
        (layers(right=50, runs=100), "undecided"),
        (layers(right=5, runs=5), "undecided"),
        (layers(right=4, runs=5), "undecided"),
    ],
}
