"""Invented records for the claims of claims/hg2/attention.py."""

from paritylab.claims.hg2.attention import Kinds, KindsCell
from paritylab.statistics import Rate


def kinds(softmax=40, sigmoid=40, linear=0, plain=0, exp=4, untied=40, learnt=40, runs=40):
    """Successes of `runs` runs, alike at both sizes."""
    rate = lambda successes: Rate(successes, runs)  # noqa: E731
    before = {"softmax": softmax, "sigmoid": plain, "exp": plain, "relu": plain, "linear": linear}
    after = {"sigmoid": sigmoid, "exp": exp, "relu": exp, "linear": linear}
    cells = [
        KindsCell(
            n,
            60,
            {kind: rate(found) for kind, found in before.items()},
            {kind: rate(found) for kind, found in after.items()},
            {"sigmoid": "gain 50"},
        )
        for n in (64, 256)
    ]
    uncentred = {"softmax": rate(runs // 2), "sigmoid": rate(runs - 1)}
    return Kinds(cells, [rate(learnt)] * 2, rate(untied), uncentred, 0.1)


TABLES = {
    "hg2-softmax-needed": [
        (kinds(), "corrected"),
        (kinds(sigmoid=2, untied=1, learnt=3), "holds"),
        (kinds(softmax=4), "refuted"),
        (kinds(softmax=4, sigmoid=2, untied=1, learnt=3), "refuted"),
        (kinds(linear=39), "refuted"),  # linear attention learns too
        (kinds(linear=39, sigmoid=2, untied=1, learnt=3), "refuted"),
        (kinds(plain=38), "undecided"),  # right without a bias
        (kinds(exp=38), "undecided"),  # right without saturating
        (kinds(untied=2), "undecided"),
        (kinds(learnt=2), "undecided"),
        (kinds(sigmoid=35, untied=34), "corrected"),
        (kinds(softmax=23, sigmoid=23, runs=44), "undecided"),  # intervals too wide
        (kinds(softmax=11, sigmoid=11, untied=11, learnt=11, exp=1, runs=11), "undecided"),
        (kinds(softmax=42, sigmoid=2, untied=1, learnt=3, runs=80), "undecided"),
    ],
}
