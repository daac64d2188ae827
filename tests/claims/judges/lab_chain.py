"""Invented records for the claims of claims/lab/chain.py."""

from paritylab.claims.lab.chain import HalfPoint, HarmCurve, Harmed, Needed, Samples
from paritylab.statistics import Mean, PowerLaw, Rate


def needed(low=0.9, high=1.1):
    law, drift = PowerLaw(1.2, 1.15, 1.25, 20.0), PowerLaw(0.0, -0.05, 0.05, 1.0)
    sizes = [HalfPoint(128, 8000.0, 8000.0, 0.95, 1.05), HalfPoint(256, 2e4, 2e4, low, high)]
    return Needed("every pair found", sizes, law, drift)


def samples(pairs=None, inputs=None):
    return Samples([pairs or needed(), inputs or needed()], 20)


def harmed(first=12, last=0, limit=0.1, gap=(-0.06, -0.08, -0.04), runs=12):
    rates = [Rate(each, runs) for each in (first, first, last, last)]
    good = [Rate(each, 12) for each in (12, 12, 0, 0)]
    curves = [HarmCurve("shift", good, 0.1, 0.1), HarmCurve("lies", rates, limit, 0.1)]
    return Harmed(64, 32, 32_768, curves, 0.1, Mean(*gap, runs))


NAN = float("nan")

TABLES = {
    "lab-chain-samples": [
        (samples(), "holds"),
        (samples(needed(0.82, 1.1), needed(0.9, 1.24)), "holds"),
        (samples(needed(1.3, 1.5)), "refuted"),
        (samples(inputs=needed(0.6, 0.75)), "refuted"),
        (samples(needed(1.1, 1.3)), "undecided"),
        (samples(inputs=needed(0.75, 0.9)), "undecided"),
        (samples(needed(float("nan"), float("nan"))), "undecided"),
    ],
    "lab-chain-shift": [
        (harmed(), "holds"),
        (harmed(limit=0.14), "holds"),
        (harmed(first=2), "refuted"),  # breaks at half of the limit
        (harmed(last=12), "refuted"),  # twice the limit does no harm
        (harmed(gap=(0.06, 0.04, 0.08)), "refuted"),
        (harmed(limit=0.16), "undecided"),
        (harmed(limit=0.06), "undecided"),
        (harmed(limit=NAN), "undecided"),
        (harmed(gap=(0.0, -0.02, 0.02)), "undecided"),
        (harmed(first=9), "undecided"),
        (harmed(last=6), "undecided"),
    ],
}
