"""Verdicts are checked when they are made."""

import math

import numpy as np
import pytest

from paritylab.claims import Evidence, Judged, Status, corrected, holds, refuted, undecided
from paritylab.claims.engine.verdict import Verdict, plain
from paritylab.statistics import PowerLaw, Rate


def test_each_constructor_gives_its_status():
    assert holds("yes").status is Status.HOLDS
    assert corrected("nearly", instead="this").status is Status.CORRECTED
    assert refuted("no", instead="that", counterexample="assert 1").instead == "that"
    assert undecided("perhaps", evidence="sampled").evidence is Evidence.SAMPLED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "great"}, "status must be one of holds, .* got 'great'"),
        ({"status": "failed"}, "cannot say failed"),
        ({"evidence": "telepathy"}, "evidence must be one of .* 'telepathy'"),
        ({"finding": " "}, "sentence"),
        ({"status": "refuted"}, "refuted needs `instead`"),
        ({"status": "corrected", "instead": ""}, "corrected needs `instead`"),
        ({"margin": math.nan}, "margin"),
        ({"margin": "wide"}, "margin"),
        ({"interval": (2.0, 1.0)}, "low ≤ high"),
        ({"interval": (math.nan, 1.0)}, "two numbers"),
        ({"interval": (1.0,)}, "two numbers"),
        ({"interval": 3}, "two numbers"),
        ({"runs": 2.5}, "runs"),
        ({"counterexample": "x = ("}, "not Python"),
        ({"counterexample": print}, "Python as text"),
    ],
)
def test_bad_verdicts_are_refused(change, message):
    fine = {"status": "holds", "finding": "yes", "interval": (-math.inf, np.float64(1))}
    Judged(**fine)
    with pytest.raises(ValueError, match=message):
        Judged(**(fine | change))


def test_plain_values_survive_json():
    value = {"a": np.arange(3), "b": float("inf"), "c": (np.float32(0.5), None), 4: Status.HOLDS}
    assert plain(value) == {"a": [0, 1, 2], "b": "inf", "c": [0.5, None], "4": "holds"}
    assert plain(range(2)) == [0, 1]
    assert plain(Rate(2, 2)) == {"successes": 2, "runs": 2, "low": Rate(2, 2).low, "high": 1.0}
    assert plain(PowerLaw(1.0, 0.5, 1.5, 2.0))["low"] == 0.5
    with pytest.raises(TypeError, match="object"):
        plain(object())


def test_nothing_differs_without_a_recorded_verdict():
    def row(status, expected):
        return Verdict({"status": status, "expected": expected})

    assert row("holds", "refuted").differs
    assert not row("holds", None).differs
    assert not row("holds", "holds").differs
    assert not row("failed", "holds").differs  # it has an exit code of its own
