"""Figures drawn from a row's `series`, as SVG text.

A series is {"kind": "lines" | "histogram", "x": {"label", "scale"}, "y": {"label", "scale"},
"caption"} with, for lines, "lines": [{"label", "x", "y", "low", "high", "style"}] and "marks":
[{"axis", "at", "label"}]; for a histogram, "values".
"""

import io
from typing import Any

import numpy as np

#: Colours that stay apart for colour-blind readers (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

_STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "paritylab",
}


def svg(series: dict[str, Any]) -> str | None:
    """The figure of a series as an SVG element, or None if the series holds no figure."""
    draw = _DRAWERS.get(series.get("kind", ""))
    if draw is None:
        return None
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.2, 3.4), layout="constrained")
        axes = figure.add_subplot()
        draw(axes, series)
        _label(axes, series)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _label(axes, series: dict[str, Any]) -> None:
    for name in ("x", "y"):
        axis = series.get(name, {})
        axes.set(
            **{f"{name}label": axis.get("label", ""), f"{name}scale": axis.get("scale", "linear")}
        )
    if axes.get_legend_handles_labels()[1]:
        axes.legend()


def _draw_lines(axes, series: dict[str, Any]) -> None:
    for index, line in enumerate(series["lines"]):
        colour = COLOURS[index % len(COLOURS)]
        style = line.get("style", "o-" if len(line["x"]) <= 30 else "-")
        axes.plot(
            _numbers(line["x"]), _numbers(line["y"]), style,
            label=line.get("label"), color=colour, markersize=4,
        )  # fmt: skip
        if "low" in line:
            axes.fill_between(
                _numbers(line["x"]), _numbers(line["low"]), _numbers(line["high"]),
                color=colour, alpha=0.18, linewidth=0,
            )  # fmt: skip
    for mark in series.get("marks", ()):
        rule = axes.axhline if mark["axis"] == "y" else axes.axvline
        rule(mark["at"], color="0.4", linestyle=":", label=mark.get("label"))


def _draw_histogram(axes, series: dict[str, Any]) -> None:
    values = _numbers(series["values"])
    spacing = np.geomspace if series.get("x", {}).get("scale") == "log" else np.linspace
    bins = spacing(values.min(), values.max() * 1.0001, 25)
    axes.hist(values, bins=bins, color=COLOURS[0], edgecolor="white")


def _numbers(values) -> np.ndarray:
    return np.asarray(values, dtype=float)


_DRAWERS = {"lines": _draw_lines, "histogram": _draw_histogram}
