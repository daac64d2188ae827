"""Invented records for the claims of claims/hg1/fixed_attention.py."""

import numpy as np

from paritylab.claims.hg1.fixed_attention import Frozen, Growth, HardHeads, Hunted
from paritylab.claims.hg1.fixed_heads import Solvers


def hunted(risk):
    both = np.ones(2)
    return Hunted(np.array([8, 8]), np.array([1, 2]), 0.3 * both, risk * both, 0.6 * both, 12)


def solvers(n=7, risk=1e-20, excess=1e9, norms=1e5):
    return Solvers(n, 1, risk, norms, 2 * norms, excess, 127)


def frozen(risk=0.9, excess=1e9):
    return Frozen(solvers(excess=excess), hunted(risk), [7, 22, 32], [715.0, 5533.0])


def hard(any_size=0.9, each_size=0.9):
    n, m, one = np.array([6, 6]), np.array([1, 2]), np.ones(2)
    bounds = (0.8 * one, 0.6 * one)
    return HardHeads(n, m, any_size * one, each_size * one, *bounds, 102, {3: 0.0, 5: 0.0})


def growth(risk=0.9, end=0.999, worst=1e-20, norms=1e6):
    nets = [solvers(4, worst, norms=100.0), solvers(8, worst, norms=norms)]
    return Growth(nets, hunted(risk), np.array([1e2, 1e8]), np.array([0.1, end]))


TABLES = {
    "hg1-thm11": [
        (frozen(), "corrected"),
        (frozen(excess=-0.5), "holds"),
        (frozen(risk=0.5), "refuted"),
    ],
    "hg1-cor20": [
        (hard(), "holds"),
        (hard(any_size=0.7), "refuted"),
        (hard(any_size=0.7, each_size=0.1), "refuted"),
        (hard(each_size=0.5), "corrected"),
    ],
    "hg1-remark12": [
        (growth(), "corrected"),
        (growth(worst=0.95), "holds"),
        (growth(norms=200.0), "undecided"),
        (growth(risk=0.5), "refuted"),
        (growth(end=0.5), "refuted"),
    ],
}
