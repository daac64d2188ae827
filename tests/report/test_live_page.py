"""The live page as a file: one piece, small, closed to the outside, legible in its modules."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys

import pytest
from tests.cli.running import run
from tests.report.live_engine import NODE

from paritylab import (
    Annealed,
    Heads,
    Layers,
    Parity,
    ParityTree,
    Population,
    Sample,
    TeacherStep,
    learn,
)
from paritylab.report.live.page import FOLDER, live_page, modules_of
from paritylab.report.live.runs import FORMAT, read_run, run_facts, write_run

MODULES = sorted(FOLDER.rglob("*.js"))
GOOD = {"format": FORMAT, "n": 6, "hidden": [1, 3], "step": [0, 10], "risk": [1.0, 0.5]}


@pytest.fixture(scope="module")
def page():
    return live_page()


def test_the_page_is_one_small_closed_file(page):
    assert len(page.encode()) <= 300_000
    addresses = set(re.findall(r"https?://[^\s\"'`<>)]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(?:link|img|iframe|script src)|@import|url\(", page)
    for element, directive in (('script type="module"', "script-src"), ("style", "style-src")):
        content = re.search(rf"<{element}>(.*?)</", page, re.S).group(1)
        mark = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{mark}'" in page


def test_the_page_needs_no_python_flint(page, monkeypatch):
    """A plain install has none, and `live` once asked for it."""
    monkeypatch.setitem(sys.modules, "flint", None)
    assert live_page() == page


def test_a_node_that_sees_one_level_shows_it_in_its_place():
    data = Sample(ParityTree(8, (0, 2, 5, 6)), 2000)
    facts = run_facts(learn(Layers(), data, runs=1, trace=1))
    last = facts["scores"][-1]
    assert [len(column) for column in last] == [8, 8, 10]  # the root sees tokens 8 and 9 only
    assert last[2][:8] == [0.0] * 8
    assert any(last[0])


@pytest.mark.skipif(NODE is None, reason="NO NODE: the page's script is NOT parsed")
def test_the_script_parses(page, tmp_path):
    script = re.search(r'<script type="module">(.*?)</script>', page, re.S).group(1)
    (tmp_path / "page.mjs").write_text(script)
    subprocess.run([NODE, "--check", str(tmp_path / "page.mjs")], check=True)


def test_every_module_is_part_of_the_page():
    assert sorted(modules_of(FOLDER / "view" / "main.js")) == MODULES


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_modules_are_small_documented_and_plain(path):
    text = path.read_text()
    lines = text.splitlines()
    assert text.startswith("/**"), "a module begins with what it is"
    assert len(lines) <= 400
    assert all(len(line) <= 100 for line in lines), [line for line in lines if len(line) > 100]
    for number, line in enumerate(lines):
        if line.startswith(("export ", "function ")) and not line.startswith("export {"):
            undocumented = line.startswith("export ") and not lines[number - 1].endswith("*/")
            assert not undocumented, f"{path.name}:{number + 1} has no comment"
    for body in re.findall(r"^(?:export )?(?:async )?function .*?^\}", text, re.M | re.S):
        assert body.count("\n") < 60, body.splitlines()[0]
    banned = r"\bvar\b|[^=!]==[^=]|!=[^=]|innerHTML|\beval\(|document\.write|console\.|fetch\("
    assert not re.search(banned, re.sub(r"/\*.*?\*/|//.*", "", text, flags=re.S))
    for names in re.findall(r"^import \{([^}]*)\}", text, re.M):
        body = re.sub(r"^import \{[^}]*\} from .*$", "", text, flags=re.M)
        for name in filter(None, (each.strip() for each in names.split(","))):
            assert re.search(rf"\b{name}\b", body), f"{path.name} imports {name} and never uses it"


def test_claims_are_linked_where_they_have_a_page(page):
    assert 'href="claims/hg1-thm5.html"' in live_page(link="claims/{}.html")
    assert "(paritylab check ID runs one)" in page
    assert '<a href="claims' not in page


def test_the_command_writes_the_page(elsewhere, capsys):
    assert run(capsys, "live")[:2] == (0, "page: live.html\n")
    assert "<!doctype html>" in (elsewhere / "live.html").read_text()


def test_the_command_refuses_what_is_no_plain_file(elsewhere, capsys):
    (elsewhere / "real.html").write_text("mine")
    (elsewhere / "link.html").symlink_to("real.html")
    os.mkfifo(elsewhere / "pipe.html")
    for out in ("link.html", "pipe.html", ".", "no/such/folder.html"):
        code, _, error = run(capsys, "live", "--out", out)
        assert code == 2
        assert "--out" in error
        assert error.count("\n") == 1
    assert (elsewhere / "real.html").read_text() == "mine"
    assert (elsewhere / "link.html").is_symlink()


HOSTILE = {
    "nothing": "",
    "no JSON": "{",
    "no object": "[1]",
    "no format": json.dumps({"n": 3, "step": [0]}),
    "deep": "[" * 100_000,
    "NaN": json.dumps({**GOOD, "risk": [float("nan"), 1]}),
    "infinite": json.dumps(GOOD).replace("0.5", "1e999"),
    "huge": json.dumps(GOOD).replace("0.5", "1" + "0" * 400),
    "n is text": json.dumps({**GOOD, "n": "6"}),
    "n is true": json.dumps({**GOOD, "n": True}),
    "hidden outside": json.dumps({**GOOD, "hidden": [6]}),
    "hidden text": json.dumps({**GOOD, "hidden": ["<script>"]}),
    "no steps": json.dumps({**GOOD, "step": [], "risk": []}),
    "uneven": json.dumps({**GOOD, "risk": [1.0]}),
    "odd heads": json.dumps({**GOOD, "directions": [[1, 2, 3], [1, 2, 3]]}),
    "no heads": json.dumps({**GOOD, "directions": [[], []]}),
    "ragged heads": json.dumps({**GOOD, "directions": [[1, 2], [1, 2, 3, 4]]}),
    "ragged scores": json.dumps({**GOOD, "scores": [[[1.0]], []]}),
    "wide scores": json.dumps({**GOOD, "scores": [[[0.0] * 700]] * 2}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_run_is_one_clear_line(name, elsewhere, capsys):
    (elsewhere / "run.json").write_text(HOSTILE[name])
    code, _, error = run(capsys, "live", "--from", "run.json")
    assert code == 2
    assert error.startswith("paritylab: run.json ")
    assert error.count("\n") == 1
    assert len(error) < 300
    assert not (elsewhere / "live.html").exists()


def test_a_run_cannot_break_out_of_its_element(elsewhere):
    run = {**GOOD, "learner": "</script><script>alert(1)</script>", "extra": "dropped"}
    (elsewhere / "run.json").write_text(json.dumps(run))
    page = live_page(read_run("run.json"))
    assert "<script>alert" not in page
    assert "dropped" not in page
    embedded = re.search(r'id="run">(.*?)</script>', page, re.S).group(1)
    assert json.loads(embedded)["learner"] == run["learner"]


def test_missing_and_special_files_are_refused(elsewhere, capsys):
    os.mkfifo(elsewhere / "pipe.json")
    for name in ("absent.json", "pipe.json", "."):
        code, _, error = run(capsys, "live", "--from", name)
        assert (code, "--from needs a JSON file" in error) == (2, True)


@pytest.mark.slow
def test_runs_of_learners_with_a_trace_become_files(tmp_path):
    problem = Parity(8, (1, 4))
    heads = learn(Heads.paper(steps=20), Population(problem), runs=2, trace=5)
    facts = run_facts(heads, 1)
    assert facts["hidden"] == [1, 4]
    assert facts["step"] == [0, 5, 10, 15]
    assert len(facts["directions"][0]) == 4
    assert facts["tau"] == [0.125] * 4
    write_run(heads, tmp_path / "run.json", 1)
    assert read_run(tmp_path / "run.json") == facts
    heads.save(tmp_path / "runs.npz")
    assert read_run(tmp_path / "runs.npz", 1) == facts
    with pytest.raises(ValueError, match="there are 2 runs"):
        read_run(tmp_path / "runs.npz", 2)
    annealed = run_facts(learn(Annealed(steps=20), Population(problem), runs=1, trace=10))
    assert annealed["tau"][0] == 1.0
    chain = learn(TeacherStep(), Sample([ParityTree(8, (0, 2, 3, 5))], 500), trace=1)
    assert [len(column) for column in run_facts(chain)["scores"][1]] == [8, 9, 10]
    with pytest.raises(ValueError, match="no trace was kept"):
        run_facts(learn(Annealed(steps=5), Population(problem), runs=1))
