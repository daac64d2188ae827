"""The colours of pages and figures, for light and dark.

Six hues after Okabe and Ito, shifted so that each has a contrast of at least 3 with its background
and that colour-blind readers can tell any two apart; lines also differ in their markers. Figures
are drawn in the light colours; in an SVG each becomes a CSS variable of the same name, so that the
page's theme colours the figure, too.
"""

import numpy as np

#: Steps of the ramp of heat maps, and the ramp's beginning, middle and end in each theme.
HEATS = 12
_RAMPS = {
    "light": ("#eef3f8", "#4f9ac7", "#08306b"),
    "dark": ("#1c2733", "#2a8a8c", "#fbe36a"),
}
_HUES = {
    "light": ("#0072b2", "#b33c00", "#149b78", "#cc6ba5", "#b58a00", "#2b3036"),
    "dark": ("#4aa8ea", "#f0692e", "#1fb58a", "#d56fb4", "#f2cf5b", "#f0f3f6"),
}
_GREYS = {
    "light": {"ink": "#1b1f24", "soft": "#57606a", "line": "#d8dee4", "back": "#ffffff"},
    "dark": {"ink": "#e6edf3", "soft": "#9da7b3", "line": "#2f3842", "back": "#0d1117"},
}
HUES = len(_HUES["light"])


def theme(name: str) -> dict[str, str]:
    """Every colour by name, for "light" or "dark": greys, hues c0 to c5, heats h0 to h11.

    >>> theme("light")["c0"]
    '#0072b2'
    """
    corners = [[int(hue[at : at + 2], 16) for at in (1, 3, 5)] for hue in _RAMPS[name]]
    at = np.linspace(0, 2, HEATS)
    ramp = np.stack([np.interp(at, range(3), channel) for channel in zip(*corners, strict=True)])
    heats = ("#" + "".join(f"{value:02x}" for value in heat) for heat in ramp.round().astype(int).T)
    return {
        **_GREYS[name],
        **{f"c{index}": hue for index, hue in enumerate(_HUES[name])},
        **{f"h{level}": heat for level, heat in enumerate(heats)},
    }


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
