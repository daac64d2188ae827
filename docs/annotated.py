"""The annotated papers: every statement in the order of its text, with its verdict in the margin.

What a paper says is put in our own words and its place is named; the text itself is not copied. A
verdict leads to its finding, its counterexample and its certificate.
"""

from pathlib import Path
from typing import Any

from paritylab.claims import PAPERS, Claim
from paritylab.claims.coverage import Statement, statements
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
    """A sentence of a row as Markdown: its stars are no emphasis."""
    return text.replace("*", "\\*")


def page(paper: str, claims: dict[str, Claim], rows: dict[str, Row]) -> str:
    """One paper from its abstract to its appendix."""
    listed = statements(paper)
    run = sum(bool(each.claims) for each in listed)
    lines = [
        f"# {paper.upper()}, statement by statement",
        "",
        f"[{PAPERS[paper]}]({paper_address(paper)}): {len(listed)} statements in the order of the "
        f"text, in our words; {run} of them are run. At the margin is the verdict of each claim; "
        "the words under it are its finding at default effort. A finding holds for the sizes and "
        "settings it names.",
        "",
    ]
    for each in listed:
        lines += _statement(each, paper, claims, rows)
    return "\n".join(lines)


def _statement(each: Statement, paper: str, claims: dict[str, Claim], rows: dict[str, Row]) -> Any:
    """Its place as a heading, what it says, its verdicts or why there is none."""
    lines = [f"## {each.place}", "", prose(each.says), ""]
    for id in each.claims:
        lines += [f"- {badge(rows[id])} {_verdict(claims[id], rows[id], paper)}"]
    if each.none:
        lines.append(f"*Not run: {each.none}.*")
    if each.note:
        lines += ["", each.note]
    return [*lines, ""]


def _verdict(claim: Claim, row: Row, paper: str) -> str:
    """The finding in one sentence, with what one can look at next."""
    links = [f"[{claim.id}](../claims/{claim.id}.md)"]
    if row["counterexample"]:
        links.append(f"[counterexample](../claims/{claim.id}.md#{COUNTEREXAMPLE})")
    if row["certificate"]:
        links.append(f"[certificate](../proofs.md#{row['certificate']})")
    ours = ", a claim of ours on this question" if claim.paper != paper else ""
    return f"{prose(words.first_sentence(row['finding']))} ({', '.join(links)}{ours})"


def pages(folder: Path, claims: dict[str, Claim], rows: dict[str, Row]) -> dict[Path, str]:
    """The annotated papers by their files."""
    return {folder / f"{paper}.md": page(paper, claims, rows) for paper in READ}
