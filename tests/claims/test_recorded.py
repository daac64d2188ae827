"""The one generated file of the claims."""

from paritylab.claims import Effort, Status, registry
from paritylab.claims.engine import recorded as module
from paritylab.claims.engine.recorded import FILE, Entry, record, recorded, render


def entry(id, **status):
    return Entry(id, "lab", "ours", None, True, None, "A title", "A statement.", status, {})


def rows(id, *statuses):
    return [{"id": id, "status": status, "seconds": 2.0} for status in statuses]


def test_every_claim_is_recorded_and_the_file_is_made_from_the_registry():
    for each in recorded().values():
        assert set(each.status) >= {"quick", "default"}, each.id
        assert set(each.status.values()) <= {status.value for status in Status} - {"failed"}
    made = render(module.with_words_of(registry().values()))
    assert FILE.read_text() == made, "run make docs"


def test_only_verdicts_that_agree_are_recorded(tmp_path):
    file = tmp_path / "recorded.json"
    known = [
        entry("calm"),
        entry("torn", quick="holds"),
        entry("ill"),
        entry("other", full="refuted"),
    ]
    file.write_text(render(known))
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
    found = recorded(file)
    assert {id: each.status for id, each in found.items()} == {
        "calm": {"quick": "holds"},
        "torn": {"quick": "holds"},
        "ill": {},
        "other": {"full": "refuted", "quick": "corrected"},
    }
    assert found["calm"].budget(Effort.QUICK) == 2.0
    assert found["ill"].expected_at(Effort.QUICK) is None


def test_without_a_file_nothing_is_recorded(tmp_path):
    assert recorded(tmp_path / "none.json") == {}
