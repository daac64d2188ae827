"""Invented records for the claim of claims/lab/layers.py."""

from paritylab.claims.lab.chain import HalfPoint
from paritylab.claims.lab.layers import Layered, Part
from paritylab.statistics import Rate


def layered(low=0.9, high=1.1, kept=12, broken=0, weights=0.0, tokens=1e-7, visible=8000.0):
    sizes = [HalfPoint(64, 4300.0, 4300.0, 0.9, 1.1), HalfPoint(128, 8e3, 8e3, low, high)]
    parts = [Part("as it is", True, Rate(kept, 12)), Part("at once", False, Rate(broken, 12))]
    return Layered(sizes, [visible, 14_000.0], parts, Rate(5, 12), weights, tokens, 4)


NAN = float("nan")

TABLES = {
    "lab-layers": [
        (layered(), "holds"),
        (layered(low=0.8, high=1.3), "holds"),
        (layered(low=1.5, high=1.9), "refuted"),
        (layered(low=0.3, high=0.6), "refuted"),
        (layered(kept=0), "refuted"),
        (layered(broken=12), "refuted"),
        (layered(weights=1.0), "refuted"),
        (layered(tokens=0.1), "refuted"),
        (layered(low=1.0, high=1.5), "undecided"),
        (layered(kept=8), "undecided"),
        (layered(broken=5), "undecided"),
        (layered(visible=4400.0), "undecided"),
        (layered(low=NAN, high=NAN), "undecided"),
    ]
}
