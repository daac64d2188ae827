"""What the page shows of rows: sentences, cards, errata, tabs, provenance."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from paritylab.claims.engine.figures import TABS
from paritylab.claims.engine.rows import tally
from paritylab.claims.engine.sources import PAPERS
from paritylab.claims.engine.verdict import Evidence, Status
from paritylab.claims.errata import ERRATA, Erratum
from paritylab.report import links
from paritylab.report.facts import Fact, Group, groups, prose
from paritylab.report.figures import panels
from paritylab.report.phases import PhaseDiagram

Row = dict[str, Any]

#: Which finding opens a paper's sentence, the statement people came for: the first of these that
#: is there; otherwise what stands highest in `WEIGHT`, refuted before corrected before the rest.
LEADING = {
    "hg1": ("hg1-thm5", "hg1-temperature"),
    "hg2": ("hg2-one-step", "hg2-softmax-needed"),
    "ks": ("ks-thm5", "ks-thm7", "ks-experiments"),
    "lab": ("lab-heads-learn", "lab-code"),
}
#: How much a place in a paper promises; footnotes and the like come after these.
WEIGHT = ("Theorem", "Proposition", "Corollary", "Section", "Lemma")
#: A sign for each verdict, so that colour is not the only difference.
SIGNS = {"holds": "✓", "corrected": "≈", "refuted": "✕", "undecided": "?", "failed": "!"}


class Headline(NamedTuple):
    """A paper, what became of its statements, and the finding that leads."""

    paper: str
    name: str
    address: str
    counts: str
    lead: Row | None


class Card(NamedTuple):
    """A row with what is made of it."""

    row: Row
    pictures: list[Markup]
    key_numbers: list[Fact]
    others: list[Group]
    command: str
    places: dict[str, Any]


class Swept(NamedTuple):
    """A sweep's diagram with its pictures."""

    phase: PhaseDiagram
    pictures: list[Markup]


class Tab(NamedTuple):
    """A part of the page beside the claims."""

    key: str
    title: str
    cards: list[Card]
    swept: list[Swept]


class Correction(NamedTuple):
    """An erratum with the rows that show it."""

    erratum: Erratum
    rows: list[Row]


def headlines(rows: list[Row]) -> list[Headline]:
    """A sentence per paper, in the order of the papers."""
    made, order = [], list(PAPERS)
    papers = dict.fromkeys(row["paper"] for row in rows)
    for paper in sorted(papers, key=lambda p: order.index(p) if p in order else len(order)):
        mine = [row for row in rows if row["paper"] == paper]
        name = PAPERS.get(paper, "")
        made.append(
            Headline(paper, name, links.paper_address(paper), f"{tally(mine)}.", _lead(paper, mine))
        )
    return made


def _lead(paper: str, rows: list[Row]) -> Row | None:
    by_id = {row["id"]: row for row in rows}
    known = [by_id[id] for id in LEADING.get(paper, ()) if id in by_id]
    statuses = ("refuted", "corrected", "holds")
    ranked = sorted(
        (row for row in rows if row["status"] in statuses),
        key=lambda row: (_weight(row["source"] or ""), statuses.index(row["status"])),
    )
    return next(iter([row for row in known if row["finding"]] + ranked), None)


def _weight(place: str) -> int:
    named = [rank for rank, word in enumerate(WEIGHT) if place.startswith(word)]
    return len(WEIGHT) if "footnote" in place.lower() or not named else named[0]


def first_sentence(text: str) -> str:
    """The first sentence of a finding.

    >>> first_sentence("Off by 0.16 at n = 8. The rest stands.")
    'Off by 0.16 at n = 8.'
    """
    first = re.split(r"(?<=[^\s.]{2})\.\s+(?=[A-Z])|(?<=[0-9])\.\s+(?=[A-Z])", prose(text))[0]
    return first if first.endswith((".", "!", "?")) else f"{first}."


