"""The self-contained HTML page: everything it shows comes from rows."""

import base64
import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from paritylab._support.colours import themes_css
from paritylab._support.output_files import write_atomically
from paritylab._support.safe_io import printable, read_json
from paritylab.claims.coverage import claims_of, covered_papers, statements
from paritylab.claims.engine.verdict import PAPERS, Evidence, Status, checked_row
from paritylab.claims.errata import ERRATA
from paritylab.figures import panels
from paritylab.report import words
from paritylab.report.findings import findings
from paritylab.report.formulas import typeset

if TYPE_CHECKING:
    from paritylab.report.phases import PhaseDiagram

Row = dict[str, Any]
_TEMPLATES = Path(__file__).parent / "templates"
#: A sign for each verdict, so that colour is not the only difference.
SIGNS = {"holds": "✓", "corrected": "≈", "refuted": "✕", "undecided": "?", "failed": "!"}


def read_rows(path: str | Path) -> list[Row]:
    """Verdict rows from a JSON file, checked for what the page needs."""
    path, name = Path(path), printable(str(path))
    if not path.exists():
        raise ValueError(f"no file {name}; make one with: paritylab check --json {name}")
    try:
        rows = read_json(path)
        if not isinstance(rows, list):
            raise ValueError(f"it must hold a list of rows, got {type(rows).__name__}")
        return shown_rows(rows)
    except ValueError as error:
        raise ValueError(f"{name} cannot be shown: {error}") from None


def shown_rows(rows: Iterable[Any]) -> list[Row]:
    """Rows with all that is shown of them; one that cannot be shown is refused by its number."""
    return [_shown(row, f"row {index}") for index, row in enumerate(rows)]


