"""What the letters of a statement mean, so that a verdict can be read on its own."""

import re
from collections.abc import Mapping
from typing import Any

#: Letters that mean the same in every claim; docs/notation.md has the papers' own.
EVERYWHERE = {
    "n": "number of bits",
    "k": "size of the hidden set",
    "B": "the hidden set of positions",
    "N": "number of rows",
    "τ": "temperature (small is sharp)",
    "tau": "temperature (small is sharp)",
    "η": "step size",
    "y": "the label, +1 or -1",
    "ŷ": "the prediction",
    "x": "an input, x_j its bits",
    "s": "attended sum: bits times attention, added over heads",
    "L": "the risk, a mean over all inputs",
    "L*": "the risk that hard heads on B leave",
    "gain": "step size in units that raise the pair's score by 1",
}
_STEP = {"m": "numbers in the code of a position", "w": "a head, the numbers trained"}
_CHAIN = {
    "M": "number of tokens a node can see",
    "W": "the scores, trained",
    "φ": "the link, from the mean of two signs to their product",
    "link": "from the mean of two signs to their product",
}
#: Letters of one paper; our own statements are about the models of all three.
OF_PAPER = {
    "hg1": {
        "b": "smoothing, ReLU becomes (x + √(x² + b))/2",
        "m": "number of heads",
        "γ": "a head's attention, γ_j at position j",
        "α": "output weights of the net",
        "β": "hidden weights of the net",
        "a₁₃": "trained with a₁₄: a head's direction on the circle",
        "ℓ": "the loss of one input",
        "l₁": "Lipschitz constant of ŷ",
        "l₂": "Lipschitz constant of ŷ·∇ŷ",
    },
    "hg2": _STEP,
    "ks": {**_CHAIN, "p": "a target, the parity of a set", "f": "the model's prediction"},
    "lab": {**_CHAIN, **_STEP, "b": "smoothing, ReLU becomes (x + √(x² + b))/2"},
}


def meanings(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Symbols that statement, correction and comparisons of a row use, each with its meaning.

    >>> meanings({"paper": "hg1", "statement": "Heads on B have risk 0 for every b > 0."})
    [('B', 'the hidden set of positions'), ('b', 'smoothing, ReLU becomes (x + √(x² + b))/2')]
    """
    labels = [each["label"] for each in row.get("comparisons") or ()]
    parts = [row.get("title"), row["statement"], row.get("finding"), row.get("instead"), *labels]
    text = " ".join(str(part) for part in parts if part)
    known = {**EVERYWHERE, **OF_PAPER.get(row["paper"], {})}
    if "tau" in text:
        known.pop("τ")
    return [(symbol, meaning) for symbol, meaning in known.items() if _stands_in(symbol, text)]


def _stands_in(symbol: str, text: str) -> bool:
    """Whether the symbol is in the text as itself: no part of a word, no unit after a number.

    Factors and indices count: n and m are in 2m/n, γ is in γ_p.
    """
    letter = len(symbol) == 1 and symbol.isascii()
    before = r"(?<![A-Za-z'’_])(?<!\d )" if symbol.isascii() else ""
    after = r"(?![A-Za-z'’])" if letter or symbol.isascii() else ""
    star = r"(?!\*)" if letter else ""
    return re.search(before + re.escape(symbol) + after + star, text) is not None
