"""Write what is generated: a page per claim, errata, coverage, public names, README. `make docs`.

Numbers come from rows.json, the rows of a default check (`make rows`).
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import annotated
import numbered
import reference
import walks

from paritylab import __version__
from paritylab.claims import PAPERS, Claim, Effort, registry
from paritylab.claims.coverage import Statement, claims_of, covered_papers, statements
from paritylab.claims.engine import recorded
from paritylab.claims.engine.running import what_is_proved
from paritylab.claims.errata import ERRATA
from paritylab.learning import LEARNERS
from paritylab.options import PROBLEM, options_of
from paritylab.proofs import files_of, provable
from paritylab.report import words
from paritylab.report.page import in_order

HERE = Path(__file__).parent
ROOT = HERE.parent
Row = dict[str, Any]
#: So many inequalities of a proof are printed.
STEPS_SHOWN = 12
#: So many numbers that are not judged stand in the table itself.
NOTES_SHOWN = 6


def kept_rows() -> dict[str, Row]:
    """The rows of the last default check that was kept, by claim."""
    return {row["id"]: row for row in json.loads((HERE / "rows.json").read_text())}


def claim_page(claim: Claim, row: Row | None) -> str:
    """The verdict in a sentence, the statement, table, figure, then details and how to run it."""
    place = claim.file.resolve().relative_to(ROOT)
    parts = [
        f"# {claim.title}",
        verdict(claim, row),
        f"**The statement** ({claim.paper.upper()}, {claim.source.place}): "
        + annotated.prose(claim.statement),
        *(found(row) if row else []),
        "## Run it",
        f"```sh\nparitylab check {claim.id} --report report\n```",
        f"`{claim.id}` · {PAPERS[claim.paper]}. "
        f"{seconds(claim)} "
        f"The code is in [{place}](../../{place}). {standing(claim)}".strip(),
    ]
    return "\n\n".join([*parts, neighbours_of(claim)]) + "\n"


def seconds(claim: Claim) -> str:
    """How long the claim took at each effort when its verdict was recorded."""
    known = recorded.recorded()[claim.id].seconds
    times = (f"{known[e]:g} s" if e in known else "not measured" for e in Effort)
    return f"Time: {', '.join(f'{t} at {e} effort' for e, t in zip(Effort, times, strict=True))}."


def neighbours_of(claim: Claim) -> str:
    """Links to the claims before and after it, in the order of the paper's text."""
    mine = [{"id": each.id} for each in registry().values() if each.paper == claim.paper]
    ids = [each["id"] for each in in_order(mine)]
    at = ids.index(claim.id)
    links = [f"← [{ids[at - 1]}]({ids[at - 1]}.md)"] if at else []
    links += [f"[{ids[at + 1]}]({ids[at + 1]}.md) →"] if at + 1 < len(ids) else []
    return " · ".join([*links, "[all claims](README.md)"])


def verdict(claim: Claim, row: Row | None) -> str:
    """The recorded verdict, why it is not counted, and what the last default check found."""
    usual = claim.expected_at(Effort.DEFAULT)
    others = {effort: claim.expected_at(effort) for effort in Effort}
    notes = [f"{s} at {e} effort" for e, s in others.items() if s not in (None, usual)]
    notes += [words.note(as_row(claim))] if not claim.counted else []
    said = annotated.badge(row) if row else f"**{usual or 'no verdict recorded yet'}**"
    said += f" ({'; '.join(notes)})" if notes else ""
    return f"{said}: {annotated.prose(row['finding'])}" if row else f"{said}."


def as_row(claim: Claim) -> Row:
    """What the words for a verdict need of a claim that was not run."""
    known = {"counted": claim.counted, "counted_with": claim.counted_with}
    known |= {"reading": claim.source.reading, "file": None}
    return {"status": str(claim.expected_at(Effort.DEFAULT) or "undecided"), **known}


