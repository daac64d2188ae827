"""Page and figure files from rows: every status, hostile text, rows that cannot be shown."""

import json
import re

import pytest
from tests.report.rows import HOSTILE, hostile_rows, kept_rows, many_rows, row

from paritylab.claims import Bars, Line, Lines, Status
from paritylab.claims.engine.figures import in_tab
from paritylab.report import read_rows, view, write_figures, write_report
from paritylab.report.facts import groups, number
from paritylab.report.glance import glance
from paritylab.report.page import shown_row


def page(rows, folder):
    return write_report(rows, folder).read_text()


def test_every_status_is_shown_with_its_sentence(tmp_path):
    rows = [
        row(id=f"lab-{status}", status=status.value, instead=f"rather {status}")
        for status in Status
    ]
    text = page(rows, tmp_path)
    for status in Status:
        assert status.sentence.capitalize() in text
        assert f"rather {status}" in text
    assert "recorded: holds" in text
    assert "Theorem" not in text
    assert text.count("<svg") == len(rows)


def test_a_page_without_failures_does_not_speak_of_them(tmp_path):
    assert "raised an error" not in page([row()], tmp_path)


def test_a_claim_that_is_not_on_record_is_not_said_to_differ(tmp_path):
    text = page([row(expected=None, source="Theorem 5")], tmp_path)
    assert "recorded:" not in text
    assert "Theorem 5" in text


@pytest.mark.parametrize(
    "change",
    [
        {"id": HOSTILE},
        {"title": HOSTILE, "statement": HOSTILE, "source": HOSTILE, "paper": HOSTILE},
        {"finding": HOSTILE, "instead": HOSTILE, "evidence": HOSTILE, "expected": HOSTILE},
        {"measured": {HOSTILE: HOSTILE}, "predicted": {HOSTILE: HOSTILE}},
        {"settings": {HOSTILE: HOSTILE}, "versions": {HOSTILE: HOSTILE}, "device": HOSTILE},
        {"counterexample": HOSTILE},
        {"series": Lines([Line(HOSTILE, [1], [1])], x=HOSTILE, y="", caption=HOSTILE).series()},
        {"series": Bars({HOSTILE: 1.0}, y=HOSTILE).series()},
    ],
)
def test_hostile_strings_stay_text(tmp_path, change):
    text = page([row(**change)], tmp_path)
    assert text.count("<script") == 1
    assert "<img" not in text
    assert "{{7*7}}" in text


def test_strings_that_no_file_can_hold_are_replaced(tmp_path):
    assert "half ?" in page([row(title="half \ud83d")], tmp_path)


def test_rows_of_earlier_versions_are_read(tmp_path):
    old = row(measured={"finding": "Old finding.", "instead": "Old instead.", "value": 2})
    del old["finding"], old["instead"]
    (tmp_path / "rows.json").write_text(json.dumps([old]))
    text = page(read_rows(tmp_path / "rows.json"), tmp_path / "page")
    assert "Old finding." in text
    assert "Old instead." in text
    assert '<dt>value</dt><dd><data value="2">2</data>' in text


def test_the_needed_keys_are_enough(tmp_path):
    needed = {key: row()[key] for key in ("id", "paper", "title", "statement", "status")}
    (tmp_path / "rows.json").write_text(json.dumps([needed]))
    assert "A statement." in page(read_rows(tmp_path / "rows.json"), tmp_path / "page")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({}, "list of rows"),
        ([3], "row 0 must be an object"),
        ([row(), {"id": "lab-two"}], r"row 1 \(lab-two\) lacks paper, title, statement, status"),
        ([row(status="great")], "unknown status 'great'"),
        ([row(measured=[1])], r"row 0 \(lab-one\): measured must be a dict"),
        ([row(title=7)], "title must be a str"),
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


def test_figures_are_written_as_files(tmp_path):
    written = write_figures([row(), row(id="lab-two", series={})], tmp_path / "figures")
    assert sorted(path.name for path in written) == ["lab-one.pdf", "lab-one.svg"]
    assert re.search("<svg", (tmp_path / "figures" / "lab-one.svg").read_text())


@pytest.mark.parametrize("id", ["../x", "/tmp/x", "a/b", "..", "", "a\\b", "C:x", "a\0b"])
def test_figures_do_not_leave_their_folder(tmp_path, id):
    with pytest.raises(ValueError, match="name of a figure file"):
        write_figures([row(), row(id=id)], tmp_path / "figures")
    assert not (tmp_path / "figures").exists()


def test_the_page_is_one_file_with_a_policy(tmp_path):
    text = page(kept_rows(), tmp_path)
    assert "default-src 'none'" in text
    assert not re.search(r"(src|srcset)=|url\(|@import|<link|<iframe", text)


def test_ninety_claims_stay_small(tmp_path):
    assert len(page(many_rows(90), tmp_path).encode()) < 2_000_000


def test_every_paper_has_its_sentence(tmp_path):
    rows = [row(), row(id="lab-two", status="refuted", title="Two", finding="No. It is 3.")]
    rows += [row(id="ks-x", paper="ks", status="failed", finding="ValueError: no")]
    text = page(rows, tmp_path)
    assert "2 tested: 1 holds, 1 refuted." in text
    assert '<a href="#lab-two">Two</a>: No.' in text
    assert "1 tested: 1 failed." in text
    assert text.index("<strong>KS") < text.index("<strong>LAB")


