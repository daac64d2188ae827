"""Running claims: looks, rows, reuse, failures, workers, users' files."""

import contextlib
import json
import re
import sqlite3

import pytest

from paritylab.claims import (
    HG1,
    OURS,
    Effort,
    Source,
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
from paritylab.claims.engine.verdict import ROW
from paritylab.execution.store import Store
from paritylab.figures import Line, Lines
from paritylab.statistics import Rate

CONTRACT_KEYS = (
    "id, paper, source, title, statement, status, expected, finding, instead, evidence, "
    "comparisons, margin, runs, looks, seed, settings, counterexample, series, seconds, effort, "
    "device, versions, schema, reading, counted, counted_with, certificate, proof, "
    "file"
)


def make_claim(measure, id="count", **options):
    measure.__doc__ = "Counting.\n\nIt counts."
    return claim(id, OURS, evidence="exact", **options)(measure)


def counting(trial):
    yield at_most("errors", sum(0 for _ in trial.track(range(4))), 0)


def heights():
    def measure(trial, sizes=(1, 2, 3), *, power=2):
        top = max(size**power for size in sizes)
        yield at_most("largest height", top, 4)
        yield instead(f"At most {top}.")
        yield finding("All heights are small.", "holds")
        yield Lines([Line("height", sizes, [size**power for size in sizes])], x="n", y="height")

    cubes = ("cubes", {"power": 3}, "refuted")
    return make_claim(measure, "heights", quick={"sizes": (1, 2)}, planted=cubes)


def test_row_has_exactly_the_keys_of_the_contract():
    seen = []
    (verdict,) = check([make_claim(counting)], effort="quick", seed=3, on_progress=seen.append)
    row = verdict.row
    assert list(row) == CONTRACT_KEYS.split(", ") == list(ROW)
    assert (row["title"], row["statement"], row["source"]) == ("Counting", "It counts.", "ours")
    assert (row["expected"], row["seed"], row["looks"]) == (None, 3, 1)
    assert (row["counted"], row["file"], verdict.differs) == (False, "test_engine.py", False)
    asked = {"label": "errors", "value": 0, "bound": 0.0, "side": "at most"}
    assert row["comparisons"] == [{**asked, "role": "printed", "passed": True}]
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert seen == [0, 0.25, 0.5, 0.75, 1]


def test_a_claim_yields_comparisons_sentences_and_a_figure():
    (verdict,) = check([heights()], effort="quick")
    row = verdict.row
    assert (row["status"], row["finding"], row["margin"]) == ("holds", "All heights are small.", 0)
    assert (row["settings"], row["instead"]) == ({"sizes": [1, 2]}, None)
    assert row["series"]["lines"][0]["y"] == [1, 4]
    (verdict,) = check([heights()], effort="default")
    row = verdict.row
    assert (row["status"], row["instead"], row["margin"]) == ("refuted", "At most 9.", 5)
    assert row["finding"] == "Largest height: 9; threshold: at most 4."
    (case,) = heights().planted
    assert heights().run(Trial(Effort.QUICK), **case.settings).status == case.turns


def test_a_straddling_rate_is_measured_again_with_more_runs():
    seen = []

    def measure(trial, runs=20):
        seen.append(runs)
        yield at_least("share of heads", Rate(round(0.65 * runs), runs), 0.5)

    made = make_claim(measure, more="runs", quick={"runs": 10})
    for effort, runs, status in (
        ("default", [20, 40, 80], "holds"),
        ("quick", [10, 20, 40], "undecided"),
    ):
        (verdict,) = check([made], effort=effort)
        assert (seen, verdict.row["looks"], verdict.row["status"]) == (runs, 3, status)
        assert verdict.row["settings"] == {"runs": runs[-1]}
        seen.clear()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_claim(lambda trial, n=3: None, quick={"runs": 1}), "sets runs, .* has: n"),
        (lambda: claim("two words"), "one word"),
        (lambda: claim("bare")(lambda trial: None), "needs a docstring"),
        (lambda: Source("xx", "Lemma 1"), "'xx'"),
        (lambda: HG1("Lemma 1", "hearsay"), "'hearsay'"),
        (lambda: check("hg1-flor"), r"no claim 'hg1-flor'; did you mean hg1-floor\?"),
    ],
)
def test_bad_declarations_and_wrong_ids_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_verdicts_are_kept_and_those_of_a_users_file_only_with_reads(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("1\n")
    path = tmp_path / "mine.py"
    text = OWN_CLAIM
    with Store(tmp_path / "store.db") as store:

        def reused():
            (verdict,) = check(claims_from_file(path).values(), effort="quick", store=store)
            return verdict.reused

        path.write_text(text)
        assert [reused(), reused()] == [False, False]
        with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as connection:
            assert connection.execute("SELECT count(*) FROM verdicts").fetchone() == (0,)
        path.write_text(text.replace('"own"', f'"own", reads=({str(data)!r},)'))
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


def odd(trial):
    yield 7


def nothing(trial):
    yield note("runs", 3)


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (fail, r"^RuntimeError: no luck \(test_engine\.py, line \d+\)$"),
        (leave, "SystemExit: 3"),
        (odd, "yields comparisons .* got 7"),
        (nothing, "compares at least one number"),
    ],
)
def test_a_failing_claim_is_a_row_and_the_rest_runs(tmp_path, measure, reason):
    broken = make_claim(measure, id="broken")
    with Store(tmp_path / "store.db") as store:
        rows = [verdict.row for verdict in check([broken, make_claim(counting)], store=store)]
        (again,) = check([broken], store=store)
    assert [row["status"] for row in rows] == ["failed", "holds"]
    assert list(rows[0]) == list(ROW)
    assert re.search(reason, rows[0]["finding"])
    assert not again.reused


def test_only_the_labs_own_claims_on_what_was_read_are_counted():
    assert registry()["hg1-mask"].counted
    assert not registry()["hg2-one-step"].counted


OWN_CLAIM = '''
from paritylab import at_most, claim

@claim("own", evidence="exact")
def own(trial):
    """Mine.

    The answer is at most 42.
    """
    yield at_most("the answer", 42, 42)
'''


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "has no claim"),
        ("import nothing_there\n", r"line 1: ModuleNotFoundError"),
        ("x = (\n", r"line 1: SyntaxError"),
        (2 * OWN_CLAIM, "share an id or a function"),
    ],
)
def test_bad_claim_files_say_why_and_where(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        claims_from_file(path)
    with pytest.raises(ValueError, match="no claims file"):
        claims_from_file(tmp_path / "none.py")


def test_workers_give_the_same_rows_and_fill_the_store(tmp_path):
    chosen = [registry()[id] for id in ("hg1-temperature", "ks-thm1")]
    with Store(tmp_path / "store.db") as store:
        done = list(check(chosen, effort="quick", jobs=2, store=store))
        assert all(verdict.reused for verdict in check(chosen, effort="quick", store=store))
    side_by_side = {verdict.row["id"]: verdict.row for verdict in done}
    for verdict in check(chosen, effort="quick"):
        row, other = verdict.row, side_by_side[verdict.row["id"]]
        for key in set(row) - {"seconds", "versions", "proof", "evidence"}:
            assert row[key] == other[key], key
