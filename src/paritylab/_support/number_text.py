"""Numbers as people read them."""

import math

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def short(value: float, most: float = 1e7) -> str:
    """A number for people: three digits that matter, powers of ten written as such.

    most: from here on numbers are written with a power of ten.

    >>> [short(v) for v in (64, 1024, 65536, 1e6, 1e-5, 0.25, -2.0, 3e12)]
    ['64', '1,024', '65,536', '1,000,000', '10⁻⁵', '0.25', '−2', '3·10¹²']
    """
    rounded, sign = float(f"{abs(value):.3g}"), "−" if value < 0 else ""
    if not rounded:
        return "0"
    if not 1e-3 <= rounded < most:
        factor, power = f"{rounded:.2e}".split("e")
        raised = "10" + str(int(power)).translate(SUPERSCRIPTS)
        return sign + (raised if float(factor) == 1 else f"{float(factor):g}·{raised}")
    return sign + (f"{round(abs(value)):,}" if rounded >= 1000 else f"{rounded:g}")


def number_text(value: float) -> str:
    """A count in full, another number with three digits that matter.

    >>> [number_text(v) for v in (-12345, 0.126589, 4e-14, math.inf)]
    ['−12,345', '0.127', '4·10⁻¹⁴', 'inf']
    """
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    return short(value) if math.isfinite(value) else str(value)
