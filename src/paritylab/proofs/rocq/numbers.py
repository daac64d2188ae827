"""Numbers of certificates as Rocq writes them."""

from fractions import Fraction
from typing import Any


def real(value: int | Fraction) -> str:
    """A rational as a real number: (3 / 8), (-4 / 5), 2."""
    if isinstance(value, int):
        return str(value) if value >= 0 else f"({value})"
    return f"({value.numerator} / {value.denominator})"


def rational(value: int | Fraction) -> str:
    """The same as a number of type Q."""
    fraction = Fraction(value)
    return f"({fraction.numerator} # {fraction.denominator})"


def ones(bits: list[int]) -> str:
    """A string of bits as the list of positions whose bit is 1."""
    return listed(j for j, bit in enumerate(bits) if bit) + "%nat"


def listed(entries: Any) -> str:
    """A list: [1; 2; 3]."""
    return "[" + "; ".join(str(entry) for entry in entries) + "]"


def enclosing(ball: Any, digits: int = 9) -> tuple[str, str]:
    """Two decimals around a ball of python-flint, as reals; only Rocq decides if they serve."""
    scale = 10**digits
    low = int((ball.lower() * scale).floor().unique_fmpz()) - 1
    high = int((ball.upper() * scale).ceil().unique_fmpz()) + 1
    return real(Fraction(low, scale)), real(Fraction(high, scale))
