"""The one style of every figure: colours for light and dark, pens, sizes.

Six hues after Okabe and Ito, shifted so that each has a contrast of at least 3 with its background
and that no two come close for colour-blind readers; lines also differ in their markers.
"""

from typing import NamedTuple

Theme = dict[str, str]

#: Colours of lines and bars, on white and on the dark background.
_HUES = {
    "light": ("#0072b2", "#b33c00", "#149b78", "#cc6ba5", "#b58a00", "#2b3036"),
    "dark": ("#4aa8ea", "#f0692e", "#1fb58a", "#d56fb4", "#f2cf5b", "#f0f3f6"),
}
#: Where the ramp of heat maps begins, passes and ends: 0 is close to the background.
_RAMPS = {
    "light": ("#eef3f8", "#4f9ac7", "#08306b"),
    "dark": ("#1c2733", "#2a8a8c", "#fbe36a"),
}
_GREYS: dict[str, Theme] = {
    "light": {"ink": "#1b1f24", "soft": "#57606a", "line": "#d8dee4", "back": "#ffffff"},
    "dark": {"ink": "#e6edf3", "soft": "#9da7b3", "line": "#2f3842", "back": "#0d1117"},
}
HUES = len(_HUES["light"])
#: Steps of the ramp of heat maps.
HEATS = 12
#: Shapes of the points of the first, second, … line.
MARKERS = ("circle", "square", "triangle", "diamond", "cross", "ring")


class Pen(NamedTuple):
    """stroke, fill: "own" is the colour of the line's number, "none" or a name of the theme."""

    stroke: str = "none"
    fill: str = "none"
    width: float = 1.0
    dash: str = ""
    opacity: float = 1.0


PENS = {
    "grid": Pen("line"),
    "axis": Pen("soft"),
    "rule": Pen("soft", width=1.4, dash="2 3"),
    "curve": Pen("own", width=1.9),
    "dashed": Pen("own", width=1.7, dash="6 4"),
    "dotted": Pen("own", width=1.7, dash="2 3"),
    "thin": Pen("own", width=1.0, opacity=0.6),
    "band": Pen(fill="own", opacity=0.18),
    "whisker": Pen("own", width=1.5),
    "mark": Pen(fill="own"),
    "open": Pen("own", "back", width=1.5),
    "bar": Pen(fill="own", opacity=0.7),
    "span": Pen("ink", width=1.5),
    "ring": Pen("back", width=2.6),
    "core": Pen("c1", width=1.4),
    "halo": Pen("back", width=4.0),
    "contour": Pen("c1", width=2.0),
    "theory": Pen("ink", width=1.8, dash="6 4"),
    "theory2": Pen("ink", width=1.8, dash="2 3"),
    "cell": Pen(fill="own"),
}
#: Words: their size and colour.
WORDS = {"tick": (11.0, "soft"), "name": (11.5, "ink"), "label": (11.5, "soft")}


def theme(name: str) -> Theme:
    """Every colour by name, for "light" or "dark".

    >>> theme("light")["c0"]
    '#0072b2'
    """
    hues = {f"c{index}": hue for index, hue in enumerate(_HUES[name])}
    heats = {f"h{level}": _heat(name, level / (HEATS - 1)) for level in range(HEATS)}
    return {**_GREYS[name], **hues, **heats}


def variables(name: str) -> str:
    """The theme as CSS custom properties."""
    return "".join(f"--{key}:{value};" for key, value in theme(name).items())


def pens_css() -> str:
    """Classes of the pens and words, below an element with the class fig."""
    rules = [f".fig .{name}{{{_css(pen)}}}" for name, pen in PENS.items()]
    rules += [f".fig .c{index}{{color:var(--c{index})}}" for index in range(HUES)]
    rules += [f".fig .h{level}{{color:var(--h{level})}}" for level in range(HEATS)]
    rules += [
        f".fig .{name}{{font-size:{size:g}px;fill:var(--{colour})}}"
        for name, (size, colour) in WORDS.items()
    ]
    return ".fig{font-family:system-ui,sans-serif}" + "".join(rules)


def _css(pen: Pen) -> str:
    stroke, fill = (_paint(colour) for colour in (pen.stroke, pen.fill))
    text = f"fill:{fill};stroke:{stroke}"
    if pen.stroke != "none" and pen.width != 1:
        text += f";stroke-width:{pen.width:g}"
    if pen.dash:
        text += f";stroke-dasharray:{pen.dash}"
    return text + (f";opacity:{pen.opacity:g}" if pen.opacity != 1 else "")


def _paint(colour: str) -> str:
    return {"own": "currentColor", "none": "none"}.get(colour, f"var(--{colour})")


def _heat(name: str, share: float) -> str:
    low, middle, high = (_rgb(colour) for colour in _RAMPS[name])
    start, end, at = (low, middle, 2 * share) if share < 0.5 else (middle, high, 2 * share - 1)
    return "#" + "".join(f"{round(a + (b - a) * at):02x}" for a, b in zip(start, end, strict=True))


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))
