"""What a figure shows, in words: the text alternative of its picture."""

from typing import Any

import numpy as np

from paritylab.report.drawing.frame import is_share
from paritylab.report.drawing.scales import numbers, short

Series = dict[str, Any]
#: So many lines or bars are described one by one.
MANY = 8


def describe(series: Series) -> str:
    """One or two sentences a reader without the picture needs.

    >>> describe({"kind": "lines", "x": {"label": "n"}, "y": {"label": "risk"},
    ...           "lines": [{"label": "k = 2", "x": [8, 16], "y": [1, 0.5]}]})
    'risk against n. k = 2: 1 at 8, 0.5 at 16.'
    """
    if series.get("kind") == "side by side":
        return " ".join(describe(part) for part in series["parts"])
    return {"lines": _lines, "bars": _bars, "histogram": _histogram, "heatmaps": _heatmaps}[
        series["kind"]
    ](series)


def _label(series: Series, axis: str) -> str:
    return str(series.get(axis, {}).get("label") or "value")


def _lines(series: Series) -> str:
    share = is_share(series.get("y"))
    lines = series["lines"]
    parts = [_line(line, share) for line in lines[:MANY]]
    if len(lines) > MANY:
        parts.append(f"{len(lines) - MANY} more lines")
    marks = [
        f"{m['label']}: {short(float(m['at']))}" for m in series.get("marks", ()) if m.get("label")
    ]
    return f"{_label(series, 'y')} against {_label(series, 'x')}. {'; '.join(parts + marks)}."


def _line(line: Series, share: bool) -> str:
    x, y = numbers(line["x"]), numbers(line["y"])
    places = range(x.size) if x.size <= 6 else (0, x.size // 2, x.size - 1)
    found = ", ".join(
        f"{_value(y[i], share)}{_ends(line, i, share)} at {short(x[i])}" for i in places
    )
    return f"{line['label']}: {found}" if line.get("label") else found


def _value(value: float, share: bool) -> str:
    if not np.isfinite(value):
        return "no value"
    return f"{100 * value:.0f} %" if share else short(float(f"{value:.3g}"))


def _ends(part: Series, index: int, share: bool) -> str:
    if "low" not in part:
        return ""
    low, high = (_value(float(part[end][index]), share) for end in ("low", "high"))
    return f" [{low}, {high}]"


def _bars(series: Series) -> str:
    bars, share = series["bars"], is_share(series.get("y"))
    parts = [
        f"{name}: {_value(float(bars['values'][i]), share)}{_ends(bars, i, share)}"
        for i, name in enumerate(bars["names"])
    ]
    return f"{_label(series, 'y')}. {'; '.join(parts)}."


def _histogram(series: Series) -> str:
    values = numbers(series["values"])
    low, middle, high = (_value(float(np.quantile(values, q)), False) for q in (0, 0.5, 1))
    marks = "".join(
        f" {m['label']}: {short(float(m['at']))}."
        for m in series.get("marks", ())
        if m.get("label")
    )
    name = _label(series, "x")
    return f"{values.size} values of {name}, from {low} to {high}, half below {middle}.{marks}"


def _heatmaps(series: Series) -> str:
    colour, parts = series.get("colour", "attention"), []
    for panel in series["panels"]:
        values = np.stack([numbers(row) for row in panel["values"]])
        known = np.where(np.isfinite(values), values, -np.inf)
        places = panel.get("x_names") or range(values.shape[1])
        peaks = [
            f"{row.max():.2g} at {places[row.argmax()]}" if row.max() >= 0 else "none"
            for row in known[:MANY]
        ]
        title = f"{panel['title']}: " if panel.get("title") else ""
        more = f" and {len(values) - MANY} more rows" if len(values) > MANY else ""
        over = dict.fromkeys(str(line["label"]) for line in panel.get("lines", ()))
        more += f"; lines: {', '.join(over)}" if over else ""
        parts.append(f"{title}largest {colour} in each row {', '.join(peaks)}{more}")
    return f"{_label(series, 'y')} against {_label(series, 'x')}. {'; '.join(parts)}."
