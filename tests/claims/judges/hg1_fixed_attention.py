"""Invented records for claims/hg1/fixed_attention.py and fixed_hard_attention.py."""

import numpy as np

from paritylab.claims.hg1.fixed_attention import Frozen, Growth, Hunted
from paritylab.claims.hg1.fixed_hard_attention import HardHeads
from paritylab.claims.hg1.fixed_heads import Solvers


def hunted(risk):
    both = np.ones(2)
    sizes = (np.array([6, 6]), np.array([1, 2]), 0.3 * both, np.array([False, True]))
    return Hunted(*sizes, risk * both, 0.6 * both, 12)


def solvers(n=7, risk=1e-20, excess=0.5, norms=1e5, scale=1.0):
    return Solvers(n, 2, scale, risk, norms, 2 * norms, excess, 127)


def frozen(risk=0.9, excess=0.5, own=-0.1):
    return Frozen(solvers(excess=excess, scale=1e9), solvers(excess=own), hunted(risk))


def hard(any_size=0.9, each_size=0.9):
    n, m, one = np.array([6, 6]), np.array([1, 2]), np.ones(2)
    bounds = (0.8 * one, 0.6 * one)
    return HardHeads(n, m, any_size * one, each_size * one, *bounds, 102, {3: 0.0, 5: 0.0})


def growth(risk=0.9, end=0.999, worst=1e-20, norms=1e6, fallen=0.01):
    nets = [solvers(4, worst, norms=100.0), solvers(8, worst, norms=norms)]
    large = [solvers(4, worst, norms=0.1), solvers(8, worst, norms=fallen)]
    far = (np.array([1e2, 1e8]), np.array([0.1, end]), np.array([50.0, 5e7]))
    return Growth(nets, large, hunted(risk), *far)


TABLES = {
    "hg1-thm11": [
        (frozen(), "corrected"),
        (frozen(own=0.1), "corrected"),
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
        (growth(fallen=0.15), "undecided"),
        (growth(risk=0.5), "refuted"),
        (growth(end=0.5), "refuted"),
    ],
}
