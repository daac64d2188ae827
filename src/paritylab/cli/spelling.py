"""Letters that a stream cannot carry, spelled in ASCII: γ as gamma, ≤ as <=, a₁₃ as a_13."""

import codecs
import unicodedata
from itertools import groupby
from typing import Any

#: The error handler for `str.encode` and for streams.
HANDLER = "paritylab.spelled"
_SYMBOLS = dict(
    pair.split(maxsplit=1)
    for line in (
        "≤ <=; ≥ >=; ≠ !=; ≈ ~; − -; · *; × x; ± +/-; ∞ inf; √ sqrt; ∂ d; ∇ grad; Σ sum; Π prod",
        "½ 1/2; ∈ in; ∉ not in; ∪ union; ∩ and; ∖ \\; ∘ o; ⊕ xor; ‖ ||; ⟨ <; ⟩ >; ⌈ ceil(; ⌉ )",
        "⌊ floor(; ⌋ ); → ->; ← <-; ↦ ->; … ...; – -; — --; ‘ '; ’ '; “ \"; ” \"; ŷ yhat; ℓ l",
        "∎ QED; ⁄ /; ✓ yes; ✕ no",
    )
    for pair in line.split("; ")
)
_RAISED = {"<super>": "^", "<sub>": "_"}


def spelled(text: str, encoding: str | None) -> str:
    """Text as a stream of this encoding can show it.

    >>> spelled("‖∇L‖² ≤ 10⁻¹² at γ = a₁₃", "ascii")
    '||gradL||^2 <= 10^-12 at gamma = a_13'
    >>> spelled("‖∇L‖² ≤ 10⁻¹² at γ = a₁₃", "utf-8")
    '‖∇L‖² ≤ 10⁻¹² at γ = a₁₃'
    """
    encoding = encoding or "utf-8"
    return text.encode(encoding, HANDLER).decode(encoding)


def use_for(stream: Any) -> None:
    """Let a stream spell what its encoding does not have, where it would break or print "?"."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors=HANDLER)


def _spell(error: UnicodeError) -> tuple[str, int]:
    """What stands for the letters that one call of encode could not carry."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    runs = (("".join(run), place) for place, run in groupby(letters, key=_place))
    return "".join(place + "".join(map(_in_ascii, run)) for run, place in runs), error.end


def _place(letter: str) -> str:
    """The sign before a raised or lowered letter, "" for one on the line."""
    return _RAISED.get(unicodedata.decomposition(letter).partition(" ")[0], "")


def _in_ascii(letter: str) -> str:
    if letter in _SYMBOLS:
        return _SYMBOLS[letter]
    name = unicodedata.name(letter, "")
    if name.startswith("GREEK ") and " LETTER " in name:
        word = name.split(" LETTER ")[1].split(" WITH ")[0].split()[-1]
        return word.capitalize() if " CAPITAL " in name else word.lower()
    parts = [part for part in unicodedata.normalize("NFKD", letter) if part != letter]
    plain = "".join(part if part.isascii() else _SYMBOLS.get(part, "") for part in parts)
    return plain or "?"


codecs.register_error(HANDLER, _spell)
