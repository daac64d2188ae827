"""The annotated papers: every statement in the order of its text, with its verdict in the margin.

What a paper says is put in our own words and its place is named; the text itself is not copied. A
verdict leads to its finding, its counterexample and its certificate.
"""

from pathlib import Path
from typing import Any

import numbered

from paritylab.claims import PAPERS, Claim
from paritylab.claims.coverage import statements
from paritylab.report import words
from paritylab.report.page import SIGNS, paper_address

Row = dict[str, Any]
#: The papers whose text was read as a whole.
READ = ("hg1", "ks")
#: The marks of a claim's page that a verdict leads to.
COUNTEREXAMPLE = "a-counterexample-that-runs"


def badge(row: Row) -> str:
    """Sign and word of a verdict, and a seal where it is proved; the site colours it."""
    seal = ' <span class="verdict proved">◆ proved</span>' if row["evidence"] == "proved" else ""
    status = row["status"]
    return f'<span class="verdict {status}"><strong>{SIGNS[status]} {status}</strong></span>{seal}'


def prose(text: str) -> str:
    """A sentence of a row as Markdown: its numbers as in the tables, its stars are no emphasis."""
    return words.prose(text).replace("\u00a0", " ").replace("*", "\\*")


def sentence(row: Row) -> str:
    """The finding."""
    return prose(row["finding"])


def page(paper: str, claims: dict[str, Claim], rows: dict[str, Row]) -> str:
    """One paper from its abstract to its appendix."""
    known = {"badge": badge, "sentence": sentence, "prose": prose, "counterexample": COUNTEREXAMPLE}
    given = {"paper": paper, "title": PAPERS[paper], "address": paper_address(paper)}
    return numbered.page(
        "annotated.md",
        {},
        kept=rows,
        claims=claims,
        listed=statements(paper),
        **known,
        **given,
    )


def pages(folder: Path, claims: dict[str, Claim], rows: dict[str, Row]) -> dict[Path, str]:
    """The annotated papers by their files."""
    return {folder / f"{paper}.md": page(paper, claims, rows) for paper in READ}
