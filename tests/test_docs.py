"""Generated pages are up to date, links lead somewhere, blocks and examples run."""

import importlib
import importlib.util
import json
import re
import runpy
import sys
from pathlib import Path

import pytest
from tests.report.browser import browser

import paritylab
from paritylab.claims import Effort, registry
from paritylab.claims.errata import ERRATA

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *(
        p
        for p in sorted((ROOT / "docs").rglob("*.md"))
        if p.parent.name not in ("templates", "runs")
    ),
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def build():
    sys.path.insert(0, str(ROOT / "docs"))
    spec = importlib.util.spec_from_file_location("build_docs", ROOT / "docs" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def docs_module(name):
    sys.path.insert(0, str(ROOT / "docs"))
    return importlib.import_module(name)


def test_generated_pages_are_up_to_date(build):
    made = build.pages()
    stale = [
        str(path.relative_to(ROOT))
        for path, text in made.items()
        if not path.is_file() or path.read_text() != text
    ]
    assert not stale, f"run make docs: {stale}"
    written = set((ROOT / "docs" / "claims").glob("*.md"))
    assert written == {path for path in made if path.parent.name == "claims"}


def test_the_kept_rows_are_those_of_the_claims(build):
    rows, claims = build.kept_rows(), registry()
    assert set(rows) == set(claims), "run make rows"
    for id, row in rows.items():
        claim = claims[id]
        now = (claim.title, claim.statement, claim.source.place, claim.expected_at(Effort.DEFAULT))
        assert (row["title"], row["statement"], row["source"], row["status"]) == now, id
        assert row["effort"] == "default"


def test_figures_of_claims_are_drawn_from_the_kept_rows(build):
    drawn = {id: row for id, row in build.kept_rows().items() if row["series"].get("kind")}
    folder = ROOT / "docs" / "claims" / "figures"
    assert {path.stem for path in folder.glob("*.svg")} == set(drawn)
    for id, row in drawn.items():
        assert build.series_mark(row) in (folder / f"{id}.svg").read_text(), f"run make docs: {id}"


def test_every_correction_has_its_erratum_and_every_erratum_its_claim(build):
    rows = build.kept_rows()
    shown = {id for erratum in ERRATA for id in erratum.claims}
    of_papers = {id for id, row in rows.items() if row["paper"] != "lab" and row["counted"]}
    changed = {id for id in of_papers if rows[id]["status"] in ("corrected", "refuted")}
    assert changed <= shown
    for erratum in ERRATA:
        statuses = {rows[id]["status"] for id in erratum.claims}
        assert erratum.is_note or statuses & {"corrected", "refuted"}, erratum.place
        assert not erratum.is_note or statuses <= {"holds"}, erratum.place
        assert erratum.claims or erratum.tested, erratum.place


def test_a_headline_for_another_verdict_is_refused(build):
    rows = {id: dict(row) for id, row in build.kept_rows().items()}
    id, status = build.numbered.HEADLINES[0][:2]
    rows[id]["status"] = "undecided"
    with pytest.raises(ValueError, match=f"words on {id} are for {status}"):
        build.numbered.Numbers(rows, "claims").headlines()


def test_a_measured_number_typed_by_hand_is_found(build):
    folder = build.numbered.TEMPLATES
    for path in folder.glob("*.md"):
        assert build.numbered.typed_numbers(path.read_text()) == [], path.name
    by_hand = (
        "Two heads converge in 60 of 60 runs with b = 0.08, in 63 % with b = 0.01. "
        "The stopping time is 4·10^6 steps."
    )
    assert len(build.numbered.typed_numbers(by_hand)) == 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\((?!https://arxiv\.org/)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_an_annotated_paper_has_every_statement_in_its_order(build):
    from paritylab.claims.coverage import statements

    rows = build.kept_rows()
    for paper in build.annotated.READ:
        text = build.annotated.page(paper, registry(), rows)
        assert re.findall(r"^## (.+)$", text, re.M) == [each.place for each in statements(paper)]
        marks = re.findall(r'^- <span class="verdict (\w+)">.*?\(\[([\w-]+)\]', text, re.M)
        assert {id for _, id in marks} == {id for s in statements(paper) for id in s.claims}
        assert all(rows[id]["status"] == status for status, id in marks)


WITH_BLOCKS = [
    ROOT / "README.md",
    ROOT / "docs" / "learners.md",
    *(
        path
        for part in ("start", "concepts", "howto")
        for path in (ROOT / "docs" / part).glob("*.md")
    ),
]


# The longest two take a minute of the default run; the others show how in seconds.
LONG_PAGES = {"README", "learners", "own-link", "xor_one_step", "chain_one_step"}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.slow] * (page.stem in LONG_PAGES))
        for page in WITH_BLOCKS
    ],
)
def test_python_blocks_run_and_print_what_is_shown(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    for code, shown in re.findall(
        r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL
    ):
        exec(compile(code, page.name, "exec"), {})
        printed = capsys.readouterr().out
        if not shown:
            continue
        assert _without_rates(printed) == _without_rates(shown)
        for seen, written in zip(_rates(printed), _rates(shown), strict=True):
            assert abs(seen - written) <= 5  # rounding on another machine may turn a run or two


def _rates(text: str) -> list[float]:
    return [float(rate) for rate in re.findall(r"([\d.]+) % \[", text)]


def _without_rates(text: str) -> str:
    return re.sub(r"\d+ of \d+, [\d.]+ % \[[\d.]+, [\d.]+\]", "RATE", text)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, id=script.stem, marks=[pytest.mark.slow] * (script.stem in LONG_PAGES))
        for script in EXAMPLES
    ],
)
def test_examples_are_short_and_run(script, capsys):
    assert len(script.read_text().splitlines()) < 100
    names = runpy.run_path(str(script))
    if "main" in names:
        names["main"]()
        assert capsys.readouterr().out


