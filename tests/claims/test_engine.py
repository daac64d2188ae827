"""Running claims: rows, reuse, failures, workers, users' files."""

import json
from typing import NamedTuple

import numpy as np
import pytest

from paritylab.claims import (
    HG1,
    OURS,
    Claim,
    Effort,
    Efforts,
    Evidence,
    Finding,
    Line,
    Lines,
    Status,
    Trial,
    check,
    claim,
    claims_from_file,
    holds,
    refuted,
    registry,
)
from paritylab.claims.engine.rows import ROW_KEYS
from paritylab.sweep.engines import usual_jobs
from paritylab.sweep.store import Store, open_store

CONTRACT_KEYS = (
    "id, paper, source, title, statement, status, expected, finding, instead, evidence, measured, "
    "predicted, margin, interval, runs, seed, settings, counterexample, series, seconds, effort, "
    "device, versions"
)


def make_claim(measure, id="count", **options):
    return Claim(id, OURS, "Counting", "It counts.", measure, **options)


def counting_claim():
    calls = []

    def measure(trial):
        calls.append(trial)
        for _ in trial.track(range(4)):
            pass
        measured = {"finding": "fine", "value": np.float64(1.5)}
        return Finding(Status.HOLDS, Evidence.EXACT, measured)

    return make_claim(measure), calls


class Heights(NamedTuple):
    sizes: np.ndarray
    height: np.ndarray


EFFORTS = Efforts(quick={"sizes": (1, 2)}, default={"sizes": (1, 2, 3)}, full={"sizes": (1, 9)})


def judged_claim(limit=4):
    def measure(trial, sizes):
        return Heights(np.array(sizes), np.square(sizes))

    made = make_claim(measure, efforts=EFFORTS, settings={"k": 2})

    @made.judge
    def judge(record):
        top = int(record.height.max())
        if top > limit:
            instead, example = f"at most {top}", f"print({top})\nassert {top} > {limit}"
            return refuted(f"height {top}", instead=instead, counterexample=example)
        return holds(f"height {top} at most {limit}", margin=limit - top)

    @made.figure
    def figure(record):
        return Lines([Line("height", record.sizes, record.height)], x="n", y="height")

    return made


def test_row_has_exactly_the_keys_of_the_contract():
    entry, _ = counting_claim()
    (verdict,) = check([entry], effort="quick", seed=3)
    assert list(verdict.row) == CONTRACT_KEYS.split(", ") == list(ROW_KEYS)
    assert verdict.row["measured"] == {"value": 1.5}
    assert (verdict.row["finding"], verdict.row["source"]) == ("fine", "ours")
    assert verdict.row["expected"] is None
    assert verdict.row["seed"] == 3
    assert json.loads(json.dumps(verdict.row, allow_nan=False)) == verdict.row


def test_measure_then_judge_then_draw():
    (verdict,) = check([judged_claim()], effort="quick")
    row = verdict.row
    assert (row["status"], row["finding"], row["margin"]) == ("holds", "height 4 at most 4", 0)
    assert row["settings"] == {"k": 2, "sizes": [1, 2]}
    assert row["measured"] == {"sizes": [1, 2], "height": [1, 4]}
    assert row["series"]["lines"][0]["y"] == [1, 4]
    (verdict,) = check([judged_claim()], effort="default")
    assert (verdict.row["status"], verdict.row["instead"]) == ("refuted", "at most 9")


def test_the_judge_alone_decides_on_invented_records():
    made = judged_claim(limit=10)
    assert made.verdict_on(Heights(np.array([1]), np.array([10]))).status is Status.HOLDS
    assert made.verdict_on(Heights(np.array([1]), np.array([11]))).status is Status.REFUTED


def test_a_claim_has_one_judge():
    made = judged_claim()
    with pytest.raises(ValueError, match="judge already"):
        made.judge(lambda record: holds("yes"))


def test_efforts_name_the_same_settings():
    with pytest.raises(ValueError, match="differ in runs"):
        Efforts(quick={"n": 1}, default={"n": 2, "runs": 3}, full={"n": 3})


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


def fail(trial):
    raise RuntimeError("no\nluck")


def leave(trial):
    raise SystemExit(3)


def broken_example(trial):
    measured = {"finding": "no", "instead": "that"}
    code = "assert 1 + 1 == 3, 'sums'"
    return Finding(Status.REFUTED, Evidence.EXACT, measured, counterexample=code)


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (fail, r"^RuntimeError: no luck \(test_engine\.py, line \d+\)$"),
        (leave, "SystemExit: 3"),
        (broken_example, "the counterexample fails: AssertionError: sums"),
        (lambda trial: 7, "returns a Finding, got int"),
        (lambda trial: Finding("great", "telepathy", {}), "'great'"),
        (
            lambda trial: Finding(
                Status.HOLDS, Evidence.EXACT, {"finding": "yes", "odd": object()}
            ),
            "plain values",
        ),
    ],
)
def test_a_failing_claim_is_a_row_and_the_rest_runs(tmp_path, measure, reason):
    entry, calls = counting_claim()
    broken = make_claim(measure, id="broken")
    with Store(tmp_path / "store.db") as store:
        rows = [v.row for v in check([broken, entry], store=store)]
        assert [row["status"] for row in rows] == ["failed", "holds"]
        assert list(rows[0]) == list(ROW_KEYS)
        (failed,) = check([broken], store=store)
        assert not failed.reused
    import re

    assert re.search(reason, rows[0]["finding"])
    assert "\n" not in rows[0]["finding"]
    assert len(calls) == 1


