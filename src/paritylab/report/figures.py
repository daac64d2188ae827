"""Figures drawn from a row's `series`: SVG for pages and files, PDF and PNG for papers.

The builders of claims.figures make series; this is what they make. A series is {"kind": "lines" |
"bars" | "histogram" | "heatmaps", "x": {"label", "scale"}, "y": {"label", "scale"}, "marks":
[{"axis", "at", "label"}], "caption"} with, for lines, "lines": [{"label", "x", "y", "low", "high",
"style"}]; for bars, "bars": {"names", "values", "low", "high"}; for a histogram, "values"; for
heatmaps, "panels": [{"title", "values", "marks", "points", "x_names", "y_names", "lines"}], rows of
numbers between 0 and 1 with marked columns and places and lines over them. The kind "side by side"
holds whole series in "parts". Looks are in report.drawing.
"""

from pathlib import Path
from typing import Any

from paritylab.files import write_atomically
from paritylab.report.drawing import CHARTS, Canvas, describe, draw

#: Panels in a row of one file, and the pixels between them.
ACROSS, GAP = 2, 28.0


def has_figure(series: dict[str, Any]) -> bool:
    """Whether a series is of a kind that is drawn."""
    return series.get("kind") in {*CHARTS, "side by side"}


def panels(series: dict[str, Any]) -> list[str]:
    """An SVG element for each panel, for a page that has the colours; none without a figure."""
    if not has_figure(series):
        return []
    parts = _parts(series)
    return [canvas.svg(describe(part)) for part in parts for canvas in draw(part)]


def svg(series: dict[str, Any]) -> str | None:
    """The whole figure as one SVG element that stands alone, or None if there is no figure."""
    if not has_figure(series):
        return None
    return sheet(series).svg(describe(series), own_colours=True)


def save_figure(series: dict[str, Any], path: Path) -> None:
    """Write the figure of a series as the file type its name ends in (svg, pdf or png)."""
    kind = figure_format(path)
    if kind == "svg":
        write_atomically(path, svg(series) or "")
    else:
        write_atomically(path, sheet(series).painted(kind))


def figure_format(path: Path) -> str:
    """The file type a figure's name asks for; commands check it before they start working."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("svg", "pdf", "png"):
        raise ValueError(f"a figure file ends in .svg, .pdf or .png, got {path.name!r}")
    return kind


def sheet(series: dict[str, Any]) -> Canvas:
    """Every panel of a figure on one canvas, two in a row, so that words stay readable."""
    drawn, margin = draw(series), 10.0
    rows = [drawn[at : at + ACROSS] for at in range(0, len(drawn), ACROSS)]
    widths = [sum(canvas.width + GAP for canvas in row) - GAP for row in rows]
    whole = Canvas(max(widths) + 2 * margin, margin)
    for row in rows:
        at = margin
        for canvas in row:
            whole.put(canvas, at, whole.height)
            at += canvas.width + GAP
        whole.height += max(canvas.height for canvas in row) + margin
    return whole


def _parts(series: dict[str, Any]) -> list[dict[str, Any]]:
    """Series of one panel each."""
    if series["kind"] == "side by side":
        return [each for part in series["parts"] for each in _parts(part)]
    if series["kind"] == "heatmaps":
        return [{**series, "panels": [panel]} for panel in series["panels"]]
    return [series]
