"""Exponents and indices of a sentence are raised and lowered; all else stays the text it was."""

import re
import xml.etree.ElementTree as ET

import pytest
from tests.report.rows import HOSTILE, kept_rows
from tests.test_docs import docs_module

from paritylab.report.words import typeset


@pytest.mark.parametrize(
    ("formula", "made"),
    [
        ("n^2.5", "n<sup>2.5</sup>"),
        ("e^(-Ω(n^ν)), x", "e<sup>-Ω(n<sup>ν</sup>)</sup>, x"),
        ("2^⌈(n-1)/m⌉", "2<sup>⌈(n-1)/m⌉</sup>"),
        ("Σ_{j<p} γ_pγ_j", "Σ<sub>j&lt;p</sub> γ<sub>p</sub>γ<sub>j</sub>"),
        ("‖w_0‖_∞", "‖w<sub>0</sub>‖<sub>∞</sub>"),
        ("first_run of 3.5 h, x ^ y, a^", "first_run of 3.5 h, x ^ y, a^"),
    ],
)
def test_a_formula_is_what_it_says(formula, made):
    assert typeset(formula) == made


def test_hostile_text_is_escaped():
    made = typeset(f"n = {HOSTILE} x^{HOSTILE} x^({HOSTILE})")
    assert not re.search("<(script|img|svg)", made)
    assert "{{7*7}}" in made


def test_every_statement_is_well_formed_and_keeps_its_letters():
    raised = 0
    for row in kept_rows():
        for text in (row["title"], row["statement"], row["instead"] or ""):
            made = str(typeset(text))
            raised += made.count("<sup>")
            whole = "".join(ET.fromstring(f"<p>{made}</p>").itertext())
            plain = re.sub(r"[(){}^]|(?<![A-Za-z\d]{2})_", "", text)
            assert re.sub(r"[(){}]", "", whole) == plain, row["id"]
    assert raised > 50


def test_the_site_typesets_prose_and_leaves_code_alone():
    page = "<title>x^1</title><article><p>x^1 &lt; <code>x^2</code></p></article><p>x^3"
    made = docs_module("website").with_formulas(page)
    assert made == page.replace("<p>x^1 &lt; ", "<p>x<sup>1</sup> &lt; ")