def cards(rows: list[Row], folder: Path) -> list[Card]:
    """A card for every row."""
    return [_card(row, folder) for row in rows]


def _card(row: Row, folder: Path) -> Card:
    key_numbers, others = groups(row)
    command = f"paritylab check {shlex.quote(row['id'])}"
    if row["effort"]:
        command += f" --effort {shlex.quote(str(row['effort']))}"
    if row["seed"] not in (None, 0):
        command += f" --seed {shlex.quote(str(row['seed']))}"
    places = {
        "paper": links.Link(row["source"] or row["paper"], links.paper_address(row["paper"])),
        "page": links.claim_page(row["id"], folder),
        "code": links.code(row["id"], folder),
    }
    command = f"{command} --report report"
    return Card(row, pictures(row), key_numbers, others, command, places)


def pictures(row: Row) -> list[Markup]:
    """The row's figure; one that cannot be drawn is refused with the row's name."""
    try:
        return [Markup(panel) for panel in panels(row["series"])]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ValueError(
            f"the series of row {row['id']!r} cannot be drawn: {type(error).__name__}: {error}"
        ) from None


def corrections(rows: list[Row]) -> list[tuple[str, str, list[Correction]]]:
    """Errata by paper, of which at least one claim is among the rows."""
    by_id = {row["id"]: row for row in rows}
    made = []
    for paper, name in PAPERS.items():
        shown = [
            Correction(each, [by_id[id] for id in each.claims if id in by_id])
            for each in ERRATA
            if each.paper == paper and any(id in by_id for id in each.claims)
        ]
        if shown:
            made.append((paper, name, shown))
    return made


def tabs(made: list[Card], phases: Sequence[PhaseDiagram] = ()) -> list[Tab]:
    """Further tabs with their cards and diagrams; only those that have some."""
    drawn = [Swept(each, pictures({"id": each.title, "series": each.series})) for each in phases]
    found = []
    for key, title in TABS.items():
        mine = [card for card in made if card.row["series"].get("tab") == key]
        swept = drawn if key == "phases" else []
        if mine or swept:
            found.append(Tab(key, title, mine, swept))
    return found


def choices(rows: list[Row]) -> dict[str, list[str]]:
    """What the table can be filtered by, in a fixed order."""
    keys = ("paper", "status", "evidence")
    found = {key: list(dict.fromkeys(row[key] for row in rows if row[key])) for key in keys}
    for key, known in (("status", [*Status]), ("evidence", [*Evidence])):
        ranks = {str(word): rank for rank, word in enumerate(known)}
        found[key] = sorted(found[key], key=lambda word: ranks.get(word, len(ranks)))
    return found


def legend(statuses: list[str]) -> list[tuple[str, str]]:
    """What each verdict means; failures are explained where there are some."""
    shown = [status for status in Status if status != Status.FAILED or status in statuses]
    return [(s.value, s.sentence.removeprefix(f"{s.value} ")) for s in shown]


def provenance(rows: list[Row]) -> list[tuple[str, str]]:
    """Date, commit, effort, device, versions and total time, each with its name."""
    seen: dict[str, dict[str, None]] = {}
    for row in rows:
        facts = {**row["versions"], "effort": row["effort"], "device": row["device"]}
        for name, value in facts.items():
            if value not in (None, ""):
                seen.setdefault(str(name), {})[str(value)] = None
    first = ("date", "commit", "effort", "device")
    order = [n for n in first if n in seen] + [n for n in seen if n not in first]
    made = [(name, ", ".join(seen[name])) for name in order]
    seconds = [row["seconds"] for row in rows if isinstance(row["seconds"], int | float)]
    if seconds:
        made.append(("total time of the claims", duration(sum(seconds))))
    return made


def duration(seconds: float) -> str:
    """Seconds below two minutes, then minutes, then hours.

    >>> [duration(s) for s in (0.31, 99, 600, 9000)]
    ['0.3 s', '99 s', '10 min', '2.5 h']
    """
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
