"""Running claims: looks, rows, reuse, failures, workers, users' files."""

import json
import re

import pytest

from paritylab.claims import (
    HG1,
    HG2,
    OURS,
    Effort,
    Line,
    Lines,
    Source,
    Status,
    Trial,
    at_least,
    at_most,
    check,
    claim,
    claims_from_file,
    finding,
    instead,
    note,
    registry,
)
from paritylab.claims.engine.freshness import files_behind, hashes, is_fresh
from paritylab.claims.engine.running import dependencies
from paritylab.claims.engine.verdict import ROW_KEYS
from paritylab.statistics import Rate
from paritylab.sweep.engines import usual_jobs
from paritylab.sweep.store import Store, open_store

CONTRACT_KEYS = (
    "id, paper, source, title, statement, status, expected, finding, instead, evidence, "
    "comparisons, margin, runs, looks, seed, settings, counterexample, series, seconds, effort, "
    "device, versions, schema, reading, counted, counted_with, certificate, proof, "
    "file"
)


def make_claim(measure, id="count", **options):
    measure.__doc__ = "Counting.\n\nIt counts."
    return claim(id, OURS, evidence="exact", **options)(measure)


def counting_claim():
    calls = []

    def measure(trial):
        calls.append(trial)
        for _ in trial.track(range(4)):
            pass
        yield at_most("errors", 0, 0)

    return make_claim(measure), calls


def heights(limit=4, **options):
    def measure(trial, sizes=(1, 2, 3), *, power=2):
        top = max(size**power for size in sizes)
        yield at_most("largest height", top, limit)
        yield note("smallest height", min(sizes) ** power)
        yield instead(f"At most {top}.")
        yield finding("All heights are small.", "holds")
        yield Lines([Line("height", sizes, [size**power for size in sizes])], x="n", y="height")

    efforts = {"quick": {"sizes": (1, 2)}, "full": {"sizes": (1, 9)}}
    return make_claim(measure, "heights", **efforts, **options)


def test_row_has_exactly_the_keys_of_the_contract():
    entry, _ = counting_claim()
    (verdict,) = check([entry], effort="quick", seed=3)
    row = verdict.row
    assert list(row) == CONTRACT_KEYS.split(", ") == list(ROW_KEYS)
    assert (row["title"], row["statement"], row["source"]) == ("Counting", "It counts.", "ours")
    assert (row["expected"], row["seed"], row["looks"]) == (None, 3, 1)
    assert row["comparisons"] == [
        {
            "label": "errors",
            "value": 0,
            "bound": 0.0,
            "side": "at most",
            "role": "printed",
            "passed": True,
        }
    ]
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_a_claim_yields_comparisons_sentences_and_a_figure():
    (verdict,) = check([heights()], effort="quick")
    row = verdict.row
    assert (row["status"], row["finding"], row["margin"]) == ("holds", "All heights are small.", 0)
    assert row["settings"] == {"sizes": [1, 2]}
    assert row["instead"] is None
    assert row["series"]["lines"][0]["y"] == [1, 4]
    (verdict,) = check([heights()], effort="default")
    row = verdict.row
    assert (row["status"], row["instead"], row["margin"]) == ("refuted", "At most 9.", 5)
    assert row["finding"] == "Largest height: 9; claimed: at most 4."


def test_a_planted_case_sets_what_is_not_a_setting():
    made = heights(planted=("cubes", {"power": 3}, "refuted"))
    assert made.settings_at(Effort.DEFAULT) == {"sizes": (1, 2, 3)}
    (case,) = made.planted
    assert made.run_planted(case, Trial(Effort.QUICK)).status == case.turns


def test_a_straddling_rate_is_measured_again_with_more_runs():
    seen = []

    def measure(trial, runs=20):
        seen.append(runs)
        yield at_least("share of heads", Rate(round(0.65 * runs), runs), 0.5)

    made = make_claim(measure, more="runs", quick={"runs": 10})
    (verdict,) = check([made])
    assert seen == [20, 40, 80]
    assert (verdict.row["looks"], verdict.row["status"]) == (3, "holds")
    assert verdict.row["settings"] == {"runs": 80}
    (verdict,) = check([made], effort="quick")
    assert seen[3:] == [10, 20, 40]
    assert (verdict.row["looks"], verdict.row["status"]) == (3, "undecided")


def test_bad_declarations_are_refused():
    with pytest.raises(ValueError, match=r"sets runs, .* it has: n"):
        make_claim(lambda trial, n=3: None, quick={"runs": 1})
    for id in ("", "two words", " x", "a/b"):
        with pytest.raises(ValueError, match="one word"):
            claim(id)
    with pytest.raises(ValueError, match="needs a docstring"):
        claim("bare")(lambda trial: None)
    with pytest.raises(ValueError, match="'xx'"):
        Source("xx", "Lemma 1")
    with pytest.raises(ValueError, match="place"):
        HG1("")
    with pytest.raises(ValueError, match="'hearsay'"):
        HG1("Lemma 1", "hearsay")
    readings = HG1("Lemma 1").reading, HG2("Abstract").reading, OURS.reading
    assert readings == ("text", "abstract", None)


