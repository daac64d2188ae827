"""Pages whose numbers come from rows: README and the short paper.

Their words are in docs/templates. A number gets into them by a key only: a row and the label of one
of its comparisons, a row's sentence, a certificate, or a run that is kept as data in docs/runs. A
sentence with a measured number typed by hand is refused by `typed_numbers`.
"""

import re
from pathlib import Path
from typing import Any

import jinja2

from paritylab.claims import Status
from paritylab.report import words
from paritylab.report.findings import HEADLINES, finding_of

HERE = Path(__file__).parent
TEMPLATES = HERE / "templates"
Row = dict[str, Any]


class Numbers:
    """What a template may ask for. folder: where claim pages are, as seen from the page."""

    def __init__(self, rows: dict[str, Row], folder: str) -> None:
        self._rows, self._folder = rows, folder

    def value(self, id: str, label: str) -> str:
        """The measured value of the one comparison whose label contains these words."""
        found = [line for line in words.lines(self._rows[id]) if label in line.asked]
        if len(found) != 1:
            raise ValueError(f"{id} has {len(found)} comparisons with {label!r} in their label")
        return found[0].measured

    def finding(self, id: str, status: str) -> str:
        """The sentence of a row, for words that were written for this verdict."""
        row = self._rows[id]
        if row["status"] != status:
            raise ValueError(f"the words on {id} are for {status}, its row is {row['status']}")
        return str(row["finding"])

    def proof(self, id: str) -> str:
        """What the certificate of a claim shows."""
        if not self._rows[id]["proof"]:
            raise ValueError(f"{id} has no proof in its row")
        return str(self._rows[id]["proof"])

    def headlines(self) -> str:
        """The findings that the report opens with, each with its claim."""
        lines = []
        for headline in HEADLINES:
            found = finding_of(headline, self._rows[headline.id])
            place = f"([{found.id}]({self._folder}/{found.id}.md), {found.status})"
            lines.append(f"- **{found.title}** {found.text} {place}")
        return "\n".join(lines)

    def rows(self, *papers: str) -> list[Row]:
        """The rows of these papers, in the order of the list of claims."""
        return [row for row in self._rows.values() if row["paper"] in papers]

    def tally(self, *papers: str) -> str:
        """What became of the claims of these papers, as a table with a line for each."""
        verdicts = (Status.HOLDS, Status.CORRECTED, Status.REFUTED, Status.UNDECIDED)
        head = ("paper", "tested", *map(str, verdicts), "not counted")
        lines = [head, ("---",) * len(head)]
        for paper in papers:
            rows = self.rows(paper)
            counted = [row["status"] for row in rows if row["counted"]]
            others = words.tally(row for row in rows if not row["counted"])
            cells = (paper.upper(), len(counted), *map(counted.count, verdicts))
            lines.append((*map(str, cells), others.replace(", not counted", "")))
        empty = {at for at, name in enumerate(head) if {line[at] for line in lines[2:]} == {"0"}}
        kept = [[cell for at, cell in enumerate(line) if at not in empty] for line in lines]
        return "\n".join(f"| {' | '.join(line)} |" for line in kept)

    def tested(self, paper: str) -> str:
        """What became of the claims of one paper, in a line."""
        return f"{words.tally(self.rows(paper))}."

    def note(self, row: Row) -> str:
        """Why a row is not counted, after a comma; nothing if it is."""
        text = words.note(row)
        return f", {text}" if text else ""

    def run(self, name: str) -> str:
        """A run that is kept as data."""
        return (HERE / "runs" / name).read_text(encoding="utf-8").strip()


def page(name: str, rows: dict[str, Row], folder: str = "claims", **given: Any) -> str:
    """A page from its template; given: what else it may ask for."""
    numbers = Numbers(rows, folder)
    asked = {each: getattr(numbers, each) for each in dir(numbers) if not each.startswith("_")}
    asked |= given
    made = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    filled = made.from_string(text).render(**asked)
    return re.sub(r"\n{3,}", "\n\n", filled).rstrip() + "\n"


#: Measured numbers: shares, counts of runs, decimals, powers of ten.
_MEASURED = re.compile(
    r"\d[\d.,]* ?%|\b\d[\d,]* of (?:all )?\d[\d,]*|(?<![\w.])\d+\.\d+(?![\w.])|\d+·10|\b\d+e-?\d+"
)
#: Numbers that name something: papers, versions.
_NAMES = re.compile(r"(arXiv|Python ≥?|version|release) ?[\d.]+")


def typed_numbers(text: str) -> list[str]:
    """Sentences of a template that hold a measured number typed by hand.

    >>> typed_numbers("It works in 63 % of runs. At n = 8 it is {{ value('x', 'y') }}.")
    ['It works in 63 % of runs.']
    """
    plain = re.sub(
        r"```.*?```|`[^`]*`|\{[{%].*?[%}]\}|\]\([^)]*\)|<!--.*?-->", " ", text, flags=re.S
    )
    plain = _NAMES.sub(" ", plain)
    sentences = re.split(r"(?<=[.!?]) +|\n", plain)
    return [each.strip() for each in sentences if _MEASURED.search(each)]
