"""Every claim at quick effort comes out as recorded, every planted case turns its verdict."""

import json
from pathlib import Path

import pytest

from paritylab.claims import Effort, Trial, check, registry
from paritylab.claims.engine.rule import decide
from paritylab.claims.engine.running import run_counterexample

pytestmark = pytest.mark.usefixtures("compiled_as_for_users")

CLAIMS = registry()
ROWS = json.loads((Path(__file__).parents[2] / "docs" / "rows.json").read_text())
#: The dearest first, so that no worker is left alone with one of them at the end.
DEAREST_FIRST = sorted(CLAIMS, key=lambda id: -CLAIMS[id].budget(Effort.QUICK))
PLANTED = [
    pytest.param(id, case, id=f"{id}/{number}")
    for id in DEAREST_FIRST
    for number, case in enumerate(CLAIMS[id].planted)
]


@pytest.mark.parametrize("id", DEAREST_FIRST)
def test_quick_verdict_is_as_recorded(id):
    (verdict,) = check([CLAIMS[id]], effort="quick")
    row = verdict.row
    assert row["status"] == row["expected"], row["finding"]
    assert row["comparisons"]
    json.dumps(row, allow_nan=False)
    if row["status"] in ("corrected", "refuted"):
        assert not row["instead"].startswith("Measured:"), "say what holds instead"
        assert "assert" in row["counterexample"]
        assert run_counterexample(row["counterexample"])


@pytest.mark.parametrize(("id", "case"), PLANTED)
def test_a_planted_case_turns_the_verdict(id, case):
    """In a planted case the statement is true or false by construction."""
    claim = CLAIMS[id]
    assert case.turns != claim.expected_at(Effort.QUICK), "a planted case turns the verdict"
    judged = claim.run(Trial(Effort.QUICK), **case.settings)
    assert judged.status == case.turns, judged.finding


def test_nearly_every_claim_has_a_planted_case_and_few_have_a_rule_of_their_own():
    without = [id for id, claim in CLAIMS.items() if not claim.planted]
    assert len(without) <= 3, without
    own = {id for id, claim in CLAIMS.items() if claim.judge is not decide}
    assert len(own) <= 8, own
    assert all(CLAIMS[id].judge.__doc__ for id in own), "a rule of its own says why"


def test_values_of_zero_or_one_are_counts_with_a_label_that_says_of_what():
    """Judged values that are 0 or 1 as numbers are counts; each is listed with what it counts."""
    file = Path(__file__).with_name("zeros_and_ones.txt")
    found = {
        f"{row['id']}: {each['label']}"
        for row in ROWS
        for each in row["comparisons"]
        if row["id"] in CLAIMS and each["role"] != "note" and each["value"] in (0, 1)
    }
    assert found == set(file.read_text(encoding="utf-8").splitlines()), "look, then update the list"