def standing(claim: Claim) -> str:
    """How the source is known and what is planted against the claim."""
    parts = []
    if claim.source.reading:
        parts.append(f"Source: {words.READINGS[claim.source.reading]}.")
    parts += [f"Planted: {case.what}; it must be *{case.turns}*." for case in claim.planted]
    return " ".join(parts)


def word_of(claim: Claim) -> str:
    """The recorded verdict in a word."""
    return str(claim.expected_at(Effort.DEFAULT) or "new")


def planted_page(claims: dict[str, Claim]) -> str:
    """Which case, true or false by construction, turns which verdict."""
    cases = [(claim, case) for claim in claims.values() for case in claim.planted]
    without = [f"`{id}`" for id, c in claims.items() if c.counted and not c.planted]
    return from_template("planted.md", cases=cases, without=without)


def found(row: Row) -> list[str]:
    """Table, figure, correction, proof and counterexample of a row, a paragraph each."""
    parts = []
    lines = words.lines(row)
    judged = [line for line in lines if line.role != "note"]
    notes = [line for line in lines if line.role == "note"]
    few = len(notes) <= NOTES_SHOWN
    parts += [table(judged + notes * few)] if lines else []
    if not few:
        head = f"<summary>{len(notes)} more numbers, not judged</summary>"
        parts.append(f'<details markdown="1">{head}\n\n{table(notes)}\n\n</details>')
    if row["series"].get("kind"):
        caption = row["series"].get("caption") or row["title"]
        parts.append(f"![{caption}](figures/{row['id']}.svg)")
    if row["instead"]:
        parts.append(f"**What does hold:** {annotated.prose(row['instead'])}")
    if row["proof"]:
        link = f"[certificate](../proofs.md#{row['certificate']})"
        parts.append(f"**Proved** ({link}): {row['proof']}.")
    facts = [f"evidence: {row['evidence']}", f"runs or cases: {row['runs']:,}"]
    if row["margin"] is not None:
        facts.append(f"distance to another verdict: {row['margin']:.2g}")
    parts.append(f"*{'; '.join(facts)}; {row['effort']} effort, seed {row['seed']}.*")
    if row["counterexample"]:
        parts.append(f"## A counterexample that runs\n\n```python\n{row['counterexample']}```")
    return parts


def table(lines: Sequence[words.Line]) -> str:
    """Comparisons as a table."""
    cells = [words.COLUMNS, ("---",) * 4, *(line[:4] for line in lines)]
    return "\n".join(f"| {' | '.join(map(in_cell, each))} |" for each in cells)


def figure_file(row: Row) -> str:
    """The row's figure, marked with the numbers it was drawn from."""
    from paritylab.figures import svg

    return f"{svg(row['series'])}\n<!-- {series_mark(row)} -->\n"


def series_mark(row: Row) -> str:
    """A short hash of a row's series; an SVG differs between versions of its library, this not."""
    return hashlib.sha256(json.dumps(row["series"], sort_keys=True).encode()).hexdigest()[:16]


def errata_page(rows: dict[str, Row]) -> str:
    """What would have to change in the papers, each line with the claims that show it."""
    return from_template("errata.md", errata=ERRATA, kept=rows)


def proofs_page(claims: dict[str, Claim]) -> str:
    """What `paritylab prove --json docs/proofs.json` found, a line and its inequalities each."""
    results = json.loads((HERE / "proofs.json").read_text())
    named = {id: claim for claim in claims.values() for id in claim.certificates}
    files = {path for id in provable() for path in files_of(id) if path.suffix == ".py"}
    proofs = sorted(path for path in files if path.parent.name == "statements")
    checker = sorted(files.difference(proofs))
    length = {path.name: len(path.read_text().splitlines()) for path in checker}
    listed = ", ".join(f"`{name}` ({lines} lines)" for name, lines in length.items())
    return from_template(
        "proofs.md",
        results=results,
        named=named,
        checker=listed,
        longest=max(len(path.read_text().splitlines()) for path in proofs),
        proved=what_is_proved,
        shown=STEPS_SHOWN,
    )