@contextmanager
def _named(refusal: str) -> Iterator[None]:
    """Whatever a row from elsewhere breaks, as one line that begins with these words."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ValueError(f"{refusal}: {type(error).__name__}: {error}") from None


def _shown(row: Any, name: str) -> Row:
    full = checked_row(row, name)
    with _named(f"{name} ({row['id']}): its comparisons cannot be read"):
        lines = words.lines(full)
    return {**full, "lines": lines, "note": words.note(full)}


def write_report(
    rows: list[Row], folder: str | Path, phases: "Sequence[PhaseDiagram]" = ()
) -> Path:
    """Write `index.html` into the folder and return its path; an older page is replaced.

    phases: diagrams of sweeps, for a tab of their own.
    """
    text = _render(shown_rows(rows), phases)
    Path(folder).mkdir(parents=True, exist_ok=True)
    return write_atomically(Path(folder) / "index.html", text)


def filled(folder: Path, template: str, script: str, style: str, **given: Any) -> str:
    """A template as one page, whose policy lets nothing load or run but this script and style."""
    hashes = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    )
    policy = (
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; "
        "base-uri 'none'; form-action 'none'"
    ).format(*hashes)
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    named = ("number", "prose", "duration", "tally")
    environment.filters |= {name: getattr(words, name) for name in named}
    environment.filters |= {"tag": lambda paper: str(paper).upper(), "data": _data}
    environment.filters["math"] = lambda text: typeset(words.prose(text))
    parts = {"policy": policy, "script": script, "style": style}
    made = {name: Markup(text) for name, text in parts.items()}
    text = environment.get_template(template).render(**made, **given)
    # JSON may hold halves of characters, which no file can.
    return text.encode("utf-8", "replace").decode("utf-8")


def _render(rows: list[Row], phases: "Sequence[PhaseDiagram]") -> str:
    ids = {row["id"] for row in rows}
    used = {key: {row[key] for row in rows} for key in ("paper", "status", "evidence")}
    known = [each for each in PAPERS if each in used["paper"]]
    papers = [*known, *sorted(used["paper"] - {*known})]
    return filled(
        _TEMPLATES,
        "page.html.j2",
        script=(_TEMPLATES / "page.js").read_text(encoding="utf-8"),
        style=themes_css() + (_TEMPLATES / "page.css").read_text(encoding="utf-8"),
        cards=[{**row, "pictures": _pictures(row), "command": _command(row)} for row in rows],
        findings=findings(rows),
        by_id={row["id"]: row for row in rows},
        papers=papers,
        in_order=in_order,
        names=PAPERS,
        address=paper_address,
        code=code_places(),
        errata=[each for each in ERRATA if any(id in ids for id in each.claims)],
        swept=[{"phase": each, "pictures": _pictures(each._asdict())} for each in phases],
        choices={
            "paper": papers,
            "status": [each.value for each in Status if each in used["status"]],
            "evidence": [each.value for each in Evidence if each in used["evidence"]],
        },
        provenance=_provenance(rows),
        statuses=list(Status),
        signs=SIGNS,
        columns=words.COLUMNS,
    )


@cache
def _places() -> dict[str, int]:
    """The place of every statement that is run, in the order of its paper's text."""
    listed = (claims_of(statements(paper)) for paper in reversed(covered_papers()))
    return {id: at for ids in listed for at, id in enumerate(ids)}


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Rows of one paper in the order of its text; those that have no place there come last."""
    return sorted(rows, key=lambda row: _places().get(row["id"], 10**6))


def _data(value: Any, shown: str = "") -> Markup:
    """A number as people read it, in an element that also holds the row's own value."""
    shown = shown or words.number(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Markup("{}").format(shown)
    return Markup('<data value="{}">{}</data>').format(repr(value), shown)


def _pictures(row: Row) -> list[Markup]:
    """The row's figure; one that cannot be drawn is refused with the row's name."""
    with _named(f"the series of row {row.get('id', row['title'])!r} cannot be drawn"):
        return [Markup(panel) for panel in panels(row["series"])]


def _command(row: Row) -> str:
    """What runs the claim again."""
    effort = ["--effort", str(row["effort"])] if row["effort"] else []
    seed = ["--seed", str(row["seed"])] if row["seed"] not in (None, 0) else []
    return shlex.join(["paritylab", "check", row["id"], *effort, *seed, "--report", "report"])


def paper_address(paper: str) -> str:
    """The paper on arXiv, in the version that was read; "" for what is not there.

    >>> paper_address("hg1")
    'https://arxiv.org/abs/2502.07553v1'
    """
    found = re.search(r"arXiv (\d{4}\.\d{5})(?: (v\d+))?", PAPERS.get(paper, ""))
    return f"https://arxiv.org/abs/{found[1]}{found[2] or ''}" if found else ""


@cache
def code_places() -> dict[str, str]:
    """File and line of every claim of the lab, found in the text of its files."""
    package, places = Path(__file__).resolve().parents[1], {}
    for file in sorted((package / "claims").glob("*/*.py")):
        text = file.read_text(encoding="utf-8")
        for found in re.finditer(r'^@claim\(\s*"([\w-]+)"', text, re.MULTILINE):
            line = text.count("\n", 0, found.start()) + 1
            places[found[1]] = f"{file.relative_to(package.parent).as_posix()}, line {line}"
    return places


def _provenance(rows: list[Row]) -> list[tuple[str, str]]:
    """Date, commit, effort, device, versions and total time, each with its name."""
    seen: dict[str, dict[str, None]] = {"date": {}, "commit": {}, "effort": {}, "device": {}}
    for row in rows:
        facts = {**row["versions"], "effort": row["effort"], "device": row["device"]}
        for name, value in facts.items():
            if value not in (None, ""):
                seen.setdefault(str(name), {})[str(value)] = None
    made = [(name, ", ".join(values)) for name, values in seen.items() if values]
    seconds = [row["seconds"] for row in rows if isinstance(row["seconds"], int | float)]
    if seconds:
        made.append(("total time of the claims", words.duration(sum(seconds))))
    return made
