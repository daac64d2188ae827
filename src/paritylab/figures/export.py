"""Figures as files and as parts of a page: SVG, PDF, PNG, and what they show in words.

`paritylab.figures.drawing` says what a series is and draws it.
"""

import io
import re
import warnings
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from paritylab._support.colours import theme, themes_css
from paritylab._support.output_files import write_atomically
from paritylab.figures.drawing import Series, draw, panels_of, styled

KINDS = ("lines", "bars", "heatmaps", "side by side")
#: So many lines, bars and rules are named one by one.
MANY = 12
_VARIABLES = {colour: f"var(--{name})" for name, colour in theme("light").items()}


def has_figure(series: Series) -> bool:
    """Whether a series is of a kind that is drawn."""
    return series.get("kind") in KINDS


def panels(series: Series) -> list[str]:
    """An SVG element for each panel, for a page that has the colours; none without a figure."""
    if not has_figure(series):
        return []
    return [_element(part, alone=False) for part in panels_of(_printable(series))]


def svg(series: Series) -> str | None:
    """The whole figure as one SVG file, light and dark, or None if there is no figure."""
    return _element(_printable(series), alone=True) if has_figure(series) else None


def save_figure(series: Series, path: Path) -> None:
    """Write the figure of a series as the file type its name ends in (svg, pdf or png)."""
    kind = figure_format(path)
    content = svg(series) or "" if kind == "svg" else _saved(_printable(series), kind)[0]
    write_atomically(path, content)


def figure_format(path: Path) -> str:
    """The file type a figure's name asks for; commands check it before they start working."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("svg", "pdf", "png"):
        raise ValueError(f"a figure file ends in .svg, .pdf or .png, got {path.name!r}")
    return kind


def _saved(series: Series, kind: str) -> tuple[bytes, tuple[float, float]]:
    """The bytes of a file and the figure's size in points; the same series gives the same bytes."""
    stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    buffer, figure = io.BytesIO(), draw(series)
    with styled(), warnings.catch_warnings():
        # A letter that matplotlib's font lacks: the browser has one.
        warnings.simplefilter("ignore", UserWarning)
        looks: dict[str, Any] = {"transparent": True} if kind == "svg" else {"facecolor": "white"}
        dpi = 72 if kind == "svg" else 200
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=stamp, **looks)
    width, height = (72 * float(side) for side in figure.get_size_inches())
    return buffer.getvalue(), (width, height)


def _element(series: Series, alone: bool) -> str:
    """matplotlib's SVG as a small element without inline styles, which a page's policy forbids.

    Colours become CSS variables, `style` attributes become attributes, ids that nothing refers to
    go. alone: with both themes inside, for a file.
    """
    content, (width, height) = _saved(series, "svg")
    text = content.decode()
    body = text[text.index("</metadata>") + len("</metadata>") : text.rindex("</svg>")]
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r"<clipPath.*?</clipPath>", "", body, flags=re.DOTALL)
    body = re.sub(r' clip-path="[^"]*"| transform="rotate\(-0 [^"]*"', "", body)
    body = re.sub(r'\bstyle="([^"]*)"', _attributes, body)
    body = re.sub(r' id="(?!m[0-9a-f]{10}|C[0-9])[^"]*"', "", body)
    body = re.sub(r"#[0-9a-f]{6}\b", lambda hue: _VARIABLES.get(hue[0], hue[0]), body)
    # Tenths of a point are enough, in places and not in words.
    body = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d)\d+", r"\1", tag[0]), body)
    body = re.sub(r">\s+<", "><", re.sub(r"\s+", " ", body)).strip()
    frame = f'viewBox="0 0 {width:g} {height:g}"'
    if alone:
        frame += f' width="{width:g}" height="{height:g}"'
        paper = '<rect width="100%" height="100%" fill="var(--back)"/>'
        body = f"<style>{themes_css()}</style>{paper}{body}"
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'class="fig" stroke-linejoin="round" {frame} role="img" '
        f"aria-label={quoteattr(describe(series))}>{body}</svg>"
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


def _printable(value: Any) -> Any:
    """A series whose words hold no control characters, which an SVG file may not hold."""
    if isinstance(value, str):
        return "".join(c if c.isprintable() or c == "\u00a0" else "\ufffd" for c in value)
    if isinstance(value, dict):
        return {_printable(str(key)): _printable(entry) for key, entry in value.items()}
    if isinstance(value, list) and value and not isinstance(value[0], int | float):
        return [_printable(entry) for entry in value]
    return value


def describe(series: Series) -> str:
    """What a picture shows, in a sentence for each panel: its text alternative.

    >>> describe({"kind": "lines", "x": {"label": "n"}, "y": {"label": "risk"},
    ...           "lines": [{"label": "k = 2", "x": [8, 16], "y": [1, 0.5]}]})
    'risk against n: k = 2.'
    """
    return " ".join(map(_panel_in_words, panels_of(series)))


def _panel_in_words(series: Series) -> str:
    """Both axes, then the names of lines, bars and rules; their numbers stand in the table."""
    x, y = (str(series.get(axis, {}).get("label") or "value") for axis in ("x", "y"))
    named = [*series.get("lines", ()), *series.get("marks", ())]
    names = [*series.get("bars", {}).get("names", ()), *(each.get("label") for each in named)]
    names = [str(name) for name in names if name]
    more = [f"{len(names) - MANY} more"] if len(names) > MANY else []
    shown = y if series["kind"] == "bars" else f"{y} against {x}"
    return f"{shown}: {', '.join(names[:MANY] + more)}." if names else f"{shown}."
