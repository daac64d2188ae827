"""Invented records for the claims of claims/ks/experiments.py."""

import numpy as np

from paritylab.claims.ks.experiments import FourModels, Reader, Readers, Trained
from paritylab.statistics import Rate


def four_models(direct=0, cot=0, teacher=12, selfcheck=12, staged=12, targets=12, rows=4000):
    at = np.arange(3)
    solved = {"direct": direct, "cot": cot, "teacher-full": teacher, "selfcheck": selfcheck}
    cells = [
        Trained(8, mode, Rate(count, targets), np.array([30, -1]), 0.4, 0.5 * np.ones(3))
        for mode, count in solved.items()
    ]
    return FourModels(cells, Rate(staged, targets), at, rows, 450)


def readers(solved=12, learned=0):
    return Readers([Reader("elman", Rate(solved, 12), Rate(learned, 12), 300, 2000, 0.03)])


PUBLISHED = {"staged": 60, "targets": 60, "rows": 100_000}

TABLES = {
    "ks-experiments": [
        (four_models(), "corrected"),
        (four_models(cot=12), "holds"),
        (four_models(direct=12), "corrected"),
        (four_models(direct=60, cot=9, teacher=60, selfcheck=60, **PUBLISHED), "refuted"),
        (four_models(cot=0, teacher=60, selfcheck=60, **PUBLISHED), "refuted"),
        (four_models(cot=12, teacher=60, selfcheck=60, **PUBLISHED), "corrected"),
        (four_models(cot=12, teacher=0, selfcheck=60, **PUBLISHED), "refuted"),
        (four_models(cot=0, teacher=60, selfcheck=60, staged=60, targets=60), "corrected"),
        (four_models(cot=6), "undecided"),
        (four_models(cot=30, selfcheck=60, teacher=60, staged=60, targets=60), "corrected"),
        (four_models(cot=20, selfcheck=40, teacher=40, staged=40, targets=40), "undecided"),
        (four_models(selfcheck=32, teacher=64, staged=64, targets=64), "corrected"),
        (four_models(staged=7), "undecided"),
        (four_models(teacher=2, selfcheck=2, staged=2, targets=2), "undecided"),
    ],
    "ks-rnn": [
        (readers(), "holds"),
        (readers(solved=11), "undecided"),
        (readers(learned=1), "undecided"),
        (readers(solved=0), "refuted"),
        (readers(learned=12), "refuted"),
        (readers(solved=5), "undecided"),
        (readers(learned=6), "undecided"),
    ],
}
