"""Generated pages are up to date, links lead somewhere, blocks and examples run."""

import importlib.util
import json
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_generated_pages_are_up_to_date():
    spec = importlib.util.spec_from_file_location("build_docs", ROOT / "docs" / "build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    made = build.pages()
    stale = [
        str(path.relative_to(ROOT))
        for path, text in made.items()
        if not path.is_file() or path.read_text() != text
    ]
    assert not stale, f"run make docs: {stale}"
    written = set((ROOT / "docs" / "claims").glob("*.md"))
    assert written == {path for path in made if path.parent.name == "claims"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


WITH_BLOCKS = [
    ROOT / "README.md",
    ROOT / "docs" / "learners.md",
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.stem)
def test_python_blocks_run_and_print_what_is_shown(page, capsys):
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


def _rates(text: str) -> list[int]:
    return [int(rate) for rate in re.findall(r"(\d+) % \[", text)]


def _without_rates(text: str) -> str:
    return re.sub(r"\d+ % \[\d+, \d+\]", "RATE", text)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_examples_are_short_and_run(script, capsys):
    assert len(script.read_text().splitlines()) < 100
    names = runpy.run_path(str(script))
    if "main" in names:
        names["main"]()
        assert capsys.readouterr().out


def test_the_example_claim_holds():
    from paritylab.claims import check, claims_from_file

    (verdict,) = check(
        claims_from_file(ROOT / "examples" / "new_claim.py").values(), effort="quick"
    )
    assert verdict.row["status"] == "holds"


def test_the_notebook_runs(capsys):
    notebook = json.loads((ROOT / "examples" / "tour.ipynb").read_text())
    names: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), "tour", "exec"), names)
            assert capsys.readouterr().out
