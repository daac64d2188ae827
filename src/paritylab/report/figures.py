"""Figures from a row's `series`: SVG for pages and files, PDF and PNG for papers.

The builders of claims.figures make series; this is what they make. A series is {"kind": "lines" |
"bars" | "histogram" | "heatmaps", "x": {"label", "scale"}, "y": {"label", "scale"}, "marks":
[{"axis", "at", "label"}], "caption"} with, for lines, "lines": [{"label", "x", "y", "low", "high",
"style"}]; for bars, "bars": {"names", "values", "low", "high"}; for a histogram, "values"; for
heatmaps, "panels": [{"title", "values", "marks", "points", "x_names", "y_names", "lines"}], rows of
numbers between 0 and 1 with marked columns and places and lines over them. The kind "side by side"
holds whole series in "parts".
"""

import csv
import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from paritylab.files import write_atomically
from paritylab.report.style import theme, themes_css
from paritylab.report.words import short

Series = dict[str, Any]
KINDS = ("lines", "bars", "histogram", "heatmaps", "side by side")
#: So many lines are described one by one; what a missing number is called.
MANY, NONE = 8, "no value"
_VARIABLES = {colour: f"var(--{name})" for name, colour in theme("light").items()}


def has_figure(series: Series) -> bool:
    """Whether a series is of a kind that is drawn."""
    return series.get("kind") in KINDS


def panels(series: Series) -> list[str]:
    """An SVG element for each panel, for a page that has the colours; none without a figure."""
    if not has_figure(series):
        return []
    from paritylab.report.charts import plans

    parts, made = _parts(series), []
    for plan, part in zip(plans(_printable(series)), parts, strict=True):
        made.append(_element([plan], describe(part), alone=False))
    return made


def svg(series: Series) -> str | None:
    """The whole figure as one SVG file, light and dark, or None if there is no figure."""
    if not has_figure(series):
        return None
    from paritylab.report.charts import plans

    return _element(plans(_printable(series)), describe(series), alone=True)


def save_figure(series: Series, path: Path) -> None:
    """Write the figure of a series as the file type its name ends in (svg, pdf or png)."""
    kind = figure_format(path)
    if kind == "svg":
        write_atomically(path, svg(series) or "")
        return
    from paritylab.report.charts import plans
    from paritylab.report.frame import draw

    write_atomically(path, _saved(draw(plans(_printable(series))), kind, facecolor="white"))


def figure_format(path: Path) -> str:
    """The file type a figure's name asks for; commands check it before they start working."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("svg", "pdf", "png"):
        raise ValueError(f"a figure file ends in .svg, .pdf or .png, got {path.name!r}")
    return kind


def _element(planned: Sequence[Any], label: str, alone: bool) -> str:
    """matplotlib's SVG as a small element without inline styles, which a page's policy forbids.

    Colours become CSS variables, `style` attributes become attributes; ids that nothing refers to
    go, and so does clipping: limits hold every value. alone: with both themes inside, for a file.
    """
    from paritylab.report.frame import draw

    figure = draw(planned, margin=10.0 if alone else 0.0)
    text = _saved(figure, "svg", transparent=True).decode()
    body = text[text.index("</metadata>") + len("</metadata>") : text.rindex("</svg>")]
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->|<clipPath.*?</clipPath>", "", body, flags=re.DOTALL)
    body = re.sub(r' clip-path="[^"]*"| transform="rotate\(-0 [^"]*"', "", body)
    body = re.sub(r'\bstyle="([^"]*)"', _attributes, body)
    body = re.sub(r' id="(?!m[0-9a-f]{10})[^"]*"', "", body)
    body = re.sub(r"#[0-9a-f]{6}\b", lambda hue: _VARIABLES.get(hue[0], hue[0]), body)
    # Tenths of a point are enough, in places and not in words.
    body = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d)\d+", r"\1", tag[0]), body)
    body = re.sub(r">\s+<", "><", re.sub(r"\s+", " ", body)).strip()
    width, height = (float(side) * 72 for side in figure.get_size_inches())
    box = f'viewBox="0 0 {width:g} {height:g}"'
    style, paper, size = "", "", ""
    if alone:
        style, size = f"<style>{themes_css()}</style>", f' width="{width:g}" height="{height:g}"'
        paper = '<rect width="100%" height="100%" fill="var(--back)"/>'
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'class="fig" stroke-linejoin="round"{size} {box} role="img" '
        f"aria-label={quoteattr(_clean(label))}>{style}{paper}{body}</svg>"
    )


def _attributes(style: re.Match[str]) -> str:
    """A style as attributes of its element; of a font only the size, the page has the family."""
    made = []
    for part in style[1].split(";"):
        name, _, value = (piece.strip() for piece in part.partition(":"))
        if name == "font":
            size = re.search(r"([\d.]+)px", value)
            name, value = "font-size", size[1] if size else "11"
        if name and name != "font-family":
            made.append(f'{name}="{value}"')
    return " ".join(made)


def _saved(figure: Any, kind: str, **options: Any) -> bytes:
    """A figure as the bytes of a file; the same figure gives the same bytes."""
    from matplotlib import rc_context

    stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    buffer = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "one"}), warnings.catch_warnings():
        # A letter that matplotlib's font lacks: the browser has one.
        warnings.simplefilter("ignore", UserWarning)
        dpi = 72 if kind == "svg" else 200
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=stamp, **options)
    return buffer.getvalue()


def _parts(series: Series) -> list[Series]:
    """Series of one panel each."""
    if series["kind"] == "side by side":
        return [each for part in series["parts"] for each in _parts(part)]
    if series["kind"] == "heatmaps":
        return [{**series, "panels": [panel]} for panel in series["panels"]]
    return [series]


def _printable(value: Any) -> Any:
    """A series whose words hold no control characters, which an SVG file may not hold."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict):
        return {_clean(str(key)): _printable(entry) for key, entry in value.items()}
    if isinstance(value, list) and value and not isinstance(value[0], int | float):
        return [_printable(entry) for entry in value]
    return value


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\u00a0" else "\ufffd" for c in text)


