"""A figure from every builder and from plain series; its intervals, ticks and colours."""

import itertools
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from paritylab._support.colours import HUES, theme
from paritylab.claims.engine.registry import as_series
from paritylab.claims.engine.verdict import plain
from paritylab.figures import (
    Bars,
    Heatmap,
    Line,
    Lines,
    Mark,
    SideBySide,
    describe,
    draw,
    figure_format,
    panels,
    save_figure,
    svg,
)
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
LONG = np.linspace(0, 1, 50)
BUILDERS = {
    "lines": LINES,
    "a band": Lines([Line("a", LONG, LONG, LONG / 2, LONG * 2)], x="t", y="risk", log="y"),
    "lines without names": {
        "kind": "lines",
        "lines": [{"x": LONG, "y": LONG}, {"x": LONG, "y": -LONG, "style": ":"}],
        "marks": [{"axis": "x", "at": 0.2}],
    },
    "bars": Bars.of_rates(RATES, y="share", marks=[Mark(0.5, "half")]),
    "bars of equal height": Bars({"a": 0.0, "b": 0.0}, y="numbers"),
    "numbers that are none": SideBySide(
        [
            Lines([Line("a", [1, np.nan, 3], [np.nan, np.inf, 2.0])], x="n", y="risk", log="y"),
            Bars({"a": np.nan, "b": 1.0}, y="share of runs"),
            Heatmap([[np.nan, np.nan], [0.5, 2.0]], x="a", y="b"),
        ]
    ),
    "nothing": SideBySide([Lines([], x="n", y="risk"), Bars({}, y="share")]),
    "heatmap": Heatmap(np.eye(3), x="n", y="head", columns=[1], points=[(0, 0)], title="eye"),
    "named heatmap": Heatmap(np.eye(2), x="n", y="k", x_names=["8", "16"], y_names=["2", "3"]),
    "side by side": SideBySide([LINES, Heatmap(np.eye(2), x="a", y="b")], caption="Both."),
}


@pytest.mark.parametrize("builder", BUILDERS.values(), ids=BUILDERS)
def test_every_builder_is_drawn_after_a_journey_through_json(builder):
    series = json.loads(json.dumps(plain(as_series(builder)), allow_nan=False))
    text = svg(series)
    assert ET.fromstring(text).get("aria-label") == describe(series)
    for each in (text, *panels(series)):
        ET.fromstring(each)
        # A page's policy forbids inline styles; colours are those of the theme alone.
        inside = each.partition("</style>")[2] or each
        assert not re.search(r"style=|#[0-9a-f]{6}|NaN|inf\b", inside)


def test_words_of_a_figure_are_printable_text():
    nasty = "=cmd()\x1b[31m$x_{$\u202e\n<b>&"
    text = svg(Bars({nasty: 0.5}, y=nasty, caption=nasty).series())
    assert not re.search(r"\x1b|<b>", text)
    ET.fromstring(text)


def test_series_of_other_kinds_are_refused_and_none_is_no_picture():
    with pytest.raises(TypeError, match="a claim yields"):
        as_series(7)
    assert (svg({}), panels({})) == (None, [])


def test_rates_are_drawn_with_their_intervals():
    assert "90 % [60, 98]" in svg(BUILDERS["bars"].series())
    wanted = {"bars": (0, [(rate.low, rate.high) for rate in RATES.values()])}
    wanted["lines"] = (1, [(0.4, 0.6), (0.5, 0.7)])
    for name, (axis, intervals) in wanted.items():
        (axes,) = draw(BUILDERS[name].series()).axes
        (whiskers,) = axes.collections
        assert np.allclose([part[:, axis] for part in whiskers.get_segments()], intervals)


def test_values_that_cannot_be_placed_are_left_out():
    series = Lines([Line("a", [1, 2, 3], [0.0, 1.0, 2.0])], x="n", y="risk", log="y").series()
    (axes,) = draw(series).axes
    assert np.isnan(axes.lines[0].get_ydata()).tolist() == [True, False, False]


def linear(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts])


def contrast(one, other):
    light, dark = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))[::-1]
    return (light + 0.05) / (dark + 0.05)


#: What is left of red, green and blue for eyes without red or green cones (Machado et al. 2009).
WITHOUT = {
    None: np.eye(3),
    "red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(rgb):
    """CIE L*a*b* of linear red, green and blue: a distance of 10 is seen at a glance."""
    x, y, z = np.cbrt(TO_XYZ @ np.clip(rgb, 1e-3, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("name", ["light", "dark"])
def test_colours_stand_out_and_colour_blind_readers_tell_them_apart(name):
    colours = theme(name)
    assert len({*colours.values()}) == len(colours)  # an SVG's colours become names again
    for each, least in (*((f"c{i}", 3) for i in range(HUES)), ("ink", 4.5), ("soft", 4.5)):
        assert contrast(colours[each], colours["back"]) >= least
    for eye in WITHOUT.values():
        seen = [lab(np.array(eye) @ linear(colours[f"c{index}"])) for index in range(HUES)]
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 15


def test_figures_are_saved_by_the_end_of_their_name_and_twice_the_same(tmp_path):
    for name in ("a.svg", "a.pdf", "a.png"):
        save_figure(LINES.series(), tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert svg(LINES.series()) == (tmp_path / "a.svg").read_text()
    with pytest.raises(ValueError, match=r"\.svg, \.pdf or \.png"):
        figure_format(tmp_path / "a.gif")
