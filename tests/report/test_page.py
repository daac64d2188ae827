"""The page from rows: every status, hostile text, rows that cannot be shown."""

import json
import re
from pathlib import Path

import pytest
from tests.report.rows import COMPARISONS, comparison, hostile_rows, kept_rows, row

from paritylab.claims import Bars, Status, registry
from paritylab.claims.engine.figures import in_tab
from paritylab.report import read_rows, write_report
from paritylab.report.page import code_places, paper_address
from paritylab.report.words import lines, meanings, note, number


def page(rows, folder):
    return write_report(rows, folder).read_text()


def text_of(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_every_status_is_shown_in_its_word_and_only_failures_speak_of_errors(tmp_path):
    for statuses in (list(Status), [Status.HOLDS]):
        rows = [row(id=f"lab-{s}", status=s.value, instead=f"rather {s}") for s in statuses]
        text = page(rows, tmp_path)
        assert all(f"rather {status}" in text for status in statuses)
        assert all(f'"chip {status}"' in text for status in statuses)
        assert text.count("<svg") == len(rows)
        assert ("raised an error" in text) is (Status.FAILED in statuses)
    assert "recorded:" not in page([row(expected=None, source="Theorem 5")], tmp_path)
    assert "recorded: refuted" in page([row(expected="refuted")], tmp_path)


def test_a_verdict_is_a_table_and_a_sentence(tmp_path):
    words = text_of(page([row(looks=2)], tmp_path))
    for line in (
        "asked measured bound passed",
        "runs that learn 15 of 60, 25 % [15, 38] at least 85 % no",
        "control: error 3.2·10⁻¹² at most 10⁻⁹ yes",
        "instead: slope −1.02 [−1.1, −0.94] of 12 within −1.2 to −0.8 yes",
        "gap 0.5 at most 0.4 straddles",
        "note: runs without jitter 0 of 60, 0 % [0, 38]",
        "Measured 2 times",
    ):
        assert line in words
    assert "holds : It does." in words


def test_rows_of_earlier_versions_are_refused_with_the_way_to_new_ones():
    with pytest.raises(ValueError, match=r"has form 3, .* again with: paritylab check --json"):
        read_rows(Path(__file__).parents[1] / "fixtures" / "rows-0.3.0.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reading": "abstract"}, "in our reconstruction, not counted: only the abstract was read"),
        ({"reading": "second-hand"}, "in our reconstruction, not counted: known second-hand"),
        ({"file": "mine.py"}, "a claim of mine.py, not counted"),
    ],
)
def test_an_uncounted_row_keeps_its_status_and_says_why(tmp_path, change, words):
    each = row(**{"counted": False, "reading": None, "file": None, **change})
    assert note(each) == words
    text = text_of(page([each], tmp_path))
    assert f"holds ({words})" in text
    assert f"1 {words.partition(':')[0]}: 1 holds." in text


def test_a_page_of_hostile_rows_is_one_closed_file(tmp_path):
    text = page([*hostile_rows(), row(id="half", title="half \ud83d")], tmp_path)
    assert text.count("<script") == 1
    assert "half ?" in text
    assert "default-src 'none'" in text
    assert not re.search(r"\s(src|srcset|style)=\"|url\(|@import|<link|<iframe", text)
    assert len(text.encode()) < 200_000


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({}, "list of rows"),
        ([3], "row 0 must be an object"),
        (
            [row(), {"id": "lab-two"}],
            r"row 1 \(lab-two\) lacks paper, source, title",
        ),
        ([row(status="great")], "unknown status 'great'"),
        ([row(title=7)], "title must be a str"),
        ([row(comparisons=[{"label": "x"}])], r"row 0 \(lab-one\): its comparisons cannot be read"),
        ([row(comparisons=[comparison(role="loud")])], "its comparisons cannot be read"),
        ([row(comparisons=[comparison(value={"successes": 1})])], "cannot be read: KeyError"),
    ],
)
def test_rows_that_cannot_be_shown_are_named(tmp_path, rows, message):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(ValueError, match=message) as error:
        read_rows(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    "series", [{"kind": "lines"}, {"kind": "lines", "lines": [{"x": [1], "y": ["a"]}]}]
)
def test_a_series_that_cannot_be_drawn_names_its_row(tmp_path, series):
    with pytest.raises(ValueError, match="the series of row 'lab-one' cannot be drawn"):
        write_report([row(series=series)], tmp_path)


