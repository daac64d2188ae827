"""Every registered claim runs at quick effort, comes out as expected, and shows its proof."""

import json

import pytest

from paritylab.claims import check, registry

#: Claims that take longer than this at quick effort are checked by make test-slow.
LONG = 8


@pytest.mark.parametrize(
    "id",
    [
        pytest.param(id, marks=pytest.mark.slow if entry.seconds[0] >= LONG else ())
        for id, entry in registry().items()
    ],
)
def test_quick_verdict_is_as_expected_and_shows_its_proof(id, capsys):
    (verdict,) = check([registry()[id]], effort="quick")
    row = verdict.row
    assert row["status"] == row["expected"]
    assert row["measured"]["finding"]
    assert row["margin"] is None or row["margin"] >= 0
    json.dumps(row, allow_nan=False)
    if row["status"] in ("corrected", "refuted"):
        assert row["measured"]["instead"]
        assert "assert" in row["counterexample"]
        exec(compile(row["counterexample"], id, "exec"), {})
        assert capsys.readouterr().out