def test_leading_claims_may_vanish(tmp_path):
    for rows in ([], kept_rows()[:1], [r for r in kept_rows() if r["id"] != "hg1-thm5"]):
        shown = re.findall(r'<details class="claim[^>]*data-id="([^"]+)"', page(rows, tmp_path))
        assert shown == [each["id"] for each in rows]


def test_what_cannot_be_glanced_at_is_left_out():
    assert glance([]) == {}
    broken = [row(id="hg1-thm5", measured={"by setting": 3}), row(id="ks-experiments", series={})]
    assert glance(broken) == {}
    odd = Lines([Line("a", [1], ["x"])], x="n", y="y").series()
    assert glance([row(id="hg2-one-step", series=odd)]) == {}


def test_the_overview_has_intervals_and_one_k_per_point():
    series = glance(kept_rows())
    heads = series["parts"][0]
    assert len(series["parts"]) == 3
    assert all("low" in line for line in heads["lines"])
    assert "k" in heads["x"]["label"]
    thm5 = next(r for r in kept_rows() if r["id"] == "hg1-thm5")
    best = thm5["measured"]["runs that come within 0.05 of the risk on B, best setting"]
    shares = [each["successes"] / each["runs"] for each in best.values()]
    assert heads["lines"][0]["y"] == pytest.approx(shares)


def test_tabs_appear_with_their_rows(tmp_path):
    assert "Phase diagrams" not in page([row()], tmp_path)
    text = page([row(series=in_tab(Bars({"a": 1.0}, y="numbers"), "phases"))], tmp_path)
    assert 'data-tab="phases">Phase diagrams' in text
    assert text.count("<svg") == 2


def test_links_lead_to_paper_page_and_code_inside_the_source_tree(tmp_path):
    from tests.report.rows import KEPT

    from paritylab.report.links import claim_page, code, paper_address

    inside = KEPT.parents[1] / "report"
    assert paper_address("lab") == ""
    assert paper_address("ks") == "https://arxiv.org/abs/2410.08633"
    for each in kept_rows():
        assert (inside / claim_page(each["id"], inside).address).resolve().is_file()
        assert (inside / code(each["id"], inside).address).resolve().is_file()
    outside = code("hg1-thm5", tmp_path)
    assert outside.address == ""
    assert "training" in outside.words
    assert code("own-claim", inside) is None


def test_numbers_that_matter_come_first_and_none_is_lost():
    for each in kept_rows():
        chosen, rest = groups(each)
        assert len(chosen) <= 3
        values = [f.value for f in chosen] + [f.value for group in rest for f in group.facts]
        for value in _entries(each["measured"]):
            assert value in values, each["id"]


def _entries(value):
    """What stands in a table of any depth; a rate or a mean is one."""
    if isinstance(value, dict) and not {"low", "high"} <= set(value):
        return [entry for inner in value.values() for entry in _entries(inner)]
    return [value]


@pytest.mark.parametrize("value", [0.0, -0.0, 1e-17, 123456.789, -2, 3.1e9, 0.5, 99999.5])
def test_a_shown_number_is_the_number(value):
    text = number(value).replace(",", "").replace("−", "-")
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    plain = re.sub(r"(?:^|·)10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: f"e{m[1].translate(digits)}", text)
    assert float(f"1{plain}" if plain.startswith("e") else plain) == pytest.approx(value, rel=6e-3)


def test_hostile_rows_make_a_page(tmp_path):
    text = page(hostile_rows(), tmp_path)
    assert text.count("<script") == 1
    assert "onerror=alert(2)>" not in text.replace("&gt;", "")


def test_the_page_says_when_at_which_commit_and_how_long(tmp_path):
    made = {"date": "2031-05-06", "commit": "abc1234", "jax": "9.9"}
    rows = [
        row(versions=made, effort="quick", seconds=100.0),
        row(id="lab-two", versions={**made, "date": "2031-05-07"}, effort="quick", seconds=80.0),
    ]
    text = re.sub(r"<[^>]+>", " ", page(rows, tmp_path))
    words = " ".join(text.split())
    assert "date 2031-05-06, 2031-05-07 commit abc1234 effort quick jax 9.9" in words
    assert "total time of the claims 3 min" in words


def test_verdicts_know_their_day_and_commit():
    from paritylab.sweep.provenance import occasion

    made = occasion()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"])
    assert re.fullmatch(r"[0-9a-f]{7,}(-dirty)?", made.get("commit", "0000000"))


def test_a_proved_verdict_has_a_seal_and_others_have_none(tmp_path):
    proved = {**row(), "evidence": "proved", "certificate": "hg1-lemma17", "proof": "a<b"}
    text = write_report([proved], tmp_path / "proved").read_text()
    assert 'class="seal" title="a&lt;b"' in text
    assert "paritylab prove hg1-lemma17" in text
    other = write_report([{**proved, "evidence": "exact"}], tmp_path / "exact").read_text()
    assert 'class="seal"' not in other


def test_a_paper_is_headed_by_its_theorem_not_by_a_footnote():
    changes = {"paper": "dm", "status": "refuted", "finding": "So it is."}
    base = shown_row({**row(), **changes}, "row")
    footnote = {**base, "id": "a", "source": "Theorem 1, footnote"}
    theorem = {**base, "id": "b", "source": "Theorem 3", "status": "holds"}
    (headline,) = view.headlines([footnote, theorem])
    assert headline.lead["id"] == "b"
