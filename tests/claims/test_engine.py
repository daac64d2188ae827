"""Running claims: rows, reuse, failures, workers, users' files."""

import json
import re

import numpy as np
import pytest

from paritylab.claims import (
    HG1,
    HG2,
    OURS,
    Claim,
    Effort,
    Judged,
    Line,
    Lines,
    Source,
    Status,
    Trial,
    check,
    claim,
    claims_from_file,
    holds,
    record,
    refuted,
    registry,
    shown,
)
from paritylab.claims.engine.freshness import files_behind, hashes, is_fresh
from paritylab.claims.engine.rows import ROW_KEYS
from paritylab.sweep.engines import usual_jobs
from paritylab.sweep.store import Store, open_store

CONTRACT_KEYS = (
    "id, paper, source, title, statement, status, expected, finding, instead, evidence, measured, "
    "predicted, margin, interval, runs, seed, settings, counterexample, series, seconds, effort, "
    "device, versions, schema, reading, counted, certificate, proof, file"
)


def make_claim(measure, id="count", judge=None, **options):
    made = Claim(id, OURS, "Counting", "It counts.", measure, **options)
    made.judge(judge or (lambda record: holds("fine", evidence="exact")))
    return made


def counting_claim():
    calls = []

    def measure(trial):
        calls.append(trial)
        for _ in trial.track(range(4)):
            pass
        return {"value": np.float64(1.5)}

    return make_claim(measure), calls


@record(evidence="exact")
class Heights:
    sizes: np.ndarray
    height: np.ndarray = shown("height", by="sizes", predicted="at most 4")


def judged_claim(limit=4):
    def measure(trial, sizes=(1, 2, 3), *, power=2):
        return Heights(np.array(sizes), np.power(sizes, power))

    def judge(record):
        top = int(record.height.max())
        if top > limit:
            instead, example = f"at most {top}", f"print({top})\nassert {top} > {limit}"
            return refuted(f"height {top}", instead=instead, counterexample=example)
        return holds(f"height {top} at most {limit}", margin=limit - top)

    efforts = {"quick": {"sizes": (1, 2)}, "full": {"sizes": (1, 9)}}
    made = make_claim(measure, judge=judge, settings={"k": 2}, **efforts)

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
    assert row["measured"] == {"height": {"1": 1, "2": 4}}
    assert row["predicted"] == {"height": "at most 4"}
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


def test_an_effort_sets_only_arguments_of_the_measurement_that_have_a_default():
    with pytest.raises(ValueError, match=r"quick sets runs, .* those are: n"):
        make_claim(lambda trial, n=3: None, quick={"runs": 1})


def test_what_is_planted_is_no_setting():
    made = judged_claim()
    assert made.settings_at(Effort.DEFAULT) == {"sizes": (1, 2, 3)}
    made.planted("cubes", turns="refuted")(lambda trial: made.measure(trial, (1, 2), power=3))
    (case,) = made.planted_cases
    assert made.verdict_on(case.measure(Trial(Effort.QUICK))).status == case.turns


def test_a_claim_says_what_kind_of_number_decides():
    made = make_claim(lambda trial: 7, judge=lambda record: holds("yes"))
    (verdict,) = check([made])
    assert "does not say what kind of number decides" in verdict.row["finding"]


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


def broken_example(record):
    code = "assert 1 + 1 == 3, 'sums'"
    return refuted("no", instead="that", evidence="exact", counterexample=code)


def saying(**details):
    return lambda record: Judged(**{"status": "holds", "finding": "yes", **details})


@pytest.mark.parametrize(
    ("measure", "judge", "reason"),
    [
        (fail, None, r"^RuntimeError: no luck \(test_engine\.py, line \d+\)$"),
        (leave, None, "SystemExit: 3"),
        (lambda trial: 7, broken_example, "the counterexample fails: AssertionError: sums"),
        (lambda trial: 7, lambda record: 7, "a judge returns holds.* got int"),
        (lambda trial: 7, saying(status="great"), "'great'"),
        (lambda trial: object(), saying(evidence="exact"), "plain values"),
        (lambda trial: 7, saying(evidence="exact", counterexample=True), "expected it in"),
    ],
)
def test_a_failing_claim_is_a_row_and_the_rest_runs(tmp_path, measure, judge, reason):
    entry, calls = counting_claim()
    broken = make_claim(measure, id="broken", judge=judge)
    with Store(tmp_path / "store.db") as store:
        rows = [v.row for v in check([broken, entry], store=store)]
        assert [row["status"] for row in rows] == ["failed", "holds"]
        assert list(rows[0]) == list(ROW_KEYS)
        (failed,) = check([broken], store=store)
        assert not failed.reused
    assert re.search(reason, rows[0]["finding"])
    assert "\n" not in rows[0]["finding"]
    assert len(calls) == 1


