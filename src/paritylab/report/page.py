"""The self-contained HTML page: everything it shows comes from rows."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from paritylab.claims.registry import PAPERS
from paritylab.claims.verdict import Status
from paritylab.files import write_atomically
from paritylab.report.figures import save_figure, svg
from paritylab.report.glance import glance

#: Claims whose findings open the page.
HEADLINES = (
    "hg1-thm5",
    "hg1-code",
    "hg2-one-step",
    "hg2-softmax-needed",
    "ks-thm5",
    "ks-thm5-samples",
    "ks-thm7",
    "ks-thm2",
    "lab-heads-learn",
    "lab-xor-balanced",
)

#: Keys without which a row cannot be shown.
_NEEDED = ("id", "paper", "title", "statement", "status", "expected", "evidence", "measured")


def read_rows(path: str | Path) -> list[dict[str, Any]]:
    """Verdict rows from a JSON file, checked for what the page needs."""
    path = Path(path)
    try:
        rows = json.loads(path.read_text())
    except FileNotFoundError:
        raise ValueError(f"no file {path}; make one with: paritylab check --json {path}") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, expected a JSON file of verdict rows") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not readable JSON: {error}") from None
    if not isinstance(rows, list):
        raise ValueError(f"{path} must hold a list of rows, got {type(rows).__name__}")
    for index, row in enumerate(rows):
        missing = [key for key in _NEEDED if not isinstance(row, dict) or key not in row]
        if missing:
            raise ValueError(f"{path}: row {index} lacks {', '.join(missing)}")
        if row["status"] not in list(Status):
            raise ValueError(f"{path}: row {index} has the unknown status {row['status']!r}")
    return rows


def write_report(rows: list[dict[str, Any]], folder: str | Path) -> Path:
    """Write `index.html` into the folder and return its path; an older page is replaced."""
    folder = Path(folder)
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
        efforts=list(dict.fromkeys(row["effort"] for row in rows if row.get("effort"))),
        versions=list(
            dict.fromkeys(number(row["versions"]) for row in rows if row.get("versions"))
        ),
        headlines=[row for row in rows if row["id"] in HEADLINES],
        glance=Markup(svg(overview) or ""),
        glance_caption=overview.get("caption", ""),
        sentences={status.value: status.sentence for status in Status},
        figures={row["id"]: Markup(svg(row.get("series") or {}) or "") for row in rows},
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write the report into {folder}: {error.strerror}") from None
    return write_atomically(folder / "index.html", text)


def write_figures(rows: list[dict[str, Any]], folder: str | Path) -> list[Path]:
    """Every claim's figure and the overview as SVG and PDF files named after the claim."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write figures into {folder}: {error.strerror}") from None
    series = {row["id"]: row.get("series") or {} for row in rows} | {"glance": glance(rows)}
    written = []
    for name, each in series.items():
        if each.get("kind"):
            for kind in ("svg", "pdf"):
                save_figure(each, folder / f"{name}.{kind}")
                written.append(folder / f"{name}.{kind}")
    return written


def number(value: Any) -> str:
    """A value for people: four significant digits, lists and dicts spelled out."""
    if isinstance(value, dict):
        return "; ".join(f"{key}: {number(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(number(entry) for entry in value)
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.4g}"
    return "–" if value is None else str(value)


def _counts(rows: list[dict[str, Any]]) -> list[tuple[str, dict[str, int]]]:
    papers = dict.fromkeys(row["paper"] for row in rows)
    return [(p, Counter(row["status"] for row in rows if row["paper"] == p)) for p in papers]
