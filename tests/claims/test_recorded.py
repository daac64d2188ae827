"""The file of recorded verdicts."""

import json

from paritylab.claims import Effort, Status, registry
from paritylab.claims.engine import catalogue
from paritylab.claims.engine.recorded import FILE, record, recorded, render


def rows(id, *statuses):
    return [{"id": id, "status": status} for status in statuses]


def test_every_claim_is_recorded_where_it_runs_often_and_the_file_is_tidy():
    entries = recorded()
    assert set(entries) == set(registry())
    for efforts in entries.values():
        assert list(efforts)[:2] == [Effort.QUICK, Effort.DEFAULT]
        assert list(efforts)[2:] in ([], [Effort.FULL])
        assert set(efforts.values()) <= {status.value for status in Status} - {"failed"}
    assert FILE.read_text() == render(entries)


def test_the_catalogue_is_the_registry():
    claims = registry()
    assert list(catalogue.catalogue()) == list(claims)
    assert catalogue.FILE.read_text() == catalogue.render(claims.values()), "run make docs"


def test_only_verdicts_that_agree_are_recorded(tmp_path):
    file = tmp_path / "recorded.json"
    file.write_text(json.dumps({"torn": {"quick": "holds"}, "other": {"full": "refuted"}}))
    seen = [
        *rows("calm", "holds", "holds", "holds"),
        *rows("torn", "refuted", "refuted", "undecided"),
        *rows("ill", "holds", "failed", "holds"),
        *rows("other", "corrected", "corrected", "corrected"),
    ]
    refused = record(seen, Effort.QUICK, file)
    assert refused == {
        "torn": "seeds 0, 1, 2 gave refuted, refuted, undecided",
        "ill": "seeds 0, 1, 2 gave holds, failed, holds",
    }
    assert recorded(file) == {
        "calm": {"quick": "holds"},
        "other": {"quick": "corrected", "full": "refuted"},
        "torn": {"quick": "holds"},
    }


def test_a_claim_without_an_entry_has_no_expected_verdict(tmp_path):
    assert recorded(tmp_path / "none.json") == {}
    assert registry()["hg1-mask"].expected_at(Effort.FULL) is Status.CORRECTED