def test_at_quick_effort_the_counterexample_is_left_to_the_tests():
    (verdict,) = check([make_claim(lambda trial: 7, judge=broken_example)], effort="quick")
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
        Source("xx", "Lemma 1")
    with pytest.raises(ValueError, match="place"):
        HG1("")
    with pytest.raises(ValueError, match="'hearsay'"):
        HG1("Lemma 1", "hearsay")
    assert (HG1("Lemma 1").reading, HG2("Abstract").reading, OURS.reading) == (
        "text",
        "abstract",
        None,
    )


def test_only_the_labs_own_claims_on_what_was_read_are_counted():
    assert registry()["hg1-mask"].counted
    assert not registry()["hg2-one-step"].counted
    own = claim("own-theorem", source=HG1("Theorem 5"), title="t", statement="s")(fail)
    assert not own.counted
    (verdict,) = check([own])
    assert (verdict.row["counted"], verdict.row["file"]) == (False, "test_engine.py")


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
    return holds(f"it is {{record['answer']}}", evidence="exact")
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


READING = """
import importlib.util, os, pathlib
from paritylab import claim, holds

@claim("own-reading", title="Own", statement="Mine.", reads={reads})
def own(trial):
    return {body}

@own.judge
def judge(record):
    return holds(f"it is {{record}}", evidence="exact")
"""


@pytest.mark.parametrize(
    ("body", "named", "reason"),
    [
        (
            "int(pathlib.Path('size.json').read_text())",
            "size.json",
            "reads .*size.json; name it",
        ),
        ("int(os.environ['OWN_SIZE'])", "OWN_SIZE", r"reads the environment \(OWN_SIZE\)"),
    ],
)
def test_what_a_claim_reads_is_named_and_a_change_of_it_is_seen(
    tmp_path, monkeypatch, body, named, reason
):
    monkeypatch.chdir(tmp_path)

    def change(value):
        (tmp_path / "size.json").write_text(value)
        monkeypatch.setenv("OWN_SIZE", value)

    def run(reads):
        (tmp_path / "reading.py").write_text(READING.format(reads=reads, body=body))
        (verdict,) = check(claims_from_file(tmp_path / "reading.py").values(), store=store)
        return verdict

    change("3")
    with Store(tmp_path / "store.db") as store:
        assert re.search(reason, run(()).row["finding"])
        assert run((named,)).row["finding"] == "it is 3"
        assert run((named,)).reused
        change("4")
        assert run((named,)).row["finding"] == "it is 4"


@pytest.mark.parametrize("how", ["data", "module"])
def test_what_is_read_from_elsewhere_at_the_top_of_a_file_is_named(tmp_path, monkeypatch, how):
    """A data file read while the claims are loaded; a module loaded by hand from another folder."""
    (tmp_path / "other").mkdir()
    data, helper = tmp_path / "other" / "size.json", tmp_path / "other" / "far_helper.py"
    top = {
        "data": f"VALUE = int(pathlib.Path({str(data)!r}).read_text())",
        "module": f"spec = importlib.util.spec_from_file_location('far_helper', {str(helper)!r})\n"
        "module = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(module)\n"
        "VALUE = module.VALUE",
    }[how]

    def run(reads, value):
        data.write_text(str(value))
        helper.write_text(f"VALUE = {value}\n")
        text = READING.format(reads=reads, body="VALUE")
        (tmp_path / "top.py").write_text(text.replace("\n@claim", f"\n{top}\n\n@claim"))
        (verdict,) = check(claims_from_file(tmp_path / "top.py").values(), store=store)
        return verdict.row["finding"]

    named = str(data if how == "data" else helper)
    with Store(tmp_path / "store.db") as store:
        assert "name it" in run((), 3)
        assert run((named,), 3) == "it is 3"
        assert run((named,), 44) == "it is 44"


def test_a_module_loaded_by_hand_is_part_of_what_a_verdict_depends_on(tmp_path):
    body = "load('odd_helper.py').VALUE"
    text = (
        READING.format(reads=(), body=body)
        + f"""
def load(name):
    import sys
    spec = importlib.util.spec_from_file_location("odd_helper", {str(tmp_path)!r} + "/" + name)
    module = importlib.util.module_from_spec(spec)
    sys.modules["odd_helper"] = module
    spec.loader.exec_module(module)
    return module
"""
    )
    (tmp_path / "loading.py").write_text(text)
    with Store(tmp_path / "store.db") as store:
        for value in (1, 1, 22):
            (tmp_path / "odd_helper.py").write_text(f"VALUE = {value}\n")
            (verdict,) = check(claims_from_file(tmp_path / "loading.py").values(), store=store)
            assert verdict.row["finding"] == f"it is {value}"


def test_an_edit_elsewhere_leaves_a_verdict_of_the_lab_fresh():
    behind = {file.name for file in files_behind(registry()["ks-level-mask"].file)}
    assert {"levels.py", "links.py", "statistics.py", "verdict.py"} <= behind
    assert not {"landscape.py", "anneal.py", "correlation.py", "page.py"} & behind


def test_hashes_tell_a_change(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    kept = hashes([file])
    assert is_fresh(kept)
    file.write_text("x = 22\n")
    assert not is_fresh(kept)
    file.unlink()
    assert not is_fresh(kept)
    assert not is_fresh({})
    assert not is_fresh(None)


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
