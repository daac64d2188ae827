"""A figure from every builder, and from plain series."""

import json

import numpy as np
import pytest

from paritylab.claims.figures import (
    Bars,
    Heatmap,
    Histogram,
    Line,
    Lines,
    Mark,
    SideBySide,
    as_series,
)
from paritylab.claims.rates import rate_line
from paritylab.claims.verdict import plain
from paritylab.report.figures import figure_format, make_figure, save_figure, svg
from paritylab.statistics import Rate

RATES = {"clean": Rate(9, 10), "noisy": Rate(3, 10)}
LINES = Lines(
    [Line("rates", [8, 16], [0.5, 0.6], [0.4, 0.5], [0.6, 0.7]), Line("law", [8, 16], [1, 2])],
    x="n",
    y="share of runs",
    log="x",
    marks=[Mark(0.5, "half"), Mark(10, "ten", axis="x")],
    caption="Two lines.",
)
BUILDERS = {
    "lines": LINES,
    "bars": Bars.of_rates(RATES, y="share", marks=[Mark(0.5, "half")]),
    "bars without intervals": Bars({"a": 1.0, "b": 20.0}, y="numbers", log="y"),
    "histogram": Histogram([1.0, 2.0, 30.0], x="risk", log="x", marks=[Mark(2, "two", "x")]),
    "heatmap": Heatmap(np.eye(3), x="n", y="head", columns=[1], points=[(0, 0)], title="eye"),
    "side by side": SideBySide([LINES, Heatmap(np.eye(2), x="a", y="b")], caption="Both."),
}


@pytest.mark.parametrize("builder", BUILDERS.values(), ids=BUILDERS)
def test_every_builder_is_drawn_after_a_journey_through_json(builder):
    series = json.loads(json.dumps(plain(as_series(builder)), allow_nan=False))
    assert svg(series).startswith("<svg")


def test_bars_have_whiskers_at_their_intervals():
    axes = make_figure(BUILDERS["bars"].series()).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["clean", "noisy"]
    ends = axes.containers[-1][1]
    low, high = (end.get_ydata() for end in ends)
    assert np.allclose(low, [rate.low for rate in RATES.values()])
    assert np.allclose(high, [rate.high for rate in RATES.values()])


def test_rates_make_lines():
    line = rate_line("runs", [8, 16], RATES.values())
    assert line["y"] == [0.9, 0.3]
    assert line["low"][0] == RATES["clean"].low


def test_dicts_are_series_already_and_other_things_are_refused():
    assert as_series({"kind": "lines"}) == {"kind": "lines"}
    with pytest.raises(TypeError, match="SideBySide"):
        as_series(7)


def test_no_figure_is_no_picture():
    assert svg({}) is None


def test_figures_are_saved_by_the_end_of_their_name(tmp_path):
    for name in ("a.svg", "a.pdf", "a.png"):
        save_figure(LINES.series(), tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(ValueError, match=r"\.svg, \.pdf or \.png"):
        figure_format(tmp_path / "a.gif")
