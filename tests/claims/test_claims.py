"""Every registered claim runs at quick effort, comes out as expected, and shows its proof."""

import json

import pytest

from paritylab.claims import check, registry


@pytest.fixture(scope="module")
def rows():
    return {
        verdict.row["id"]: verdict.row for verdict in check(registry().values(), effort="quick")
    }


@pytest.mark.parametrize("id", list(registry()))
def test_quick_verdict_is_as_expected(rows, id):
    row = rows[id]
    assert row["status"] == row["expected"]
    assert row["measured"]["finding"]
    assert row["margin"] is None or row["margin"] >= 0
    json.dumps(row, allow_nan=False)


@pytest.mark.parametrize("id", list(registry()))
def test_what_fails_is_shown_and_mended(rows, id, capsys):
    row = rows[id]
    if row["status"] in ("corrected", "refuted"):
        assert row["measured"]["instead"]
        assert "assert" in row["counterexample"]
        exec(compile(row["counterexample"], id, "exec"), {})
        assert capsys.readouterr().out
