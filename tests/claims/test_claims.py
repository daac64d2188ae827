"""Claims run at quick effort, come out as recorded, and show their proof.

Those that take less than LONG seconds run here, the others with make test-slow.
"""

import json

import pytest

from paritylab.claims import check, registry
from paritylab.claims.engine.running import run_counterexample

#: Claims that take longer than this at quick effort are checked by make test-slow.
LONG = 3


@pytest.mark.parametrize(
    "id",
    [
        pytest.param(id, marks=pytest.mark.slow if entry.seconds[0] >= LONG else ())
        for id, entry in registry().items()
    ],
)
def test_quick_verdict_is_as_recorded_and_shows_its_proof(id):
    (verdict,) = check([registry()[id]], effort="quick")
    row = verdict.row
    assert row["status"] == row["expected"], row["finding"]
    assert row["margin"] is None or row["margin"] >= 0
    json.dumps(row, allow_nan=False)
    if row["status"] in ("corrected", "refuted"):
        assert "assert" in row["counterexample"]
        assert run_counterexample(row["counterexample"])
