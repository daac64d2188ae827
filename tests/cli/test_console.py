"""Tables on a narrow terminal keep ids whole, and silent work says that it goes on."""

import io
import os
import subprocess
import sys
import time

import pytest
from rich.console import Console
from tests.report.rows import row

from paritylab.cli import console, spelling
from paritylab.cli.check import _COLUMNS, _cells

ROWS = [
    row(id="hg1-attention-bounds", paper="hg1", status="corrected", seconds=12.3),
    row(id="hg1-mask", paper="hg1", status="undecided", seconds=12.3),
    row(id="ks-x", paper="ks", seconds=12.3),
]


@pytest.mark.parametrize("width", [40, 120])
def test_on_a_terminal_ids_and_verdicts_stay_whole(width, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    plain = Console(file=stream, width=width, force_terminal=True, color_system=None)
    monkeypatch.setattr(console, "terminal", lambda _: plain)
    console.print_table(_COLUMNS, [_cells(each) for each in ROWS], whole=2)
    text = stream.getvalue()
    assert all(each["id"] in text and each["status"] in text for each in ROWS)
    assert max(map(len, text.splitlines())) <= width


def test_pipes_get_aligned_text_that_no_terminal_obeys(capsys):
    console.print_table(["a", "b"], [["one", "x" * 200], ["\x1b[31m", "15\u00a0%"]])
    assert capsys.readouterr().out.splitlines() == [
        "a         b",
        f"one       {'x' * 200}",
        "\\x1b[31m  15 %",
    ]


def test_a_stream_without_the_letters_gets_words(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    spelling.use_for(stream)
    monkeypatch.setattr(sys, "stdout", stream)
    console.print_table(["claim", "bound"], [["|∂L/∂a₁₃|, τ = 1/n²", "≤ 10⁻¹²"], ["ŷ", "½"]])
    console.paragraph("l ∉ {3, 4}, 97\u00a0% of α … ω, naïve, 火")
    print("β ≥ −1")  # not through the console
    stream.flush()
    assert stream.buffer.getvalue().decode("ascii").splitlines() == [
        "claim                    bound",
        "|dL/da_13|, tau = 1/n^2  <= 10^-12",
        "yhat                     1/2",
        "l not in {3, 4}, 97 % of alpha ... omega, naive, ?",
        "beta >= -1",
    ]


def test_a_command_under_an_ascii_locale_prints_words():
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "paritylab", "claims", "hg1-mask"]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert b"a_13 and a_14" in done.stdout
    assert b"?" not in done.stdout


def test_work_that_shows_nothing_says_that_it_goes_on(capsys, monkeypatch):
    monkeypatch.setattr(console, "FIRST_WORD", 0.05)
    with console.Progress(2, "blocks") as progress:
        time.sleep(0.5)
        progress.advance(1, "first: done")
    err = capsys.readouterr().err
    assert "0 of 2 blocks done, at work for" in err
    assert err.endswith("first: done\n")


def test_time_left_comes_from_recorded_seconds_and_what_finished_parts_took():
    """Each part takes three times its recorded seconds, two side by side."""
    left = console.TimeLeft(400.0, jobs=2)
    assert left.after(41.0) is None
    left.finish(10, 60.0)  # the first part is cheap, and its time is that of starting
    assert left.after(41.0) is None
    left.finish(50, 120.0)
    assert left.after(90.0) == pytest.approx(400 * 3 / 2 - 90)
    left.finish(140, 420.0)
    assert left.after(300.0) == pytest.approx(300.0)
    left.finish(200, 600.0)
    assert left.after(600.0) is None


def test_what_was_found_done_says_nothing_on_the_time_left():
    left = console.TimeLeft(1000.0)
    left.finish(900, 0.0)
    assert left.after(1.0) is None
    left.finish(20, 10.0)
    assert left.after(10.0) == pytest.approx(40.0)
    left.finish(80, 0.0)
    assert left.after(10.0) is None


def test_progress_says_no_time_left_before_a_tenth_of_the_work(monkeypatch):
    now = 0.0
    progress = console.Progress(300.0, jobs=2, clock=lambda: now)
    now = 40.0
    progress.advance(10, seconds=15)
    assert progress.status() == "at work for 40 s"
    progress.advance(90, seconds=85)
    assert progress.status() == "at work for 40 s, 110 s left"
    now = 100.0
    assert progress.status() == "at work for 100 s, 50 s left"
    blocks = console.Progress(20, "blocks", clock=lambda: now - 100)
    now = 110.0
    blocks.advance()
    assert blocks.status() == "1 of 20 blocks done, at work for 10 s"
    now = 120.0
    blocks.advance()
    assert blocks.status() == "2 of 20 blocks done, at work for 20 s, 180 s left"