def test_the_map_has_a_row_a_paper_and_a_tile_a_claim(tmp_path):
    rows = [row(), row(id="lab-two", status="refuted", title="Two", finding="No: 3.")]
    rows += [row(id="ks-x", paper="ks", status="failed", finding="ValueError: no")]
    text = page([*rows, row(id="lab-three", evidence="proved")], tmp_path)
    assert "3 tested: 2 hold, 1 refuted." in text
    assert 'class="tile refuted" href="#lab-two" title="Two: No: 3."' in text
    assert 'class="tile holds sealed" href="#lab-three"' in text
    assert "1 tested: 1 failed." in text
    assert text.index("<strong>KS") < text.index("<strong>LAB")
    assert text.count('class="tile ') == 4
    assert 'class="claim' not in page([], tmp_path)


def test_tiles_stand_in_the_order_of_the_text(tmp_path):
    from paritylab.claims.coverage import claims_of, statements

    text = page(kept_rows(), tmp_path)
    for paper in ("hg1", "ks"):
        mine = [row["id"] for row in kept_rows() if row["paper"] == paper]
        wanted = [id for id in claims_of(statements(paper)) if id in mine]
        tiles = [id for id in re.findall(r'class="tile [^"]*" href="#([^"]+)"', text) if id in mine]
        assert tiles[: len(wanted)] == wanted


def test_tabs_appear_with_their_rows(tmp_path):
    assert "Phase diagrams" not in page([row()], tmp_path)
    text = page([row(series=in_tab(Bars({"a": 1.0}, y="numbers"), "phases"))], tmp_path)
    assert 'data-tab="phases">Phase diagrams' in text
    assert text.count("<svg") == 2


def test_a_row_leads_to_its_paper_and_names_its_code(tmp_path):
    assert paper_address("lab") == ""
    assert paper_address("ks") == "https://arxiv.org/abs/2410.08633"
    assert {*registry()} == {*code_places()}
    text = page([row(id="hg1-thm5", paper="hg1", source="Theorem 5")], tmp_path)
    assert 'href="https://arxiv.org/abs/2502.07553v1" rel="noreferrer">Theorem 5</a>' in text
    assert re.search(r"Code: <code>paritylab/claims/hg1/\w+\.py, line \d+", text)


@pytest.mark.parametrize("value", [0.0, -0.0, 1e-17, 123456.789, -2, 3.1e9, 0.5, 99999.5])
def test_a_shown_number_is_the_number(value):
    text = number(value).replace(",", "").replace("−", "-")
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    plain = re.sub(r"(?:^|·)10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: f"e{m[1].translate(digits)}", text)
    assert float(f"1{plain}" if plain.startswith("e") else plain) == pytest.approx(value, rel=6e-3)


def test_a_share_is_never_rounded_onto_none_or_all():
    rate = {"successes": 1999, "runs": 2000, "value": 0.9995, "low": 0.997, "high": 0.99991}
    (line,) = lines({"comparisons": [comparison(value=rate)]})
    assert line.measured == "1,999 of 2,000, 99.95 % [99.7, 99.99]"
    assert [each.value for each in lines({"comparisons": COMPARISONS})] == [
        0.25, 3.2e-12, -1.02, 0.5, 0.0,
    ]  # fmt: skip


def test_the_page_says_when_at_which_commit_and_how_long(tmp_path):
    from paritylab.sweep.provenance import occasion

    made = {"date": "2031-05-06", "commit": "abc1234", "jax": "9.9"}
    rows = [
        row(versions=made, effort="quick", seconds=100.0),
        row(id="lab-two", versions={**made, "date": "2031-05-07"}, effort="quick", seconds=80.0),
    ]
    words = text_of(page(rows, tmp_path))
    assert "date 2031-05-06, 2031-05-07 commit abc1234 effort quick jax 9.9" in words
    assert "total time of the claims 3 min" in words
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", occasion()["date"])
    assert re.fullmatch(r"[0-9a-f]{7,}(-dirty)?", occasion().get("commit", "0000000"))


def test_a_proved_verdict_has_a_seal_and_others_have_none(tmp_path):
    proved = {**row(), "evidence": "proved", "certificate": "hg1-lemma17", "proof": "a<b"}
    text = page([proved], tmp_path)
    assert 'class="seal" title="a&lt;b"' in text
    assert "paritylab prove hg1-lemma17" in text
    assert 'class="seal"' not in page([{**proved, "evidence": "exact"}], tmp_path)


def test_symbols_are_explained_where_they_are_used():
    def used(paper, statement):
        return [symbol for symbol, _ in meanings({"paper": paper, "statement": statement})]

    assert used("hg1", "It takes 9 s and a step of 2m/n² at τ = 1.") == ["n", "τ", "m"]
    assert used("hg1", "L* is reached.") == ["L*"]
    assert used("ks", "L - L* falls at tau = 1, Bits and knots aside.") == ["tau", "L", "L*"]
    assert used("ks", "W = 0") == ["W"]
    assert used("hg1", "W = 0") == []
