"""Page and figure files from rows: every status, hostile text, rows that cannot be shown."""

import json
import re

import pytest

from paritylab.claims import Bars, Line, Lines, Status
from paritylab.report import read_rows, write_figures, write_report

LINES = Lines([Line("a", [1, 2], [3, 4])], x="n", y="risk").series()


def row(**changes):
    fine = {
        "id": "lab-one",
        "paper": "lab",
        "source": "ours",
        "title": "A title",
        "statement": "A statement.",
        "status": "holds",
        "expected": "holds",
        "finding": "It does.",
        "instead": None,
        "evidence": "exact",
        "measured": {"largest error": 1e-9},
        "series": LINES,
    }
    return {**fine, **changes}


def page(rows, folder):
    return write_report(rows, folder).read_text()


def test_every_status_is_shown_with_its_sentence(tmp_path):
    rows = [
        row(id=f"lab-{status}", status=status.value, instead=f"rather {status}")
        for status in Status
    ]
    text = page(rows, tmp_path)
    for status in Status:
        assert status.sentence in text
        assert f"rather {status}" in text
    assert '<th scope="col" class="failed">' in text
    assert "recorded: holds" in text
    assert "Theorem" not in text
    assert text.count("<svg") == len(rows)


def test_a_page_without_failures_does_not_speak_of_them(tmp_path):
    assert "failed</th>" not in page([row()], tmp_path)


def test_a_claim_that_is_not_on_record_is_not_said_to_differ(tmp_path):
    text = page([row(expected=None, source="Theorem 5")], tmp_path)
    assert "recorded:" not in text
    assert "Theorem 5" in text


HOSTILE = '"><script>alert(1)</script>'


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
    assert "<script" not in text


def test_rows_of_earlier_versions_are_read(tmp_path):
    old = row(measured={"finding": "Old finding.", "instead": "Old instead.", "value": 2})
    del old["finding"], old["instead"]
    (tmp_path / "rows.json").write_text(json.dumps([old]))
    text = page(read_rows(tmp_path / "rows.json"), tmp_path / "page")
    assert "Old finding." in text
    assert "Old instead." in text
    assert "<dt>value</dt>" in text


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
