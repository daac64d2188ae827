"""Invented records for the claims of claims/lab/training.py."""

from paritylab.claims.lab.training import Batches, Code, CodeCell, Temperature, Temperatures
from paritylab.statistics import Rate


def cells(*found, solved=10, runs=64):
    return Code([CodeCell(12, 2, Rate(each, runs), Rate(solved, runs)) for each in found])


def temperatures(soft, sharp, solved=(36, 2), runs=64):
    cells = (("n/4", soft, solved[0]), ("1/n", sharp, solved[1]))
    taus = [Temperature(tau, Rate(a, runs), Rate(b, runs), Rate(a, runs)) for tau, a, b in cells]
    return Temperatures(10, 2, taus)


def batches(found, exact, blind=1, runs=100):
    rates = {16: Rate(0, runs), 64: Rate(found, runs)}
    return Batches(12, 2, rates, Rate(exact, runs), Rate(blind, runs), Rate(0, runs))


TABLES = {
    "lab-code": [
        (cells(36, 20), "holds"),
        (cells(36, 64), "refuted"),
        (cells(36, 0), "refuted"),
        (cells(36, solved=64), "refuted"),
        (cells(36, 6), "undecided"),
        (cells(15, runs=30), "undecided"),  # an interval too wide
    ],
    "lab-fixed-tau": [
        (temperatures(36, 2), "holds"),
        (temperatures(2, 36), "refuted"),
        (temperatures(36, 2, solved=(0, 20)), "refuted"),  # on B and yet not below 0.05
        (temperatures(30, 28), "undecided"),
        (temperatures(9, 0, solved=(9, 0), runs=12), "undecided"),  # too few runs
    ],
    "lab-sgd": [
        (batches(57, 60), "holds"),
        (batches(5, 60), "refuted"),
        (batches(50, 50, blind=90), "refuted"),
        (batches(30, 60), "undecided"),
        (batches(57, 60, blind=50), "undecided"),
        (batches(6, 7, runs=12), "undecided"),  # too few runs
    ],
}
