"""Checks of public arguments, each with a one-line error."""

import numbers
from typing import Any

#: Letters of a value that an error shows.
_MOST = 200


def shortened(value: object) -> str:
    """A value in one short line, for errors; an array would take many.

    >>> shortened([1, 2]), len(shortened("x" * 1000))
    ('[1, 2]', 200)
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"


def whole(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """A whole number in these bounds as an int, or one clear error."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name} must be a whole number, got {shortened(value)}")
    number = int(value)
    if least is not None and number < least:
        raise ValueError(f"{name} must be at least {least}, got {shortened(value)}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, got {shortened(value)}")
    return number


def check_kind(name: str, value: object, kinds: Any, wanted: str) -> None:
    """One clear error for a value of another kind. kinds: as for isinstance. wanted: in words."""
    if not isinstance(value, kinds):
        raise ValueError(f"{name} must be {wanted}, got {shortened(value)}")
