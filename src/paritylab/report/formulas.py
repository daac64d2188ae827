"""Formulas in plain notation, as docstrings and statements have them, made into MathML.

Text such as "risk at least (1 - 2m/2^⌈(n-1)/5m⌉)²" is written once and stays readable in a terminal
and in help(). `typeset` finds the formulas in a sentence and makes MathML of them, which browsers
show without a script or a font from elsewhere. What it does not understand stays the text it was.

The notation: ^ raises and _ lowers a letter, a number or what is in brackets after it; ², ₁ and '
do the same; √ covers what follows; brackets and bars come in pairs. Fractions keep their stroke,
as is usual within a line.
"""

import re
from collections.abc import Iterator
from html import escape

from markupsafe import Markup

_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789−+", strict=True))
_SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉₋₊", "0123456789−+", strict=True))
_PAIRS = {"(": ")", "[": "]", "{": "}", "⌈": "⌉", "⌊": "⌋", "‖": "‖", "|": "|"}
_SIGNS = "=≤≥<>≈~≠→∈∉⊂∘+-−·×/:…±,;!∞"
#: Words inside formulas, and how they are written there.
_WORDS = {word: word for word in ("sin", "cos", "tan", "ln", "log", "exp", "max", "min", "Cov")}
_WORDS |= {"log2": "log₂", "tau": "τ", "eta": "η"}
_WORD = f"(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})(?![A-Za-z])"
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?"
_MARK = "[\u0300-\u036f]?"
#: Letters that are read as variables where they are alone in a sentence.
_ALONE = set("bcdfgjprtvwznkmNBMLTWqxyŷℓτηεβγαρφκμνσωδλ")
#: A formula of more letters may be broken at the end of a line.
LONG = 24

# ---- one formula