def test_verdicts_are_kept_and_those_of_a_users_file_only_with_reads(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("1\n")
    path = tmp_path / "mine.py"
    text = OWN_CLAIM.format(name="kept")
    with Store(tmp_path / "store.db") as store:

        def reused():
            (verdict,) = check(claims_from_file(path).values(), effort="quick", store=store)
            return verdict.reused

        path.write_text(text)
        assert [reused(), reused()] == [False, False]
        path.write_text(text.replace('"own-kept"', f'"own-kept", reads=({str(data)!r},)'))
        assert [reused(), reused()] == [False, True]
        data.write_text("2\n")
        assert [reused(), reused()] == [False, True]
        path.write_text(path.read_text() + "\n# edited\n")
        assert not reused()


def fail(trial):
    raise RuntimeError("no\nluck")
    yield


def leave(trial):
    raise SystemExit(3)
    yield


class Odd(BaseException):
    """Not an Exception, and not an interrupt."""


def stray(trial):
    raise Odd("x")
    yield


def odd(trial):
    yield 7


def nothing(trial):
    yield note("runs", 3)


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (fail, r"^RuntimeError: no luck \(test_engine\.py, line \d+\)$"),
        (leave, "SystemExit: 3"),
        (stray, "Odd: x"),
        (odd, "yields comparisons .* got int"),
        (nothing, "compares at least one number"),
    ],
)
def test_a_failing_claim_is_a_row_and_the_rest_runs(tmp_path, measure, reason):
    entry, calls = counting_claim()
    broken = make_claim(measure, id="broken")
    with Store(tmp_path / "store.db") as store:
        rows = [verdict.row for verdict in check([broken, entry], store=store)]
        assert [row["status"] for row in rows] == ["failed", "holds"]
        assert list(rows[0]) == list(ROW_KEYS)
        (failed,) = check([broken], store=store)
        assert not failed.reused
    assert re.search(reason, rows[0]["finding"])
    assert "\n" not in rows[0]["finding"]
    assert len(calls) == 1


def test_check_takes_ids_and_refuses_a_wrong_one_at_once():
    (verdict,) = check("hg1-marginals", effort="quick")
    assert verdict.row["id"] == "hg1-marginals"
    with pytest.raises(ValueError, match=r"no claim 'hg1-flor'; did you mean hg1-floor\?"):
        check("hg1-flor")
    with pytest.raises(TypeError, match=r"check takes ids, or claims .* got 3"):
        check([3])


def test_ctrl_c_is_not_a_failure():
    def interrupt(trial):
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        list(check([make_claim(interrupt)]))


def test_progress_runs_from_zero_to_one():
    entry, _ = counting_claim()
    seen = []
    list(check([entry], on_progress=seen.append))
    assert seen == [0, 0.25, 0.5, 0.75, 1]


def test_only_the_labs_own_claims_on_what_was_read_are_counted():
    assert registry()["hg1-mask"].counted
    assert not registry()["hg2-one-step"].counted
    own = make_claim(lambda trial: iter([at_most("errors", 0, 0)]))
    assert not own.counted
    (verdict,) = check([own])
    assert (verdict.row["counted"], verdict.row["file"]) == (False, "test_engine.py")


OWN_CLAIM = '''
from paritylab import at_most, claim

@claim("own-{name}", evidence="exact")
def own(trial):
    """Mine.

    The answer is at most 42.
    """
    yield at_most("the answer", 42, 42)
'''


def test_claims_from_a_users_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN_CLAIM.format(name="first"))
    (entry,) = claims_from_file(path).values()
    (verdict,) = check([entry])
    assert verdict.row["finding"] == "The answer: 42; claimed: at most 42."
    assert verdict.row["expected"] is None
    assert not verdict.differs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "has no claim"),
        ("import nothing_there\n", r"line 1: ModuleNotFoundError"),
        ("x = (\n", r"line 1: SyntaxError"),
        ("raise GeneratorExit\n", "GeneratorExit"),
        (OWN_CLAIM.format(name="a") + OWN_CLAIM.format(name="b"), "share an id or a function"),
    ],
)
def test_bad_claim_files_say_why_and_where(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        claims_from_file(path)
    with pytest.raises(ValueError, match="no claims file"):
        claims_from_file(tmp_path / "none.py")


def test_an_edit_elsewhere_leaves_a_verdict_of_the_lab_fresh():
    behind = {file.name for file in files_behind(registry()["ks-thm7"].file)}
    assert {"levels.py", "statistics.py", "rule.py"} <= behind
    assert not {"landscape.py", "anneal.py", "correlation.py", "page.py"} & behind


def test_a_verdict_depends_on_its_counterexample_and_its_certificate():
    behind = {label.rsplit("/", 1)[-1] for label in dependencies(registry()["ks-thm7"])}
    assert "ks-thm7.py" in behind
    assert any("ks-thm7" in name and not name.endswith(".py") for name in behind)


def test_hashes_tell_a_change(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    before = hashes([file])
    assert is_fresh(before)
    assert not is_fresh({})
    file.write_text("x = 22\n")
    assert not is_fresh(before)
    file.unlink()
    assert not is_fresh(before)


def test_workers_give_the_same_rows_and_fill_the_store(tmp_path):
    chosen = [registry()[id] for id in ("hg1-temperature", "ks-thm1")]
    with open_store(tmp_path / "store.db") as store:
        done = list(check(chosen, effort="quick", jobs=2, store=store))
        again = list(check(chosen, effort="quick", store=store))
    assert all(verdict.reused for verdict in again)
    assert usual_jobs(1) == 1
    side_by_side = {verdict.row["id"]: verdict.row for verdict in done}
    for verdict in check(chosen, effort="quick"):
        row, other = verdict.row, side_by_side[verdict.row["id"]]
        assert verdict.status in list(Status)
        for key in set(row) - {"seconds", "versions", "proof", "evidence"}:
            assert row[key] == other[key], key
