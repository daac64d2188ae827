"""Formulas in sentences become MathML; everything else stays the text it was."""

import re
import xml.etree.ElementTree as ET

import pytest
from tests.report.rows import HOSTILE, kept_rows
from tests.test_docs import docs_module

from paritylab.report.formulas import mathml, typeset


@pytest.mark.parametrize(
    ("formula", "inside"),
    [
        ("n^2.5", "<msup><mi>n</mi><mrow><mn>2.5</mn></mrow></msup>"),
        ("e^(-Ω(n))", "<msup><mi>e</mi><mrow><mo>−</mo><mi>Ω</mi>"),
        ("Σ_{j≠p}", "<msub><mi>Σ</mi><mrow><mi>j</mi><mo>≠</mo><mi>p</mi></mrow></msub>"),
        ("‖∇L‖²", "<msup><mrow><mo>‖</mo><mi>∇</mi><mi>L</mi><mo>‖</mo></mrow>"),
        ("√(z²+b)", "<msqrt><msup><mi>z</mi>"),
        ("v*₁", "<msubsup><mi>v</mi><mrow><mn>1</mn></mrow><mrow><mo>∗</mo></mrow></msubsup>"),
        ("1e-4·tau", "<msup><mn>10</mn><mn>−4</mn></msup></mrow><mo>·</mo><mi>τ</mi>"),
        ("x < y", "<mo>&lt;</mo>"),
    ],
)
def test_a_formula_is_what_it_says(formula, inside):
    made = mathml(formula)
    assert inside in made
    ET.fromstring(made)


@pytest.mark.parametrize("formula", ["(n", "n^", "a $ b", "|x", "√"])
def test_what_is_not_understood_stays_text(formula):
    with pytest.raises(ValueError, match="not"):
        mathml(formula)
    assert re.sub("<[^>]*>", "", typeset(f"see {formula} here")) == f"see {formula} here"


def test_formulas_of_a_sentence_are_found_and_prose_stays_prose():
    for text in (
        "It takes 9 s, 50 % of 3.5 h, on a machine with C++ or Python 3.12.",
        "k's own, e.g. L-BFGS, x64, float32, first_run, docs/a.md, I, A and a.",
        "Between 1 and 2 - or 3/4 - of 1,000 runs.",
    ):
        assert typeset(text) == text
    made = typeset("For k-parity (n = 8, k = 3) the risk is at least (1 - 2m/n)², B = {1, 4}.")
    assert made.count("<math>") == 4
    assert made.endswith("</math>.")
    assert "-parity" in re.sub(r"<math>.*?</math>", "", made)
    assert "<mi>τ</mi><mn>1</mn>" not in typeset("(smoothing 0.07, tau 1, step 2)")


def test_hostile_text_is_escaped():
    made = typeset(f"n = {HOSTILE} x^{HOSTILE}")
    assert not re.search("<(script|img|svg)", made)
    assert "{{7*7}}" in made


#: What a formula writes in another letter, and what it says by its place.
SAME = str.maketrans("−∗′₀₁₂₃₄₊₋⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "-*'01234+-0123456789-")


def letters(text):
    plain = text.translate(SAME).replace("τ", "tau").replace("η", "eta")
    return re.sub(r"[\s^_{}()√]|(?<=[\d.])e(?=[+-]?\d)|10(?=-?\d)", "", plain)


def test_every_statement_is_well_formed_and_keeps_its_letters():
    count = 0
    for row in kept_rows():
        for text in (row["title"], row["statement"], row["instead"] or ""):
            made = str(typeset(text))
            count += made.count("<math>")
            whole = "".join(ET.fromstring(f"<p>{made}</p>").itertext())
            if not re.search(r"\de-?\d", text):
                assert letters(whole) == letters(text), row["id"]
    assert count > 800


def test_the_site_typesets_prose_and_leaves_code_alone():
    page = "<title>n = 1</title><article><p>n = 1 &lt; <code>n = 2</code></p></article><p>n = 3"
    formula = "<p><math><mi>n</mi><mo>=</mo><mn>1</mn></math> &lt; "
    made = docs_module("website").with_formulas(page)
    assert made == page.replace("<p>n = 1 &lt; ", formula)