def coverage_page(claims: dict[str, Claim], rows: dict[str, Row]) -> str:
    """Every statement of the papers in order, with its claims and verdicts or why it has none."""
    lists = {paper: statements(paper) for paper in covered_papers()}

    def ours(paper: str) -> int:
        return sum(claims[id].paper != paper for id in claims_of(lists[paper]))

    def told(each: Statement) -> str:
        ran = ", ".join(f"[{id}](claims/{id}.md) {word_of(claims[id])}" for id in each.claims)
        return "; ".join(part for part in (ran, each.none, each.note) if part)

    return from_template("coverage.md", rows, lists=lists, ours=ours, told=told)


def from_template(name: str, rows: dict[str, Row] | None = None, **given: Any) -> str:
    """A page of docs/templates from what is given; the words that every page needs come along."""
    known = {"names": PAPERS, "word_of": word_of, "in_cell": in_cell, "prose": annotated.prose}
    return numbered.page(name, rows or {}, **known, **given)


def in_cell(text: str) -> str:
    """Text whose bars do not end a cell of a table."""
    return annotated.prose(text).replace("|", "\\|")


def settings_page() -> str:
    """The table of options: what sweeps, the command line and Python call each setting."""
    ours = sorted(
        name for name, made in LEARNERS.items() if made.__module__.startswith("paritylab.")
    )
    named = {f"{name} ({LEARNERS[name].__name__})": options_of(LEARNERS[name]) for name in ours}
    return from_template("settings.md", tables={"problem": PROBLEM, **named})


def pages() -> dict[Path, str]:
    """Every generated file with its text."""
    claims, rows = registry(), kept_rows()
    made = {
        HERE / "claims" / f"{id}.md": claim_page(claim, rows.get(id))
        for id, claim in claims.items()
    }
    made[recorded.FILE] = recorded.render(recorded.with_words_of(claims.values()))
    made[HERE / "errata.md"] = errata_page(rows)
    made[HERE / "coverage.md"] = coverage_page(claims, rows)
    made[HERE / "proofs.md"] = proofs_page(claims)
    made[HERE / "planted.md"] = planted_page(claims)
    made[HERE / "architecture.md"] = walks.architecture()
    made[HERE / "claims" / "README.md"] = from_template("claims.md", claims=claims.values())
    made[HERE / "api.md"] = reference.index(linked=False)
    made[HERE / "settings.md"] = settings_page()
    made[HERE / "paper.md"] = numbered.page("paper.md", rows)
    made[ROOT / "README.md"] = numbered.page("README.md", rows, "docs/claims")
    made[ROOT / "CITATION.cff"] = citation()
    return made | annotated.pages(HERE / "papers", claims, rows)


def citation() -> str:
    """CITATION.cff with the version of the package, which has it in one place."""
    text = (ROOT / "CITATION.cff").read_text()
    return re.sub(r"^version: .*$", f"version: {__version__}", text, flags=re.MULTILINE)


def write_figures() -> None:
    folder = HERE / "claims" / "figures"
    folder.mkdir(exist_ok=True)
    drawn = {f"{id}.svg": row for id, row in kept_rows().items() if row["series"].get("kind")}
    for old in folder.glob("*.svg"):
        if old.name not in drawn:
            old.unlink()
    for name, row in drawn.items():
        target = folder / name
        if not target.is_file() or series_mark(row) not in target.read_text():
            target.write_text(figure_file(row))


def main() -> None:
    made = pages()
    for folder in ("claims", "papers"):
        (HERE / folder).mkdir(exist_ok=True)
    for old in (HERE / "claims").glob("*.md"):
        if old not in made:
            old.unlink()
    for path, text in made.items():
        path.write_text(text)
    write_figures()
    print(f"{len(made)} pages written")


if __name__ == "__main__":
    main()
