"""The live page as a file: one piece, small, closed to the outside; runs go in and come out."""

import base64
import hashlib
import json
import re
import sys

import pytest
from tests.cli.running import run

from paritylab import (
    Chain,
    Heads,
    Layers,
    Parity,
    ParityTree,
    Population,
    Sample,
    learn,
)
from paritylab.report.live.page import FOLDER, live_page, modules_of
from paritylab.report.live.runs import FORMAT, read_run, run_facts, write_run

GOOD = {"format": FORMAT, "n": 6, "hidden": [1, 3], "step": [0, 10], "risk": [1.0, 0.5]}
TREE = ParityTree(8, (0, 2, 5, 6))


def test_the_page_is_one_small_closed_file(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)  # a plain install has none
    page = live_page(link="claims/{}.html")
    assert len(page.encode()) <= 300_000
    addresses = set(re.findall(r"https?://[^\s\"'`<>)]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(?:link|img|iframe|script src)|@import|url\(", page)
    for element, directive in (('script type="module"', "script-src"), ("style", "style-src")):
        content = re.search(rf"<{element}>(.*?)</", page, re.S).group(1)
        mark = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{mark}'" in page
    assert 'href="claims/hg1-thm5.html"' in page
    assert '<a href="claims' not in live_page()


def test_modules_are_used_short_and_never_run_or_fetch_text():
    modules = sorted(FOLDER.rglob("*.js"))
    assert sorted(modules_of(FOLDER / "view" / "main.js")) == modules
    banned = r"innerHTML|\beval\(|document\.write|console\.|fetch\("
    for path in modules:
        text = path.read_text()
        assert text.startswith("/**"), path
        assert text.count("\n") <= 400, path
        assert not re.search(banned, re.sub(r"/\*.*?\*/|//.*", "", text, flags=re.S)), path


def test_the_command_writes_the_page(elsewhere, capsys):
    assert run(capsys, "live")[:2] == (0, "page: live.html\n")
    assert "<!doctype html>" in (elsewhere / "live.html").read_text()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        json.dumps({**GOOD, "format": "other"}),
        json.dumps(GOOD).replace("0.5", "1e999"),
        json.dumps({**GOOD, "n": True}),
        json.dumps({**GOOD, "hidden": ["<script>"]}),
        json.dumps({**GOOD, "risk": [1.0]}),
        json.dumps({**GOOD, "directions": [[1, 2], [1, 2, 3, 4]]}),
        json.dumps({**GOOD, "scores": [[[0.0] * 700]] * 2}),
    ],
)
def test_a_hostile_run_is_one_clear_line(text, elsewhere, capsys):
    (elsewhere / "run.json").write_text(text)
    code, _, error = run(capsys, "live", "--from", "run.json")
    assert code == 2
    assert error.startswith("paritylab: run.json ")
    assert error.count("\n") == 1
    assert len(error) < 300
    assert not (elsewhere / "live.html").exists()


def test_a_run_cannot_break_out_of_its_element(elsewhere):
    given = {**GOOD, "learner": "</script><script>alert(1)</script>", "extra": "dropped"}
    (elsewhere / "run.json").write_text(json.dumps(given))
    page = live_page(read_run("run.json"))
    assert "<script>alert" not in page
    assert "dropped" not in page
    embedded = re.search(r'id="run">(.*?)</script>', page, re.S).group(1)
    assert json.loads(embedded)["learner"] == given["learner"]


def test_runs_with_a_trace_become_files_and_come_back(tmp_path):
    heads = learn(Heads.paper(steps=20), Population(Parity(8, (1, 4))), runs=2, trace=5)
    facts = run_facts(heads, 1)
    assert (facts["hidden"], facts["step"]) == ([1, 4], [0, 5, 10, 15])
    assert (len(facts["directions"][0]), facts["tau"]) == (4, [0.125] * 4)
    write_run(heads, tmp_path / "run.json", 1)
    heads.save(tmp_path / "runs.npz")
    assert read_run(tmp_path / "run.json") == read_run(tmp_path / "runs.npz", 1) == facts
    with pytest.raises(ValueError, match="there are 2 runs"):
        read_run(tmp_path / "runs.npz", 2)
    with pytest.raises(ValueError, match="no trace was kept"):
        run_facts(learn(Heads.annealed(steps=5), Population(Parity(8, (1, 4))), runs=1))


@pytest.mark.parametrize(
    ("learner", "seen"),
    [
        (Chain.theorem5(), [8, 9, 10]),
        (Layers(), [8, 8, 10]),
    ],  # the root of layers sees 8 and 9 only
)
def test_scores_of_a_chain_are_those_of_what_a_node_sees(learner, seen):
    last = run_facts(learn(learner, Sample(TREE, 2000), runs=1, trace=1))["scores"][-1]
    assert [len(column) for column in last] == seen
    assert any(last[0])
    assert isinstance(learner, Chain) or last[2][:8] == [0.0] * 8
