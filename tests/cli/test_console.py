"""Tables on a narrow terminal keep ids whole, and every paper has its line at the end."""

import io
import time

import pytest
from rich.console import Console

from paritylab.cli import console
from paritylab.cli.check import _COLUMNS, _SPARE, _cells, _summaries
from paritylab.cli.console import make_table


def row(id, status, paper="hg1"):
    finding = "With hard attention the largest risk over 32 sets is 0, and so on and so on."
    return {
        "id": id,
        "paper": paper,
        "status": status,
        "evidence": "extrapolated",
        "seconds": 12.3,
        "finding": finding,
        "counted": True,
        "reading": "text",
        "file": "",
    }


ROWS = [
    row("hg1-prop3-transformer", "corrected"),
    row("hg1-mask", "undecided"),
    row("ks-x", "holds", "ks"),
]


def printed(width):
    stream = io.StringIO()
    table = make_table(_COLUMNS, [_cells(each) for each in ROWS], width, _SPARE)
    Console(file=stream, width=width).print(table)
    return stream.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_ids_and_verdicts_stay_whole(width):
    text = printed(width)
    for each in ROWS:
        assert each["id"] in text
        assert each["status"] in text
    assert max(map(len, text.splitlines())) <= width


def test_columns_are_left_out_one_after_the_other():
    assert "seconds" in printed(120)
    assert "evidence" not in printed(60)
    assert "With hard" in printed(60)


def test_every_paper_has_a_line():
    assert _summaries(ROWS) == [
        "HG1: 2 tested: 1 corrected, 1 undecided (25 s)",
        "KS: 1 tested: 1 holds (12 s)",
    ]


def test_work_that_shows_nothing_says_that_it_goes_on(capsys, monkeypatch):
    monkeypatch.setattr(console, "FIRST_WORD", 0.05)
    with console.Counter("blocks", 1):
        time.sleep(0.5)
    assert "0 of 1 blocks done, at work for" in capsys.readouterr().err
