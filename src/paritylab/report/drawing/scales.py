"""Axes: limits, ticks that do not collide, and numbers as people write them."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: Width of an average letter over the size of the letters.
LETTER = 0.56
#: So many sizes that were tried have a tick each.
FEW = 9


class Axis(NamedTuple):
    """An axis from low to high over `length` pixels; ticks are (value, words)."""

    low: float
    high: float
    log: bool
    length: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """Pixels from the beginning of the axis."""
        low, high, value = (_scaled(x, self.log) for x in (self.low, self.high, value))
        return self.length * (value - low) / (high - low)

    def holds(self, value: float) -> bool:
        """Whether a value can be placed: finite, and positive on a logarithmic axis."""
        return math.isfinite(value) and (value > 0 or not self.log)


class Wish(NamedTuple):
    """What an axis is asked for: scale, whether it shows shares, sizes to have ticks, room."""

    log: bool = False
    share: bool = False
    sizes: Sequence[float] = ()
    upright: bool = False
    margin: float = 0.0


def make_axis(values: Iterable[float], length: float, wish: Wish | None = None) -> Axis:
    """An axis that holds every value that can be placed.

    >>> [words for _, words in make_axis([1, 2, 4], 300, Wish(sizes=[1, 2, 4])).ticks]
    ['1', '2', '4']
    """
    wish = wish or Wish()
    known = [float(v) for v in values]
    known = [v for v in known if math.isfinite(v) and (v > 0 or not wish.log)] or [1.0]
    whole = all(v == round(v) for v in known)
    if wish.share and not wish.log and min(known) >= 0 and max(known) <= 1:
        low, high = 0.0, 1.0
    else:
        low, high = _limits(min(known), max(known), wish)
    spread = Axis(low, high, wish.log, length, ())
    ticks = _sizes_tried(spread, wish) or (
        _decades(low, high, length, wish.upright)
        if wish.log
        else _steps(low, high, length, whole, wish)
    )
    if wish.upright and not wish.log and len(ticks) > 1:
        # The axis ends at ticks, so that no point lies beyond the last line of the grid.
        step = ticks[1] - ticks[0]
        low = min(low, ticks[0] - step if ticks[0] - low > 1e-9 * step else ticks[0])
        high = max(high, ticks[-1])
    words = _written(ticks, wish)
    axis = Axis(low, high, wish.log, length, tuple(zip(ticks, words, strict=True)))
    return axis._replace(ticks=_apart(axis, wish.upright))


def _limits(low: float, high: float, wish: Wish) -> tuple[float, float]:
    if wish.log:
        a, b = math.log10(low), math.log10(high)
        room = max((wish.margin or 0.06) * (b - a), 0.15 if b == a else 0.04)
        return 10 ** (a - room), 10 ** (b + room)
    if low == high:
        return (
            (low - 1, high + 1) if wish.margin else (min(0.0, 1.5 * low), max(0.0, 1.5 * high, 1))
        )
    # An axis that nearly reaches zero begins there: a flat line then looks flat.
    if wish.upright and low >= 0 and low < 0.6 * high:
        low = 0.0
    room = (wish.margin or 0.04) * (high - low)
    return (low if low == 0 and wish.upright else low - room), high + room


def _scaled(value: float, log: bool) -> float:
    return math.log10(value) if log else value


def _sizes_tried(axis: Axis, wish: Wish) -> list[float]:
    """The sizes themselves, if they are few and their ticks have room."""
    sizes = sorted({float(size) for size in wish.sizes if axis.holds(size)})
    if not 1 <= len(sizes) <= FEW or any(size != round(size) for size in sizes):
        return []
    words = [short(size) for size in sizes]
    places = [axis.at(size) for size in sizes]
    gaps = zip(places, places[1:], words, words[1:], strict=False)
    fits = all(b - a > (_width(s) + _width(t)) / 2 + 4 for a, b, s, t in gaps)
    return sizes if fits else []


def _steps(low: float, high: float, length: float, whole: bool, wish: Wish) -> list[float]:
    """Round numbers between low and high; whole ones for whole numbers."""
    if wish.share:
        return [0.0, 0.25, 0.5, 0.75, 1.0]
    wanted = max(2, length / (42 if wish.upright else 62))
    size = (high - low) / wanted
    power = 10 ** math.floor(math.log10(size))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= size * 0.999)
    if whole:
        step = max(1, math.ceil(step) if step < 2 or step == 2.5 else round(step))
    first = math.ceil(low / step - 1e-9)
    found = [step * k for k in range(first, math.floor(high / step + 1e-9) + 1)]
    if len(found) > 1 or (whole and step == 1):
        return found
    return _steps(low, high, 1.5 * length, whole, wish)


def _decades(low: float, high: float, length: float, upright: bool) -> list[float]:
    a, b = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    room = max(2, int(length / (26 if upright else 44)))
    if b - a >= 1:
        step = max(1, math.ceil((b - a) / room))
        return [10.0**k for k in range(a, b + 1) if k % step == 0]
    steps = [s * 10.0**k for k in range(a - 1, b + 1) for s in (1, 2, 5)]
    inside = [s for s in steps if low <= s <= high]
    return inside if len(inside) > 2 else _steps(low, high, length, False, Wish(upright=upright))


def _written(ticks: Sequence[float], wish: Wish) -> list[str]:
    if wish.share:
        return [f"{100 * tick:g} %" if tick else "0" for tick in ticks]
    if wish.log and all(is_decade(tick) for tick in ticks):
        plain = all(0.01 <= tick <= 1000 for tick in ticks)
        return [short(tick) if plain else power_of_ten(tick) for tick in ticks]
    return [short(tick) for tick in ticks]


def _apart(axis: Axis, upright: bool) -> tuple[tuple[float, str], ...]:
    """Ticks of which every second, third, … is left out until none touches the next."""
    for keep in range(1, max(2, len(axis.ticks)) + 1):
        kept = axis.ticks[::keep]
        places = [axis.at(value) for value, _ in kept]
        needs = [15.0 if upright else _width(words) + 6 for _, words in kept]
        gaps = zip(places, places[1:], needs, needs[1:], strict=False)
        if all(b - a >= (p + q) / 2 for a, b, p, q in gaps):
            return kept
    return axis.ticks[:1]


def _width(words: str) -> float:
    return 11 * LETTER * len(words)


def is_decade(value: float) -> bool:
    return value > 0 and abs(math.log10(value) - round(math.log10(value))) < 1e-9


def power_of_ten(value: float) -> str:
    """10⁻³ for 0.001."""
    return "10" + str(round(math.log10(value))).translate(_SUPERSCRIPTS)


def short(value: float) -> str:
    """A tick for people: 64, 1,024, 66k, 10⁻⁵, 0.25.

    >>> [short(v) for v in (64, 1024, 65536, 1e6, 1e-5, 0.25, -2.0)]
    ['64', '1,024', '66k', '1M', '10⁻⁵', '0.25', '−2']
    """
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if size and (size >= 1e9 or size < 1e-3):
        exponent = math.floor(math.log10(size))
        factor = float(f"{size / 10.0**exponent:.2g}")
        head = "" if factor == 1 else f"{factor:g}·"
        text = head + "10" + str(exponent).translate(_SUPERSCRIPTS)
    elif size >= 1e4:
        unit, name = (1e6, "M") if size >= 1e6 else (1e3, "k")
        text = f"{size / unit:.3g}{name}" if size < 10 * unit else f"{size / unit:.0f}{name}"
    else:
        text = f"{size:,.0f}" if size == round(size) else f"{float(f'{size:.4g}'):g}"
    return f"−{text}" if value < 0 else text


def numbers(values: Iterable[float]) -> np.ndarray:
    """Values as floats; what is no number is refused by numpy's own words."""
    return np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=float)
