import json

import numpy as np
import pytest

from paritylab.claims import Effort, Evidence, Finding, Status, Trial, check, registry
from paritylab.claims.engine import ClaimError
from paritylab.claims.registry import Claim, claim, claims_from_file
from paritylab.claims.verdict import ROW_KEYS, plain
from paritylab.claims.workers import usual_jobs
from paritylab.sweep.store import Store, open_store

CONTRACT_KEYS = (
    "id, paper, title, statement, status, expected, evidence, measured, predicted, margin, "
    "interval, runs, seed, settings, counterexample, series, seconds, effort, device, versions"
)


def counting_claim(expected=Status.HOLDS, **options):
    calls = []

    def run(trial):
        calls.append(trial)
        for _ in trial.track(range(4)):
            pass
        return Finding(expected, Evidence.EXACT, {"finding": "fine", "value": np.float64(1.5)})

    return Claim("count", "lab", "Counting", "It counts.", expected, run, **options), calls


def test_row_has_exactly_the_keys_of_the_contract():
    entry, _ = counting_claim()
    (verdict,) = check([entry], effort="quick", seed=3)
    assert list(verdict.row) == CONTRACT_KEYS.split(", ") == list(ROW_KEYS)
    assert verdict.row["measured"]["value"] == 1.5
    assert verdict.row["seed"] == 3
    assert json.loads(json.dumps(verdict.row, allow_nan=False)) == verdict.row


def test_plain_values_survive_json():
    value = {"a": np.arange(3), "b": float("inf"), "c": (np.float32(0.5), None), 4: Status.HOLDS}
    assert plain(value) == {"a": [0, 1, 2], "b": "inf", "c": [0.5, None], "4": "holds"}


def test_verdicts_are_reused_until_something_changes(tmp_path):
    entry, calls = counting_claim()
    with Store(tmp_path / "store.db") as store:
        first = list(check([entry], effort="quick", store=store))
        again = list(check([entry], effort="quick", store=store))
        assert len(calls) == 1
        assert again[0].reused
        assert again[0].row == first[0].row
        for change in ({"effort": "full"}, {"effort": "quick", "seed": 1}):
            list(check([entry], store=store, **change))
        list(check([entry], effort="quick", store=store, fresh=True))
        assert len(calls) == 4


def test_finished_verdicts_survive_a_later_failure(tmp_path):
    entry, calls = counting_claim()

    def explode(trial):
        raise RuntimeError("no luck")

    broken = Claim("broken", "lab", "Broken", "It breaks.", Status.HOLDS, explode)
    store = Store(tmp_path / "store.db")
    with store, pytest.raises(ClaimError, match="broken failed: RuntimeError: no luck"):
        list(check([entry, broken], effort="quick", store=store))
    with Store(tmp_path / "store.db") as store:
        next(iter(check([entry], effort="quick", store=store)))
    assert len(calls) == 1


def test_a_claim_must_return_a_finding():
    entry = Claim("odd", "lab", "Odd", "It is odd.", Status.HOLDS, lambda trial: 7)
    with pytest.raises(ClaimError, match="int"):
        list(check([entry]))


def test_progress_runs_from_zero_to_one():
    entry, _ = counting_claim()
    seen = []
    list(check([entry], on_progress=seen.append))
    assert seen == [0, 0.25, 0.5, 0.75, 1]


def test_expected_status_depends_on_the_effort():
    entry, _ = counting_claim(undecided_at=frozenset({Effort.QUICK}))
    assert entry.expected_at(Effort.QUICK) is Status.UNDECIDED
    assert entry.expected_at(Effort.FULL) is Status.HOLDS


def test_trial_picks_by_effort():
    assert Trial(Effort.FULL).pick(quick=1, default=2, full=3) == 3


@pytest.mark.parametrize("id", ["", "two words", " x"])
def test_bad_ids_are_refused(id):
    with pytest.raises(ValueError, match="one word"):
        claim(id, title="t", statement="s", expected="holds")


def test_unknown_paper_and_taken_id_are_refused():
    with pytest.raises(ValueError, match="'xx'"):
        claim("fresh-id", paper="xx", title="t", statement="s", expected="holds")
    registry()
    with pytest.raises(ValueError, match="exists already"):
        claim("hg1-mask", title="t", statement="s", expected="holds")(lambda trial: None)


OWN_CLAIM = """
from paritylab import Evidence, Finding, Status, claim

@claim("own-{name}", title="Own", statement="Mine.", expected="holds")
def own(trial):
    return Finding(Status.HOLDS, Evidence.EXACT, {{"finding": "yes"}})
"""


def test_claims_from_a_users_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN_CLAIM.format(name="first"))
    (entry,) = claims_from_file(path).values()
    (verdict,) = check([entry])
    assert verdict.row["id"] == "own-first"
    assert verdict.status is Status.HOLDS


def test_changing_a_users_file_runs_it_again(tmp_path):
    path = tmp_path / "mine_again.py"
    path.write_text(OWN_CLAIM.format(name="again"))
    with Store(tmp_path / "store.db") as store:
        list(check(claims_from_file(path).values(), store=store))
        path.write_text(OWN_CLAIM.format(name="again") + "\n# edited\n")
        (verdict,) = check(claims_from_file(path).values(), store=store)
    assert not verdict.reused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "registers no claim"),
        ("import nothing_like_this\n", "line 1"),
        ("x = (", "line 1:"),
    ],
)
def test_bad_claim_files_say_why(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        claims_from_file(path)


def test_missing_claim_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"nowhere\.py"):
        claims_from_file(tmp_path / "nowhere.py")


def test_workers_give_the_same_rows_and_fill_the_store(tmp_path):
    chosen = [registry()[id] for id in ("ks-lemma8", "lab-xor-functions")]
    with open_store(tmp_path / "s.db") as store:
        beside = {v.row["id"]: v.row for v in check(chosen, effort="quick", store=store, jobs=2)}
        again = list(check(chosen, effort="quick", store=store, jobs=2))
    alone = {v.row["id"]: v.row for v in check(chosen, effort="quick")}
    for id, row in alone.items():
        assert beside[id]["measured"] == row["measured"]
    assert all(verdict.reused for verdict in again)
    assert 1 <= usual_jobs(10) <= 4
    assert usual_jobs(1) == 1
