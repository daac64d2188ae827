"""Every judge can say otherwise: tables of invented records reach each verdict it can give.

The tables are in tests/claims/judges/, one file per module of claims, each with
TABLES = {id: [(record, status), …]}.
"""

import runpy
from pathlib import Path

import pytest

from paritylab.claims import Effort, Status, registry

#: At least one of these has to be reachable for a claim recorded as the key.
OPPOSITE = {
    Status.HOLDS: {Status.REFUTED, Status.CORRECTED},
    Status.CORRECTED: {Status.HOLDS},
    Status.REFUTED: {Status.HOLDS},
    Status.UNDECIDED: {Status.HOLDS, Status.CORRECTED, Status.REFUTED},
}


def read_tables():
    tables = {}
    for path in sorted((Path(__file__).parent / "judges").glob("*.py")):
        for id, rows in runpy.run_path(str(path))["TABLES"].items():
            assert id not in tables, f"{path.name}: a second table for {id}"
            tables[id] = rows
    return tables


TABLES = read_tables()


def test_every_claim_is_judged_and_has_a_table():
    assert all(claim.judged_by for claim in registry().values())
    assert set(TABLES) == set(registry())


@pytest.mark.parametrize("id", TABLES)
def test_judge_says_what_the_table_says(id):
    claim = registry()[id]
    for record, status in TABLES[id]:
        judged = claim.verdict_on(record)
        assert judged.status == status
        assert judged.measured
        assert str(judged) == str(claim.verdict_on(record)), "a judge is a pure function"
        if claim.drawn_by:
            assert claim.drawn_by(record)


@pytest.mark.parametrize("id", TABLES)
def test_table_reaches_every_verdict_the_judge_can_give(id):
    claim = registry()[id]
    reached = {status for _, status in TABLES[id]}
    possible = {status.value for status in Status} & set(claim.judged_by.__code__.co_names)
    assert possible <= reached, "a verdict of the judge that no record reaches"
    assert len(reached) >= 2
    recorded = claim.expected_at(Effort.DEFAULT)
    assert recorded is None or reached & OPPOSITE[recorded], f"the opposite of {recorded}"
