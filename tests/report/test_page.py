"""The page from rows: every status in its word, and rows that cannot be shown."""

import json
import re

import pytest
from tests.report.rows import comparison, hostile_rows, row

from paritylab.claims import Status, registry
from paritylab.execution.provenance import occasion
from paritylab.report import read_rows, write_report
from paritylab.report.page import code_places
from paritylab.report.words import lines


@pytest.fixture
def page(tmp_path):
    """page(row, …): the text of a page."""
    return lambda *rows: write_report(rows, tmp_path).read_text()


def words(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_every_status_is_shown_in_its_word_and_only_failures_speak_of_errors(page):
    for statuses in (list(Status), [Status.HOLDS]):
        text = page(*(row(id=f"lab-{s}", status=s.value, instead=f"rather {s}") for s in statuses))
        assert all(f"rather {status}" in text for status in statuses)
        assert all(f'"chip {status}"' in text for status in statuses)
        assert text.count("<svg") == len(statuses)
        assert ("raised an error" in text) is (Status.FAILED in statuses)
    assert "recorded:" not in page(row(expected=None))
    assert "recorded: refuted" in page(row(expected="refuted"))


def test_every_comparison_is_a_line_of_a_table(page):
    text = words(page(row()))
    for line in (
        "runs that learn 15 of 60, 25 % [15, 38] at least 85 % no",
        "control: error 3.2·10⁻¹² at most 10⁻⁹ yes",
        "instead: slope −1.02 [−1.1, −0.94] of 12 between −1.2 and −0.8 yes",
        "gap 0.5 at most 0.4 straddles",
        "note: runs without jitter 0 of 60, 0 % [0, 38]",
    ):
        assert line in text


def test_a_share_is_never_rounded_onto_all():
    rate = {"successes": 1999, "runs": 2000, "value": 0.9995, "low": 0.997, "high": 0.99991}
    (line,) = lines({"comparisons": [comparison(value=rate)]})
    assert line.measured == "1,999 of 2,000, 99.95 % [99.7, 99.99]"


def test_a_page_of_hostile_rows_is_one_small_closed_file(page):
    text = page(*hostile_rows(), row(id="half", title="half \ud83d"))
    assert "half ?" in text
    assert "default-src 'none'" in text
    assert not re.search(r"\s(src|srcset|style)=\"|url\(|@import|<link|<iframe|<img", text)
    assert text.count("<script") == 1
    assert len(text.encode()) < 200_000


def test_an_uncounted_row_keeps_its_status_and_is_not_in_the_tally(page):
    text = page(row(), row(id="lab-two", counted=False, reading="abstract"))
    assert re.search(r'data-id="lab-two"[^>]*>.*?"chip holds"', text, re.S)
    assert "1 tested: 1 holds" in text


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({}, "list of rows"),
        ([3], "row 0 must be an object"),
        ([row(), {"id": "lab-two"}], r"row 1 \(lab-two\) lacks paper, source, title"),
        ([row(status="great")], "unknown status 'great'"),
        ([row(looks="often")], "looks must be a"),
        ([row(comparisons=[{"label": "x"}])], r"row 0 \(lab-one\): its comparisons cannot be read"),
        ([row(schema=0)], r"has form 0, .* again with: paritylab check --json"),
    ],
)
def test_rows_that_cannot_be_shown_are_named(tmp_path, rows, message):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(ValueError, match=message) as error:
        read_rows(path)
    assert str(path) in str(error.value)


def test_a_series_that_cannot_be_drawn_names_its_row(page):
    series = {"kind": "lines", "lines": [{"x": [1], "y": ["a"]}]}
    with pytest.raises(ValueError, match="the series of row 'lab-one' cannot be drawn"):
        page(row(series=series))


def test_the_map_has_a_row_a_paper_and_a_tile_a_claim(page):
    refuted = row(id="lab-two", status="refuted", title="Two", finding="No.")
    failed = row(id="ks-x", paper="ks", status="failed", finding="ValueError: no")
    text = page(row(), refuted, failed, row(id="lab-three", evidence="proved"))
    assert "3 tested: 2 hold, 1 refuted." in text
    assert "1 tested: 1 failed." in text
    assert 'class="tile refuted" href="#lab-two" title="Two: No."' in text
    assert 'class="tile holds sealed" href="#lab-three"' in text
    assert text.index("<strong>KS") < text.index("<strong>LAB")
    assert text.count('class="tile ') == 4
    assert 'class="claim' not in page()


CERTIFIED = {"certificate": "hg1-lemma17", "proof": "a<b"}


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (
            {"paper": "hg1", "source": "Theorem 5"},
            'href="https://arxiv.org/abs/2502.07553v1" rel="noreferrer">Theorem 5</a>',
        ),
        ({"id": "hg1-thm5"}, r"Code: <code>paritylab/claims/hg1/\w+\.py, line \d+"),
        ({"evidence": "proved", **CERTIFIED}, r'class="seal" title="a&lt;b"'),
        ({"evidence": "proved", **CERTIFIED}, "paritylab prove hg1-lemma17"),
    ],
)
def test_a_paper_a_place_in_the_code_and_a_seal_are_shown_where_they_are(page, change, wanted):
    assert re.search(wanted, page(row(**change)))
    assert not re.search(wanted, page(row(**CERTIFIED)))


def test_every_claim_has_a_place_in_the_code():
    assert {*registry()} == {*code_places()}


def test_the_page_says_when_at_which_commit_and_how_long(page):
    made = {"date": "2031-05-06", "commit": "abc1234", "jax": "9.9"}
    text = words(
        page(
            row(versions=made, effort="quick", seconds=100.0),
            row(id="b", versions={**made, "date": "2031-05-07"}, effort="quick", seconds=80.0),
        )
    )
    assert "date 2031-05-06, 2031-05-07 commit abc1234 effort quick jax 9.9" in text
    assert "total time of the claims 3 min" in text
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", occasion()["date"])
    assert re.fullmatch(r"[0-9a-f]{7,}(-dirty)?", occasion().get("commit", "0000000"))


def headline_row(**change):
    rate = {"value": 1.0, "low": 0.76, "high": 1.0, "runs": 12, "successes": 12}
    asked = {"side": "at least", "bound": 0.7, "role": "printed", "passed": True}
    shown = [{"label": "runs solved after one step, n = 128", "value": rate, **asked}]
    return row(**{"id": "ks-thm5", "status": "holds", "comparisons": shown, **change})


def test_the_page_opens_with_the_findings_that_its_rows_bear_out(page):
    text = page(row(), headline_row())
    assert text.index('aria-label="What was found"') < text.index('class="map"')
    assert "Runs that are right after that step: 12 of 12 (n = 128)." in text
    other = page(headline_row(comparisons=[], finding="Half of them."))
    assert re.search("in a single gradient step.*</strong> Half of them.", other)
    for none in (page(row()), page(headline_row(status="refuted"))):
        assert "What was found" not in none
