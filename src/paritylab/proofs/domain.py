"""Where a witness may lie: each statement says it for every number that it takes from a file.

A domain is a function of a value that returns nothing if the value lies in it, and otherwise says
what was expected. Numbers are already exact here: integers and fractions, in lists. A witness
outside its domain is refused before anything is computed with it, so that no inequality is shown
about a bit that is 7, a norm that is negative or an index that counts from the end; and sizes that
decide how long a proof takes (cuts, arcs) are bounded, so that every proof ends.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

Domain = Callable[[Any], str]

#: Bits of the numerator and of the denominator of a number, at most.
LONGEST = 800


def _among(words: str, kinds: Any, fits: Callable[[Any], bool]) -> Domain:
    def outside(value: Any) -> str:
        known = isinstance(value, kinds) and not isinstance(value, bool)
        return "" if known and fits(value) else words

    return outside


def whole(low: int, high: int) -> Domain:
    """Integers from low to high, both included."""
    return _among(f"a whole number from {low} to {high}", int, lambda v: low <= v <= high)


def between(low: Any, high: Any) -> Domain:
    """Integers and fractions strictly between low and high."""
    words = f"a number above {low} and below {high}"
    return _among(words, int | Fraction, lambda v: low < v < high)


def positive(below: Any) -> Domain:
    """Norms, scales, smoothings: above 0 and below a bound."""
    return between(0, below)


def from_to(low: Any, high: Any) -> Domain:
    """Integers and fractions from low to high, both included."""
    return _among(f"a number from {low} to {high}", int | Fraction, lambda v: low <= v <= high)


def row(*domains: Domain) -> Domain:
    """A list with one entry in each of these domains, in order."""

    def outside(value: Any) -> str:
        if not isinstance(value, list) or len(value) != len(domains):
            return f"a list of length {len(domains)}"
        for at, (domain, entry) in enumerate(zip(domains, value, strict=True)):
            if said := domain(entry):
                return f"{said} at place {at}"
        return ""

    return outside


def rows(count: int, domain: Domain) -> Domain:
    """A list of so many entries of one domain."""
    return row(*[domain] * count)


def bits(count: int) -> Domain:
    """A string of bits."""
    return rows(count, whole(0, 1))


def refuse_outside(domains: Mapping[str, Domain], witness: Any) -> None:
    """ValueError in one line for the first entry that is missing, not asked for or outside."""
    if not isinstance(witness, dict) or set(witness) != set(domains):
        raise ValueError(f"the witness must have {sorted(domains)} and nothing else")
    for name, domain in domains.items():
        if said := domain(witness[name]):
            raise ValueError(f"{name} must be {said}, got {shortened(witness[name])}")


def shortened(value: Any) -> str:
    """A value for one line of text: whatever is long is cut."""
    written = str(value)
    return written if len(written) <= 60 else f"{written[:57]}..."
