"""Where a claim can be read: its paper, its page, its code. Nothing is fetched to show them."""

import re
from functools import cache
from os.path import relpath
from pathlib import Path
from typing import NamedTuple

from paritylab.claims.engine.sources import PAPERS

_PACKAGE = Path(__file__).resolve().parents[1]
#: The source tree, if the package is used from one.
_ROOT = _PACKAGE.parents[1]


class Link(NamedTuple):
    """words: what is shown. address: where it leads, "" if it is a name only."""

    words: str
    address: str = ""


def paper_address(paper: str) -> str:
    """The paper on arXiv, in the version that was read; "" for what is not there.

    >>> paper_address("hg1")
    'https://arxiv.org/abs/2502.07553v1'
    """
    found = re.search(r"arXiv (\d{4}\.\d{5})(?: (v\d+))?", PAPERS.get(paper, ""))
    return f"https://arxiv.org/abs/{found[1]}{found[2] or ''}" if found else ""


def claim_page(id: str, folder: Path) -> Link | None:
    """The claim's page in the documentation, for a report inside the source tree."""
    page = _ROOT / "docs" / "claims" / f"{id}.md"
    if id not in code_places() or not page.is_file():
        return None
    return Link(f"docs/claims/{id}.md", _address(page, folder))


def code(id: str, folder: Path) -> Link | None:
    """The file that measures and judges the claim, with its line."""
    if id not in code_places():
        return None
    file, line = code_places()[id]
    return Link(f"{file.relative_to(_PACKAGE.parent)}, line {line}", _address(file, folder))


def _address(file: Path, folder: Path) -> str:
    """A relative address from a folder in the source tree; none from elsewhere."""
    folder = folder.resolve()
    return relpath(file, folder).replace("\\", "/") if folder.is_relative_to(_ROOT) else ""


@cache
def code_places() -> dict[str, tuple[Path, int]]:
    """File and line of every claim of the lab, found in the text of its files."""
    places: dict[str, tuple[Path, int]] = {}
    for file in sorted((_PACKAGE / "claims").glob("*/*.py")):
        text = file.read_text(encoding="utf-8")
        for found in re.finditer(r'^@claim\(\s*"([\w-]+)"', text, re.MULTILINE):
            places[found[1]] = (file, text.count("\n", 0, found.start()) + 1)
    return places
