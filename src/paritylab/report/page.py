"""The self-contained HTML page: everything it shows comes from rows."""

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from paritylab.checks import check_kind
from paritylab.claims.engine.rows import checked_row, verdict_note, verdict_word
from paritylab.claims.engine.sources import PAPERS
from paritylab.claims.engine.verdict import Status
from paritylab.files import write_atomically
from paritylab.report import facts, view
from paritylab.report.drawing.style import pens_css, variables
from paritylab.report.figures import has_figure, save_figure
from paritylab.report.glance import glance
from paritylab.report.phases import PhaseDiagram
from paritylab.untrusted import printable, read_json

Row = dict[str, Any]
_TEMPLATES = Path(__file__).parent / "templates"


def read_rows(path: str | Path) -> list[Row]:
    """Verdict rows from a JSON file, checked for what the page needs."""
    path = Path(path)
    name = printable(str(path))
    try:
        rows = read_json(path)
    except ValueError as error:
        if not path.exists():
            make = f"make one with: paritylab check --json {name}"
            raise ValueError(f"no file {name}; {make}") from None
        raise ValueError(f"{name} is not readable JSON of verdict rows: {error}") from None
    if not isinstance(rows, list):
        raise ValueError(f"{name} must hold a list of rows, got {type(rows).__name__}")
    try:
        return [shown_row(row, f"row {index}") for index, row in enumerate(rows)]
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def shown_row(row: Any, name: str) -> Row:
    """A row with all that the page asks for."""
    full = checked_row(row, name)
    return {"found": None, **full, "word": verdict_word(full), "note": verdict_note(full)}


def write_report(rows: list[Row], folder: str | Path, phases: Sequence[PhaseDiagram] = ()) -> Path:
    """Write `index.html` into the folder and return its path; an older page is replaced.

    phases: diagrams of sweeps, for a tab of their own.
    """
    folder = Path(folder)
    for phase in phases:
        check_kind("phases", phase, PhaseDiagram, "phase diagrams")
    rows = [shown_row(row, f"row {index}") for index, row in enumerate(rows)]
    text = _render(rows, folder, phases)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"cannot write the report into {printable(str(folder))}: {error.strerror}"
        ) from None
    return write_atomically(folder / "index.html", text)


def _render(rows: list[Row], folder: Path, phases: Sequence[PhaseDiagram]) -> str:
    environment = Environment(
        loader=PackageLoader("paritylab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": facts.number,
        "data": facts.data,
        "prose": facts.prose,
        "words": facts.words,
        "full_name": facts.full_name,
        "sentence": view.first_sentence,
        "duration": view.duration,
        "tag": lambda paper: str(paper).upper(),
    }
    style, script = _style(), (_TEMPLATES / "page.js").read_text(encoding="utf-8")
    overview = glance(rows)
    cards = view.cards(rows, folder)
    text = environment.get_template("page.html.j2").render(
        style=Markup(style),
        script=Markup(script),
        hashes={"style": _hash(style), "script": _hash(script)},
        cards=cards,
        headlines=view.headlines(rows),
        errata=view.corrections(rows),
        tabs=view.tabs(cards, phases),
        choices=view.choices(rows),
        provenance=view.provenance(rows),
        overview=view.pictures({"id": "overview", "series": overview}) if overview else [],
        overview_caption=overview.get("caption", ""),
        legend=view.legend([row["status"] for row in rows]),
        sentences={status.value: status.sentence for status in Status},
        signs=view.SIGNS,
        names={row["paper"]: PAPERS.get(row["paper"], "") for row in rows},
    )
    # JSON may hold halves of characters, which no file can.
    return text.encode("utf-8", "replace").decode("utf-8")


def _style() -> str:
    """The page's CSS with the colours and pens of the figures."""
    themes = (
        f":root{{{variables('light')}}}\n@media (prefers-color-scheme:dark){{:root{{"
        f"{variables('dark')}}}}}\n@media print{{:root{{{variables('light')}}}}}\n"
    )
    return themes + pens_css() + "\n" + (_TEMPLATES / "page.css").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the page's security policy calls its one script and its one style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def write_figures(rows: list[Row], folder: str | Path) -> list[Path]:
    """Every claim's figure and the overview as SVG and PDF files named after the claim."""
    folder = Path(folder)
    rows = [shown_row(row, f"row {index}") for index, row in enumerate(rows)]
    series = {row["id"]: row.get("series") or {} for row in rows} | {"glance": glance(rows)}
    wanted = {_file_name(name): each for name, each in series.items() if has_figure(each)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write figures into {folder}: {error.strerror}") from None
    written = []
    for name, each in wanted.items():
        for kind in ("svg", "pdf"):
            save_figure(each, folder / f"{name}.{kind}")
            written.append(folder / f"{name}.{kind}")
    return written


def _file_name(id: str) -> str:
    """The id, if it names a file inside a folder and nothing else on any system."""
    if not re.fullmatch(r"[^/\\:\0]+", id) or id.strip(". ") != id:
        raise ValueError(f"the row id {id!r} cannot be the name of a figure file")
    return id
