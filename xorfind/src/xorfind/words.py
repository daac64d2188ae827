"""Words and numbers as people read them, and names made safe to show."""

import math
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from xorfind.untrusted import printable

#: Pairs of words for false and true, without regard to case; the first of a pair is false.
PAIRS = (
    ("0", "1"),
    ("-1", "1"),
    ("-1", "+1"),
    ("false", "true"),
    ("no", "yes"),
    ("f", "t"),
    ("n", "y"),
    ("off", "on"),
    ("absent", "present"),
    ("negative", "positive"),
    ("-", "+"),
)
_WORDS = {word for pair in PAIRS for word in pair}
#: Cells that say that nothing is known, without regard to case.
MISSING = {"", "na", "n/a", "nan", "null", "none", "<na>"}

_LONGEST_NAME = 60
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def shown(text: str, most: int = _LONGEST_NAME) -> str:
    """A name or cell as it may be printed: control and invisible characters escaped, cut if long.

    >>> shown("age\\x1b[31m")
    'age\\\\x1b[31m'
    """
    safe = printable(text[: 4 * most])
    return safe if len(safe) <= most else safe[: most - 1] + "…"


def spreadsheet_safe(cell: str) -> str:
    """A cell that no spreadsheet runs as a formula; numbers stay as they are.

    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-1.5")
    ("'=1+1", '-1.5')
    """
    if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not re.fullmatch(
        r"[+-](\d+\.?\d*|\.\d+|inf)?(e[+-]?\d+)?", cell, re.IGNORECASE
    ):
        return "'" + cell
    return cell


def canonical(cell: str) -> str | None:
    """A level without spaces around it and, for words such as Yes, without case; None: missing."""
    cell = cell.strip()
    folded = cell.casefold()
    if folded in MISSING:
        return None
    return folded if folded in _WORDS else cell


def ordered(levels: Iterable[str]) -> tuple[str, ...]:
    """At most two levels, the false one first: by the known pairs, by size, or by alphabet.

    >>> ordered({"yes", "no"}), ordered({"10", "9"}), ordered({"male", "female"})
    (('no', 'yes'), ('9', '10'), ('female', 'male'))
    """
    found = sorted(levels)
    for pair in PAIRS:
        if set(pair) == set(found):
            return pair
    try:
        return tuple(sorted(found, key=float))
    except ValueError:
        return tuple(found)


def is_plain(false: str, true: str) -> bool:
    """Whether the levels are words for false and true, so that a column's name says enough."""
    return (false, true) in PAIRS


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names with commas, made safe; the rest counted."""
    names = list(names)
    text = ", ".join(shown(name) for name in names[:most])
    return f"{text} and {len(names) - most:,} more" if len(names) > most else text


def nearest(name: str, names: Sequence[str]) -> str:
    """What to say of a name that is none of these: the one that was probably meant, and some.

    >>> nearest("Label", ["c0", "label"])
    '; did you mean label? The table has c0, label'
    """
    lower = {each.lower(): each for each in reversed(names)}
    close = get_close_matches(name.lower(), list(lower), 1)
    meant = f"did you mean {shown(lower[close[0]])}? The" if close else "the"
    return f"; {meant} table has {listed(names)}"


def counted(number: int, singular: str, plural: str = "") -> str:
    """ "1 row", "4,000 rows"."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def chance(probability: float) -> str:
    """A small probability as text.

    >>> chance(0.034), chance(3.1e-41), chance(0.0)
    ('0.034', '3·10⁻⁴¹', 'below 10⁻³⁰⁰')
    """
    if probability < 1e-300:
        return "below 10⁻³⁰⁰"
    if probability >= 0.001:
        return f"{min(probability, 1.0):.2g}"
    power = math.floor(math.log10(probability))
    lead = round(probability / 10.0**power)
    if lead == 10:
        lead, power = 1, power + 1
    return f"{lead}·10{str(power).translate(_SUPERSCRIPTS)}"


def duration(seconds: float) -> str:
    """Seconds, or minutes and seconds."""
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