def test_at_quick_effort_the_counterexample_is_left_to_the_tests():
    (verdict,) = check([make_claim(broken_example)], effort="quick")
    assert verdict.status is Status.REFUTED


def test_ctrl_c_is_no_failure():
    def interrupt(trial):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(check([make_claim(interrupt)]))


def test_progress_runs_from_zero_to_one():
    entry, _ = counting_claim()
    seen = []
    list(check([entry], on_progress=seen.append))
    assert seen == [0, 0.25, 0.5, 0.75, 1]


def test_trial_picks_by_effort():
    assert Trial(Effort.FULL).pick(quick=1, default=2, full=3) == 3


@pytest.mark.parametrize("id", ["", "two words", " x"])
def test_bad_ids_are_refused(id):
    with pytest.raises(ValueError, match="one word"):
        claim(id, title="t", statement="s")


def test_sources_are_checked():
    with pytest.raises(ValueError, match="'xx'"):
        claim("fresh-id", paper="xx", title="t", statement="s")
    with pytest.raises(ValueError, match="not both"):
        claim("fresh-id", paper="hg1", source=HG1("Lemma 1"), title="t", statement="s")
    with pytest.raises(ValueError, match="place"):
        HG1("")
    place = claim("old", paper="ks", title="t", statement="Lemma 8: all is well.")(fail).source
    assert (place.paper, place.place) == ("ks", "Lemma 8")


def test_taken_ids_are_refused():
    registry()
    with pytest.raises(ValueError, match="exists already"):
        claim("hg1-mask", title="t", statement="s")(lambda trial: None)


OWN_CLAIM = """
from paritylab import claim, holds

@claim("own-{name}", title="Own", statement="Mine.")
def own(trial):
    return {{"answer": 42}}

@own.judge
def judge(record):
    return holds(f"it is {{record['answer']}}")
"""


def test_claims_from_a_users_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN_CLAIM.format(name="first"))
    (entry,) = claims_from_file(path).values()
    (verdict,) = check([entry])
    assert verdict.row["id"] == "own-first"
    assert verdict.row["finding"] == "it is 42"
    assert verdict.row["expected"] is None
    assert not verdict.differs


def test_changing_a_users_file_runs_it_again(tmp_path):
    path = tmp_path / "mine_again.py"
    path.write_text(OWN_CLAIM.format(name="again"))
    with Store(tmp_path / "store.db") as store:
        list(check(claims_from_file(path).values(), store=store))
        path.write_text(OWN_CLAIM.format(name="again") + "\n# edited\n")
        (verdict,) = check(claims_from_file(path).values(), store=store)
    assert not verdict.reused


def test_changing_a_module_that_a_users_file_imports_runs_it_again(tmp_path):
    text = OWN_CLAIM.format(name="helped").replace("42", "answer()")
    (tmp_path / "helped.py").write_text(text + "\nfrom answer_helper import answer\n")
    (tmp_path / "answer_helper.py").write_text("from deep_helper import VALUE\nanswer = int\n")
    (tmp_path / "deep_helper.py").write_text("VALUE = 1\n")

    def run(store):
        (verdict,) = check(claims_from_file(tmp_path / "helped.py").values(), store=store)
        return verdict.reused, verdict.row["finding"]

    with Store(tmp_path / "store.db") as store:
        assert run(store) == (False, "it is 0")
        assert run(store) == (True, "it is 0")
        (tmp_path / "answer_helper.py").write_text(
            "from deep_helper import VALUE\ndef answer(): return VALUE\n"
        )
        assert run(store) == (False, "it is 1")
        (tmp_path / "deep_helper.py").write_text("VALUE = 22\n")
        assert run(store) == (False, "it is 22")


TWICE = OWN_CLAIM.format(name="twice") * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "registers no claim"),
        ("import nothing_like_this\n", "line 1"),
        ("x = (", "line 1:"),
        ("\nfrom paritylab import claim\nclaim('two words', title='', statement='')", "line 3: "),
        ("from paritylab import Parity\n\nParity(3, (7,))\n", r"bad\.py, line 3: ValueError"),
        (TWICE, "'own-twice' is registered twice, on lines 4 and 14"),
    ],
)
def test_bad_claim_files_say_why_and_where(tmp_path, text, message):
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