class _Reader:
    """Reads a formula from left to right; each method returns MathML and moves on."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def taken(self, pattern: str) -> str:
        """What matches here, "" if nothing does."""
        found = re.compile(pattern).match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def row(self, end: str = "") -> str:
        """Terms up to a closing sign, or up to the end of the text."""
        parts = []
        while self.peek() != end:
            if not self.peek():
                raise ValueError("a bracket is not closed")
            if not self.taken(r"\s+"):
                parts.append(self.term())
        return "".join(parts)

    def term(self) -> str:
        """A letter, number, bracket or root with what is above and below it."""
        base, low, high = self.atom(), "", ""
        while sign := self.peek():
            if sign in "^_":
                self.at += 1
                high, low = (self.group(), low) if sign == "^" else (high, self.group())
            elif sign in _SUPER:
                high += self.small(_SUPER)
            elif sign in _SUB:
                low += self.small(_SUB)
            elif primes := self.taken(r"'+"):
                high += "<mo>′</mo>" * len(primes)
            elif self.taken(r"\*(?![A-Za-z0-9])"):
                high += "<mo>∗</mo>"
            else:
                break
        if low and high:
            return f"<msubsup>{base}<mrow>{low}</mrow><mrow>{high}</mrow></msubsup>"
        tag = "msub" if low else "msup"
        return f"<{tag}>{base}<mrow>{low or high}</mrow></{tag}>" if low or high else base

    def small(self, digits: dict[str, str]) -> str:
        """Raised or lowered digits that are letters of their own."""
        found = self.taken(f"[{''.join(digits)}]+")
        return f"<mn>{''.join(map(digits.__getitem__, found))}</mn>"

    def group(self) -> str:
        """What ^ or _ applies to: what is in brackets, a signed number, letters, or one atom."""
        if opened := self.taken(r"[{(]"):
            inner = self.row(_PAIRS[opened])
            self.at += 1
            return inner
        if sign := self.taken(r"[-−±]"):
            return f"<mo>{sign.replace('-', '−')}</mo>{self.atom()}"
        letters = self.taken(r"[A-Za-z]{2,3}(?![\w(])")
        return f"<mi>{letters}</mi>" if letters else self.atom()

    def atom(self) -> str:
        """A number, a word, a letter, or what a sign begins."""
        if number := self.taken(_NUMBER):
            factor, _, power = number.partition("e")
            front = "" if factor == "1" else f"<mn>{factor}</mn><mo>·</mo>"
            tens = f"<msup><mn>10</mn><mn>{power.lstrip('+').replace('-', '−')}</mn></msup>"
            return f"<mrow>{front}{tens}</mrow>" if power else f"<mn>{number}</mn>"
        if word := self.taken(_WORD):
            close = word in ("tau", "eta") or self.peek() == "("
            return f"<mi>{_WORDS[word]}</mi>" + ("" if close else '<mspace width="0.17em"/>')
        if letter := self.taken(rf"[^\W\d_]{_MARK}|[∂∇½¼¾]"):
            return f"<mi>{letter}</mi>"
        return self.sign(self.taken(r"\S"))

    def sign(self, sign: str) -> str:
        """A root, a bracket with what is in it, or an operator."""
        if sign == "√":
            return f"<msqrt>{self.group() if self.peek() == '(' else self.term()}</msqrt>"
        if sign in _PAIRS:
            inner = self.row(_PAIRS[sign])
            self.at += 1
            return f"<mrow><mo>{sign}</mo>{inner}<mo>{_PAIRS[sign]}</mo></mrow>"
        if not sign or sign not in _SIGNS:
            raise ValueError(f"{sign!r} is not read")
        return f"<mo>{escape(sign.replace('-', '−'))}</mo>"


def mathml(formula: str) -> str:
    """MathML of one formula; a ValueError if it is not understood.

    >>> mathml("2^n")
    '<math><msup><mn>2</mn><mrow><mi>n</mi></mrow></msup></math>'
    """
    return f"<math>{_Reader(formula).row()}</math>"


# ---- formulas in a sentence

#: A word of a formula: numbers, single Latin letters, Greek ones, indices, signs, brackets.
_FORMULA_WORD = re.compile(
    rf"(?:{_NUMBER}|{_WORD}|(?<![A-Za-z])[A-Za-z]{_MARK}(?![A-Za-z0-9])|[α-ωΔΘΛΞΠΣΦΨΩŷÕℓ]{_MARK}"
    rf"|_[A-Za-z]{{1,3}}(?![A-Za-z])|'(?![A-Za-z])|[\s_^√∂∇½¼¾*‖|⌈⌉⌊⌋()\[\]{{}}]"
    rf"|[{re.escape(_SIGNS)}{''.join(_SUPER)}{''.join(_SUB)}])+"
)
#: A formula and the end of a word, as in k-parity.
_HYPHENED = re.compile(rf"(.*?[^\s-])(-(?!{_WORD})[A-Z]?[a-z]{{2,}}.*)", re.DOTALL)


def typeset(text: str) -> Markup:
    """A sentence, escaped, with its formulas as MathML.

    >>> str(typeset("at n = 8 & more"))
    'at <math><mi>n</mi><mo>=</mo><mn>8</mn></math> &amp; more'
    """
    return Markup("".join(_pieces(str(text))))


def _pieces(text: str) -> Iterator[str]:
    """Words one after the other; those of a formula are gathered until it ends."""
    formula = ""
    for part in re.split(r"(\s+)(?![^{}]*\})", text):  # a set in braces is one word
        if formula and part.isspace():
            formula += part
            continue
        core, tail = _trimmed(part)
        if formula and not (core and _goes_on(formula, core)):
            yield _made(formula)
            formula = ""
        formula += core
        if tail in (",", ";") and _open(formula) > 0:
            formula += tail
        elif tail:
            yield _made(formula) + escape(tail, quote=False)
            formula = ""
    yield _made(formula)


def _trimmed(word: str) -> tuple[str, str]:
    """A word as the formula it begins with, if it does, and what is after it."""
    found = _HYPHENED.fullmatch(word)
    core, tail = (found[1], found[2]) if found else (word, "")
    bare = core.rstrip(".,;:!?")
    core, tail = bare, core[len(bare) :] + tail
    return (core, tail) if core.strip() and _FORMULA_WORD.fullmatch(core) else ("", word)


def _goes_on(before: str, core: str) -> bool:
    """Whether a word continues the formula before it: inside a bracket, after or with a sign."""
    return (
        _open(before) > 0
        or before.rstrip()[-1] in _SIGNS
        or core[0] in _SIGNS + "√ΣΠ"
        or re.search(rf"(?:\b|\d)(?!tau|eta){_WORD}\s*$|(?:^|\s)[ΣΠ]\S*\s*$", before) is not None
        or re.match(_WORD, core) is not None
    )


def _open(text: str) -> int:
    """How many brackets are opened and not closed."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _made(text: str) -> str:
    """Gathered words as MathML, or as the text they are if they are no formula.

    A bracket that belongs to the sentence, and a sign at either end, stay outside.
    """
    start, end = 0, len(text)
    while start < end:
        inner = text[start:end]
        if (_open(inner) > 0 and inner[0] in "([{") or inner[0] in " =<>→,;:/+·×":
            start += 1
        elif (_open(inner) < 0 and inner[-1] in ")]}") or inner[-1] in " =<>≤≥→,;:/+-−·×~":
            end -= 1
        else:
            break
    inner = text[start:end]
    try:
        formula = _breakable(inner) if _is_formula(inner) else escape(inner, quote=False)
    except ValueError:
        formula = escape(inner, quote=False)
    return escape(text[:start], quote=False) + formula + escape(text[end:], quote=False)


def _is_formula(text: str) -> bool:
    """Whether it has a letter, and more than a letter that may be a word or a unit."""
    return text in _ALONE or (len(text) > 1 and re.search(r"[^\W\d_]|[∂∇]", text) is not None)


def _breakable(formula: str) -> str:
    """MathML that a narrow page can break before a sign outside brackets; browsers do not."""
    parts = [""]
    for word in re.split(r"(?<=\S)(?=\s+[=≤≥<>≈+−-]\s)", formula):
        whole = _open(parts[-1]) <= 0 and parts[-1].count("|") % 2 == parts[-1].count("‖") % 2 == 0
        if len(formula) > LONG and parts[-1] and whole:
            parts.append("")
        parts[-1] += word
    return " ".join(map(mathml, parts))
