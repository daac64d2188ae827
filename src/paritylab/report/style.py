"""The colours of pages and figures, for light and dark.

Six hues after Okabe and Ito, shifted so that each has a contrast of at least 3 with its background
and that colour-blind readers can tell any two apart; lines also differ in their markers. Figures
are drawn in the light colours; in an SVG each colour becomes a CSS variable of the same name, so
that the page's theme colours the figure, too.
"""

import base64
import hashlib

Theme = dict[str, str]

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


def theme(name: str) -> Theme:
    """Every colour by name, for "light" or "dark": greys, hues c0 to c5, heats h0 to h11.

    >>> theme("light")["c0"]
    '#0072b2'
    """
    hues = {f"c{index}": hue for index, hue in enumerate(_HUES[name])}
    heats = {f"h{level}": _heat(name, level / (HEATS - 1)) for level in range(HEATS)}
    return {**_GREYS[name], **hues, **heats}


def themes_css() -> str:
    """Both themes as CSS variables; print is light."""
    light, dark = (
        "".join(f"--{key}:{value};" for key, value in theme(name).items())
        for name in ("light", "dark")
    )
    return (
        f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"@media print{{:root{{{light}}}}}\n.fig{{font-family:system-ui,sans-serif}}\n"
    )


def policy(script: str, style: str) -> str:
    """A page's security policy: nothing may load or run but this script and this style."""
    script_hash, style_hash = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    )
    return (
        f"default-src 'none'; script-src 'sha256-{script_hash}'; style-src 'sha256-{style_hash}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _heat(name: str, share: float) -> str:
    """The colour at a share of the ramp, between its three corners by straight lines."""
    low, middle, high = (
        [int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in _RAMPS[name]
    )
    start, end, at = (low, middle, 2 * share) if share < 0.5 else (middle, high, 2 * share - 1)
    return "#" + "".join(f"{round(a + (b - a) * at):02x}" for a, b in zip(start, end, strict=True))