def figure_csv(series: Series) -> str:
    """The numbers of a figure as CSV, a line a point; "" without a figure.

    Columns: panel, name (of a line, bar or row), x, y, low, high.

    >>> figure_csv({"kind": "lines", "lines": [{"label": "k = 2", "x": [8], "y": [1.5]}]})
    'panel,name,x,y,low,high\\r\\n,k = 2,8,1.5,,\\r\\n'
    """
    if not has_figure(series):
        return ""
    text = io.StringIO()
    out = csv.writer(text)
    out.writerow(("panel", "name", "x", "y", "low", "high"))
    for part in _parts(series):
        for cells in _points(part):
            out.writerow([_cell(value) for value in cells])
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A number to six digits; words so that a spreadsheet takes them for words, not a formula."""
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else ""
    text = _clean(value) if isinstance(value, str) else value
    return f"'{text}" if isinstance(text, str) and text[:1] in tuple("=+-@") else text


def _points(series: Series) -> Iterator[tuple[Any, ...]]:
    """Panel, name, x, y, low, high of every number in a series of one panel."""
    title = series.get("title") or ""
    if series["kind"] == "lines":
        for line in series["lines"]:
            ends = [line.get(end) or [""] * len(line["x"]) for end in ("low", "high")]
            for x, y, low, high in zip(line["x"], line["y"], *ends, strict=True):
                yield title, line.get("label") or "", x, y, low, high
    elif series["kind"] == "bars":
        bars = series["bars"]
        ends = [bars.get(end) or [""] * len(bars["names"]) for end in ("low", "high")]
        for name, value, low, high in zip(bars["names"], bars["values"], *ends, strict=True):
            yield title, name, "", value, low, high
    elif series["kind"] == "histogram":
        for value in series["values"]:
            yield title, "", value, "", "", ""
    else:
        (panel,) = series["panels"]
        rows, columns = len(panel["values"]), len(panel["values"][0])
        down = panel.get("y_names") or range(rows)
        across = panel.get("x_names") or range(columns)
        for name, row in zip(down, panel["values"], strict=True):
            for x, value in zip(across, row, strict=True):
                yield panel.get("title") or title, name, x, value, "", ""


# ---- the figure in words


def describe(series: Series) -> str:
    """What a picture shows, in a sentence: its text alternative.

    >>> describe({"kind": "lines", "x": {"label": "n"}, "y": {"label": "risk"},
    ...           "lines": [{"label": "k = 2", "x": [8, 16], "y": [1, 0.5]}]})
    'risk against n. k = 2: from 1 at 8 to 0.5 at 16.'
    """
    kind = series["kind"]
    if kind == "side by side":
        return " ".join(describe(part) for part in series["parts"])
    x, y = (str(series.get(axis, {}).get("label") or "value") for axis in ("x", "y"))
    if kind == "lines":
        parts = [_line_in_words(line) for line in series["lines"][:MANY] if len(line["x"])]
    elif kind == "bars":
        bars = series["bars"]
        parts = [f"{n}: {_value(v)}" for n, v in zip(bars["names"], bars["values"], strict=True)]
    elif kind == "histogram":
        known = sorted(float(v) for v in series["values"] if _value(v) != NONE)
        parts = [f"{len(known)} values from {_value(known[0])} to {_value(known[-1])}"]
    else:
        over = (str(line["label"]) for p in series["panels"] for line in p.get("lines", ()))
        parts = [f"{p.get('title') or 'a map'}: {len(p['values'])} rows" for p in series["panels"]]
        parts += dict.fromkeys(over)
    parts += [
        f"{mark['label']}: {_value(mark['at'])}"
        for mark in series.get("marks", ())
        if mark.get("label")
    ]
    against = "" if kind == "bars" else f" against {x}"
    return f"{y}{against}. {'; '.join(parts)}."


def _line_in_words(line: Series) -> str:
    (x, y), at = ([list(line[name]) for name in "xy"]), (0, -1)
    ends = [f"{_value(y[i])} at {_value(x[i])}" for i in at]
    return f"{line.get('label') or 'a line'}: from {' to '.join(ends)}"


def _value(value: Any) -> str:
    number = math.nan if value is None else float(value)
    return short(float(f"{number:.3g}")) if math.isfinite(number) else NONE
