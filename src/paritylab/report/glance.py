"""One figure for the whole laboratory: three findings, each with its sentence, from rows alone."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from paritylab.report.drawing.frame import is_share
from paritylab.report.drawing.scales import short

Row = dict[str, Any]
Series = dict[str, Any]
Panel = Callable[[dict[str, Row]], Series]
#: So many findings are shown.
PANELS = 3


def glance(rows: list[Row]) -> Series:
    """Heads that learn, XOR in one step, a chain of thought; others where these are not there."""
    by_id = {row["id"]: row for row in rows}
    panels: list[Panel] = [_heads, _step, _chains]
    panels += [partial(_curve, id) for id in ("hg1-temperature", "lab-fixed-tau")]
    parts = [_made(panel, by_id) for panel in panels]
    shown = [part for part in parts if part][:PANELS]
    if not shown:
        return {}
    return {
        "kind": "side by side",
        "parts": shown,
        "caption": "Findings at a glance; whiskers are 95 % intervals.",
    }


def _made(panel: Panel, by_id: dict[str, Row]) -> Series:
    """The panel, or none where a row of that id is of another form."""
    try:
        return panel(by_id)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return {}


def _heads(by_id: dict[str, Row]) -> Series:
    """How often k heads find the hidden bits, against k: one line per procedure and n."""
    lines = [*_theorem(by_id.get("hg1-thm5")), *_code(by_id.get("hg1-remark10"))]
    if not lines:
        return {}
    trained = lines[0]
    lines += _annealed(by_id.get("lab-heads-learn"))
    said = [
        f"{100 * trained['y'][at]:.0f}\u00a0% at k\u00a0=\u00a0{trained['x'][at]}" for at in (0, -1)
    ]
    shares = " and ".join(dict.fromkeys(said))
    return {
        "kind": "lines",
        "title": f"HG1. Descent from random heads finds the hidden bits in {shares}.",
        "x": {"label": "k, the number of hidden bits"},
        "y": {"label": "share of runs that find them"},
        "lines": lines,
    }


def _theorem(row: Row | None) -> list[Series]:
    """The best setting of every size: the row's lines, else the intervals among the settings."""
    parts = (row or {}).get("series", {}).get("parts", [])
    for part in parts:
        if is_share(part.get("y", {}).get("label", "")):
            return [
                {**each, "label": f"Theorem 5's descent, {each['label']}"} for each in part["lines"]
            ]
    measured = (row or {}).get("measured", {})
    best, settings = measured.get("share of runs that reach risk 0.05"), measured.get("by setting")
    if not isinstance(best, dict) or not isinstance(settings, dict):
        return []
    sizes: dict[int, dict[int, tuple[float, float, float]]] = {}
    for name in best:
        size = _size(name)
        rates = [_rate(text) for key, text in settings.items() if key.startswith(f"{name},")]
        known = [rate for rate in rates if rate]
        if size and known:
            sizes.setdefault(size[0], {})[size[1]] = max(known)
    return [
        _line(f"Theorem 5's descent, best setting, n = {n}", found) for n, found in sizes.items()
    ]


def _code(row: Row | None) -> list[Series]:
    lines = (row or {}).get("series", {}).get("lines", [])
    chosen = [line for line in lines if "n/4" in str(line.get("label"))] or lines
    n = (row or {}).get("settings", {}).get("n")
    label = "public code's settings" + (f", n = {n}" if n else "")
    return [{**chosen[0], "label": label}] if chosen else []


def _annealed(row: Row | None) -> list[Series]:
    """Single starts of the annealed heads: points, since n differs from one to the next."""
    found: dict[int, tuple[float, float, float]] = {}
    sizes = []
    for name, value in _flat((row or {}).get("measured", {})):
        size, rate = _size(name), _rate(value)
        if size and rate and "single" in name.lower() and size[1] not in found:
            found[size[1]] = rate
            sizes.append(size[0])
    if not found:
        return []
    label = f"annealed (ours), n = {short(min(sizes))} to {short(max(sizes))}"
    return [{**_line(label, found), "style": "o"}]


def _flat(measured: Series) -> Iterator[tuple[str, Any]]:
    """Names and numbers, where an inner name follows the outer one."""
    for name, value in measured.items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        yield from ((f"{name}, {key}" if key else str(name), entry) for key, entry in inner)


def _line(label: str, found: dict[int, tuple[float, float, float]]) -> Series:
    k = sorted(found)
    value, low, high = zip(*(found[each] for each in k), strict=True)
    return {"label": label, "x": k, "y": list(value), "low": list(low), "high": list(high)}


def _size(name: Any) -> tuple[int, int] | None:
    n, k = (re.search(rf"\b{letter} ?= ?([\d,]+)", str(name)) for letter in "nk")
    return (int(n[1].replace(",", "")), int(k[1].replace(",", ""))) if n and k else None


def _rate(text: Any) -> tuple[float, float, float] | None:
    """The shares in "67 % [55, 77]"; a bare share is an interval of no width."""
    if isinstance(text, float) and 0 <= text <= 1:
        return text, text, text
    found = re.match(r"(\d+) % \[(\d+), (\d+)\]", str(text))
    return (int(found[1]) / 100, int(found[2]) / 100, int(found[3]) / 100) if found else None


def _step(by_id: dict[str, Row]) -> Series:
    part = _first(by_id.get("hg2-one-step"))
    lines = part.get("lines", [])
    if not lines:
        return {}
    x, y = lines[0]["x"], lines[0]["y"]
    ends = [f"{short(float(f'{y[at]:.2g}'))} at n = {short(x[at])}" for at in (0, -1)]
    return {
        **part,
        "title": f"HG2. One XOR step leaves an error of {' and '.join(dict.fromkeys(ends))}.",
    }


def _chains(by_id: dict[str, Row]) -> Series:
    part = _first(by_id.get("ks-experiments"))
    lines = part.get("lines", [])
    if not lines:
        return {}
    low = [line["label"] for line in lines if line["y"][-1] < 0.01]
    high = [line["label"] for line in lines if line["y"][-1] >= 0.01]
    solved = f"{' and '.join(low) or 'none'} {'is' if len(low) < 2 else 'are'} solved"
    rest = f", {' and '.join(high)} not" if high else ""
    steps = short(max(line["x"][-1] for line in lines))
    return {**part, "title": f"KS. After {steps} steps {solved}{rest}."}


def _curve(id: str, by_id: dict[str, Row]) -> Series:
    row = by_id.get(id)
    part = _first(row)
    if not row or not part:
        return {}
    return {**part, "title": f"{row['paper'].upper()}. {row['title']}: {row['status']}."}


def _first(row: Row | None) -> Series:
    """A claim's figure of lines, or its first part."""
    series = (row or {}).get("series") or {}
    part = series["parts"][0] if series.get("kind") == "side by side" else series
    return part if part.get("kind") == "lines" else {}
