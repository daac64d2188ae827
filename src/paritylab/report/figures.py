"""Figures drawn from a row's `series`, as SVG text.

The builders of claims.figures make series; this is what they make. A series is {"kind": "lines" |
"bars" | "histogram" | "heatmaps", "x": {"label", "scale"}, "y": {"label", "scale"}, "marks":
[{"axis", "at", "label"}], "caption"} with, for lines, "lines": [{"label", "x", "y", "low", "high",
"style"}]; for bars, "bars": {"names", "values", "low", "high"}; for a histogram, "values"; for
heatmaps, "panels": [{"title", "values", "marks", "points"}], rows of numbers between 0 and 1 with
marked columns and places. The kind "side by side" holds whole series in "parts".
"""

import io
from pathlib import Path
from typing import Any

import numpy as np

from paritylab.files import write_atomically

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
    if series.get("kind") not in {*_DRAWERS, "side by side"}:
        return None
    import matplotlib

    with matplotlib.rc_context(_STYLE):
        figure = make_figure(series)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def save_figure(series: dict[str, Any], path: Path) -> None:
    """Write the figure of a series as the file type its name ends in (svg, pdf or png)."""
    import matplotlib

    kind = figure_format(path)
    with matplotlib.rc_context(_STYLE):
        figure, buffer = make_figure(series), io.BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
        figure.savefig(buffer, format=kind, dpi=160, metadata=metadata)
    write_atomically(path, buffer.getvalue())


def figure_format(path: Path) -> str:
    """The file type a figure's name asks for; commands check it before they start working."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("svg", "pdf", "png"):
        raise ValueError(f"a figure file ends in .svg, .pdf or .png, got {path.name!r}")
    return kind


def make_figure(series: dict[str, Any]) -> Any:
    """The matplotlib figure of a series of any kind."""
    from matplotlib.figure import Figure

    parts = series["parts"] if series["kind"] == "side by side" else [series]
    columns = [len(part.get("panels", [0])) for part in parts]
    figure = Figure(figsize=(max(6.2, 4.2 * sum(columns)), 3.4), layout="constrained")
    grid = figure.add_gridspec(1, sum(columns))
    at = 0
    for part, width in zip(parts, columns, strict=True):
        axes = [figure.add_subplot(grid[0, at + column]) for column in range(width)]
        _DRAWERS[part["kind"]](axes if "panels" in part else axes[0], part)
        for each in axes:
            _label(each, part)
        at += width
    return figure


def _label(axes: Any, series: dict[str, Any]) -> None:
    for name in ("x", "y"):
        axis = series.get(name, {})
        axes.set(**{f"{name}label": axis.get("label", "")})
        if "scale" in axis:
            axes.set(**{f"{name}scale": axis["scale"]})
    _tick_at_data(axes, series)
    if axes.get_legend_handles_labels()[1]:
        axes.legend()


def _tick_at_data(axes: Any, series: dict[str, Any]) -> None:
    """Logarithmic axes: label the few sizes that were tried, and no minor ticks beyond a decade."""
    from matplotlib.ticker import NullFormatter, NullLocator

    if series.get("x", {}).get("scale") == "log" and "lines" in series:
        sizes = sorted({float(x) for line in series["lines"] for x in line["x"]})
        if len(sizes) <= 8 and sizes[0] >= 1:
            axes.set_xticks(sizes, [_short(size) for size in sizes])
            axes.xaxis.set_minor_locator(NullLocator())
    if series.get("y", {}).get("scale") == "log":
        low, high = axes.get_ylim()
        if high > 10 * low > 0:
            axes.yaxis.set_minor_formatter(NullFormatter())


def _short(size: float) -> str:
    """64, 1k, 65k, 1M."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if size >= unit:
            return f"{size / unit:.3g}{name}" if size < 10 * unit else f"{size / unit:.0f}{name}"
    return f"{size:g}"


def _draw_heatmaps(axes: Any, series: dict[str, Any]) -> None:
    for each, panel in zip(axes, series["panels"], strict=True):
        values = _numbers(panel["values"])
        image = each.imshow(values, aspect="auto", vmin=0, vmax=1, cmap="cividis")
        each.set(title=panel.get("title", ""))
        if len(values) <= 12:
            each.set(yticks=range(len(values)))
        each.grid(visible=False)
        for column, line in panel.get("points", ()):
            each.plot(
                column,
                line,
                "o",
                markersize=4,
                markerfacecolor="none",
                markeredgecolor=COLOURS[1],
                markeredgewidth=0.8,
            )
        for column in panel.get("marks", ()):
            each.axvline(column, color="white", linestyle=":", linewidth=1.2)
    axes[-1].figure.colorbar(image, ax=axes, label=series.get("colour", "attention"))


def _draw_lines(axes: Any, series: dict[str, Any]) -> None:
    for index, line in enumerate(series["lines"]):
        colour = COLOURS[index % len(COLOURS)]
        style = line.get("style", "o-" if len(line["x"]) <= 30 else "-")
        axes.plot(
            _numbers(line["x"]),
            _numbers(line["y"]),
            style,
            label=line.get("label"),
            color=colour,
            markersize=4,
        )
        if "low" in line:
            axes.fill_between(
                _numbers(line["x"]),
                _numbers(line["low"]),
                _numbers(line["high"]),
                color=colour,
                alpha=0.18,
                linewidth=0,
            )
    _draw_marks(axes, series)


def _draw_marks(axes: Any, series: dict[str, Any]) -> None:
    for mark in series.get("marks", ()):
        rule = axes.axhline if mark["axis"] == "y" else axes.axvline
        rule(mark["at"], color="0.4", linestyle=":", label=mark.get("label"))


def _draw_bars(axes: Any, series: dict[str, Any]) -> None:
    bars = series["bars"]
    values, places = _numbers(bars["values"]), np.arange(len(bars["names"]))
    axes.bar(places, values, color=COLOURS[0], width=0.6)
    if "low" in bars:
        reach = np.stack([values - _numbers(bars["low"]), _numbers(bars["high"]) - values])
        axes.errorbar(places, values, np.maximum(reach, 0), fmt="none", ecolor="0.2", capsize=4)
    axes.set_xticks(places, [str(name) for name in bars["names"]])
    axes.grid(visible=False, axis="x")
    _draw_marks(axes, series)


def _draw_histogram(axes: Any, series: dict[str, Any]) -> None:
    values = _numbers(series["values"])
    spacing = np.geomspace if series.get("x", {}).get("scale") == "log" else np.linspace
    bins = spacing(values.min(), values.max() * 1.0001, 25)
    axes.hist(values, bins=bins, color=COLOURS[0], edgecolor="white")
    _draw_marks(axes, series)


def _numbers(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float)


_DRAWERS = {
    "lines": _draw_lines,
    "bars": _draw_bars,
    "histogram": _draw_histogram,
    "heatmaps": _draw_heatmaps,
}
