"""The self-contained HTML page: everything it shows comes from rows."""

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from paritylab.claims.sources import PAPERS
from paritylab.claims.verdict import Status
from paritylab.files import write_atomically
from paritylab.report.figures import save_figure, svg
from paritylab.report.glance import glance

Row = dict[str, Any]

#: Claims whose findings open the page.
HEADLINES = (
    "hg1-thm5",
    "lab-code",
    "hg2-one-step",
    "hg2-softmax-needed",
    "ks-thm5",
    "lab-chain-samples",
    "ks-thm7",
    "ks-thm2",
    "lab-heads-learn",
    "lab-xor-balanced",
)

#: Keys without which a row cannot be shown, with their types.
_NEEDED: dict[str, type] = {"id": str, "paper": str, "title": str, "statement": str, "status": str}
#: What a row may lack, and what is shown instead.
_OPTIONAL: dict[str, Any] = {
    **dict.fromkeys(("source", "expected", "instead", "evidence", "margin", "interval", "runs")),
    **dict.fromkeys(("seed", "counterexample", "seconds", "effort", "device")),
    "finding": "",
    "measured": {},
    "predicted": {},
    "settings": {},
    "series": {},
    "versions": {},
}


def read_rows(path: str | Path) -> list[Row]:
    """Verdict rows from a JSON file, checked for what the page needs."""
    path = Path(path)
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"no file {path}; make one with: paritylab check --json {path}") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, expected a JSON file of verdict rows") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not readable JSON: {error}") from None
    if not isinstance(rows, list):
        raise ValueError(f"{path} must hold a list of rows, got {type(rows).__name__}")
    try:
        return [_complete(row, f"row {index}") for index, row in enumerate(rows)]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _complete(row: Any, name: str) -> Row:
    """The row with every key the page asks for; a row that cannot be shown is refused by name."""
    if not isinstance(row, dict):
        raise ValueError(f"{name} must be an object, got {type(row).__name__}")
    name = f"{name} ({row['id']})" if "id" in row else name
    missing = [key for key in _NEEDED if row.get(key) is None]
    if missing:
        raise ValueError(f"{name} lacks {', '.join(missing)}")
    kept = {key: value for key, value in row.items() if value is not None}
    full = {**_OPTIONAL, **kept}
    for key in (*_NEEDED, *_OPTIONAL):
        kind = _NEEDED.get(key) or type(_OPTIONAL[key])
        if kind in (str, dict) and not isinstance(full[key], kind):
            raise ValueError(f"{name}: {key} must be a {kind.__name__}, got {full[key]!r}")
    if full["status"] not in list(Status):
        raise ValueError(f"{name} has the unknown status {full['status']!r}")
    # Rows of earlier versions keep both sentences among the measured numbers.
    full["measured"] = dict(full["measured"])
    for key in ("finding", "instead"):
        full[key] = full["measured"].pop(key, None) or full[key]
    return full


def _picture(row: Row) -> Markup:
    """The row's figure; one that cannot be drawn is refused with the row's name."""
    try:
        return Markup(svg(row["series"]) or "")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"the series of row {row['id']!r} cannot be drawn: {type(error).__name__}: {error}"
        ) from None


def write_report(rows: list[Row], folder: str | Path) -> Path:
    """Write `index.html` into the folder and return its path; an older page is replaced."""
    folder = Path(folder)
    rows = [_complete(row, f"row {index}") for index, row in enumerate(rows)]
    environment = Environment(
        loader=PackageLoader("paritylab.report"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["number"] = number
    environment.filters["paper"] = str.upper
    environment.filters["words"] = lambda key: str(key).replace("_", " ")
    overview = glance(rows)
    text = environment.get_template("page.html.j2").render(
        rows=rows,
        counts=_counts(rows),
        papers=[(paper, PAPERS[paper]) for paper, _ in _counts(rows) if paper in PAPERS],
        efforts=list(dict.fromkeys(row["effort"] for row in rows if row["effort"])),
        versions=list(dict.fromkeys(number(row["versions"]) for row in rows if row["versions"])),
        headlines=[row for row in rows if row["id"] in HEADLINES],
        glance=Markup(svg(overview) or ""),
        glance_caption=overview.get("caption", ""),
        sentences={status.value: status.sentence for status in Status},
        statuses=[s.value for s in Status if s != "failed" or any(r["status"] == s for r in rows)],
        figures={row["id"]: _picture(row) for row in rows},
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write the report into {folder}: {error.strerror}") from None
    return write_atomically(folder / "index.html", text)


def write_figures(rows: list[Row], folder: str | Path) -> list[Path]:
    """Every claim's figure and the overview as SVG and PDF files named after the claim."""
    folder = Path(folder)
    series = {row["id"]: row.get("series") or {} for row in rows} | {"glance": glance(rows)}
    wanted = {_file_name(name): each for name, each in series.items() if each.get("kind")}
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


def number(value: Any) -> str:
    """A value for people: four significant digits, lists and dicts spelled out."""
    if isinstance(value, dict):
        return "; ".join(f"{key}: {number(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(number(entry) for entry in value)
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.4g}"
    return "–" if value is None else str(value)


def _counts(rows: list[Row]) -> list[tuple[str, dict[str, int]]]:
    papers = dict.fromkeys(row["paper"] for row in rows)
    return [(p, Counter(row["status"] for row in rows if row["paper"] == p)) for p in papers]