def test_the_example_claim_holds_and_its_planted_case_turns_it():
    from paritylab.claims import Trial, claims_from_file

    (claim,) = claims_from_file(ROOT / "examples" / "new_claim.py").values()
    assert claim.run(Trial("quick")).status == "holds"
    (case,) = claim.planted
    assert claim.run(Trial("quick"), **case.settings).status == case.turns


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_print_what_they_show(path):
    notebooks = docs_module("notebooks")
    kept = notebooks.printed(json.loads(path.read_text()))
    now = notebooks.printed(notebooks.executed(path))
    assert all(kept)
    for seen, written in zip(now, kept, strict=True):
        assert _without_rates(seen) == _without_rates(written), f"run make docs: {path.name}"


def test_the_page_on_choosing_names_every_method():
    from paritylab.baselines import METHODS

    text = (ROOT / "docs" / "concepts" / "choosing.md").read_text()
    assert [name for name in METHODS if f"`{name}`" not in text and f'"{name}"' not in text] == []


def test_the_reference_has_every_public_name():
    made = "\n".join(docs_module("reference").pages().values())
    for name in paritylab.__all__:
        assert name == "__version__" or f"{{ #{name} }}" in made, name


def test_links_of_the_site_stay_inside_it(tmp_path):
    website = docs_module("website")
    shown: set[Path] = set()
    page = ROOT / "docs" / "howto" / "own-claim.md"
    text = website.relinked(page.read_text(), page, Path("howto/own-claim.md"), shown)
    assert "(../source/examples/new_claim.py.md)" in text
    assert shown == {ROOT / "examples" / "new_claim.py"}
    foreign = '<script src="https://elsewhere.example/a.js"></script><link rel="stylesheet" href=x>'
    assert website.requests_of(foreign) == ["https://elsewhere.example/a.js"]
    (tmp_path / "index.html").write_text(f"<p>{foreign}</p>")
    assert website.finished(tmp_path) == ["index.html: https://elsewhere.example/a.js"]


@pytest.mark.slow
def test_the_site_builds_without_a_broken_link_and_is_searched_from_its_folder():
    pytest.importorskip("zensical", reason="make site installs zensical")
    website = docs_module("website")
    assert website.main() == 0
    asked: list[str] = []
    with browser() as chromium:
        page = chromium.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((website.SITE / "index.html").as_uri())
        page.get_by_role("button", name="Search").first.click()
        box = page.get_by_placeholder("Search").last
        box.press_sequentially("certificate", delay=50)  # letters once vanished under file://
        page.get_by_text(re.compile(r"^\d+ results$")).wait_for()
        assert box.input_value() == "certificate"
        assert page.get_by_text("What a certificate is").locator("visible=true").count()
    assert all(url.startswith("file:") for url in asked)
