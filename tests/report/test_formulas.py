"""Formulas in sentences become MathML; everything else stays the text it was."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from tests.report.rows import HOSTILE, KEPT

from paritylab.report.formulas import mathml, typeset

WRITTEN = re.compile(r"<math>.*?</math>")


@pytest.mark.parametrize(
    ("formula", "inside"),
    [
        ("n^2.5", "<msup><mi>n</mi><mrow><mn>2.5</mn></mrow></msup>"),
        ("2^-n", "<msup><mn>2</mn><mrow><mo>−</mo><mi>n</mi></mrow></msup>"),
        ("e^(-Ω(n))", "<msup><mi>e</mi><mrow><mo>−</mo><mi>Ω</mi>"),
        ("Σ_{j≠p}", "<msub><mi>Σ</mi><mrow><mi>j</mi><mo>≠</mo><mi>p</mi></mrow></msub>"),
        ("‖∇L‖²", "<msup><mrow><mo>‖</mo><mi>∇</mi><mi>L</mi><mo>‖</mo></mrow>"),
        ("√(z²+b)", "<msqrt><msup><mi>z</mi>"),
        ("√b", "<msqrt><mi>b</mi></msqrt>"),
        ("a₁₃", "<msub><mi>a</mi><mrow><mn>13</mn></mrow></msub>"),
        ("v*₁", "<msubsup><mi>v</mi><mrow><mn>1</mn></mrow><mrow><mo>∗</mo></mrow></msubsup>"),
        ("σ''(z)", "<mo>′</mo><mo>′</mo>"),
        ("1e-4·tau", "<msup><mn>10</mn><mn>−4</mn></msup></mrow><mo>·</mo><mi>τ</mi>"),
        ("log2 k", "<mi>log₂</mi>"),
        ("x < y", "<mo>&lt;</mo>"),
    ],
)
def test_a_formula_is_what_it_says(formula, inside):
    made = mathml(formula)
    assert inside in made
    ET.fromstring(made)


@pytest.mark.parametrize("formula", ["(n", "n^", "a $ b", "|x", "√"])
def test_what_is_not_understood_is_refused_and_stays_text(formula):
    with pytest.raises(ValueError, match="not"):
        mathml(formula)
    assert re.sub("<[^>]*>", "", typeset(f"see {formula} here")) == f"see {formula} here"


@pytest.mark.parametrize(
    "text",
    [
        "It takes 9 s, 50 % of 3.5 h, on a machine with C++ or Python 3.12.",
        "k's own, e.g. L-BFGS, x64, float32, first_run, docs/a.md, I, A and a.",
        "Between 1 and 2 - or 3/4 - of 1,000 runs.",
    ],
)
def test_prose_stays_prose(text):
    assert typeset(text) == text


def test_the_formulas_of_a_sentence_are_found():
    made = typeset("For k-parity (n = 8, k = 3) the risk is at least (1 - 2m/n)², B = {1, 4}.")
    assert made.count("<math>") == 4
    assert made.endswith("</math>.")
    assert "-parity" in WRITTEN.sub("", made)


def test_hostile_text_is_escaped():
    made = typeset(f"n = {HOSTILE} x^{HOSTILE}")
    assert "<script" not in made
    assert "<img" not in made
    assert "{{7*7}}" in made


def test_every_statement_is_well_formed_and_keeps_its_letters():
    count = 0
    same = str.maketrans({"−": "-", "∗": "*", "′": "'", "τ": "tau", "η": "eta", "₂": "2"})

    def letters(text):
        plain = text.translate(same).translate(
            str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₃₄₊", "0123456789-0134+")
        )
        return re.sub(r"[\s^_{}()√]|(?<=[\d.])e(?=[+-]?\d)|10(?=-?\d)", "", plain)

    for row in json.loads(KEPT.read_text()):
        for text in (row["title"], row["statement"], row["instead"] or ""):
            made = str(typeset(text))
            count += made.count("<math>")
            whole = "".join(ET.fromstring(f"<p>{made}</p>").itertext())
            if not re.search(r"\de-?\d", text):
                assert letters(whole) == letters(text), row["id"]
    assert count > 800


def test_the_site_typesets_prose_and_leaves_code_alone():
    from tests.test_docs import docs_module

    page = "<title>n = 1</title><article><p>n = 1 &lt; <code>n = 2</code></p></article><p>n = 3"
    made = docs_module("website").with_formulas(page)
    assert made == page.replace(
        "<p>n = 1 &lt; ", "<p><math><mi>n</mi><mo>=</mo><mn>1</mn></math> &lt; "
    )


def test_a_number_after_a_temperature_is_not_a_factor():
    made = typeset("(smoothing 0.07, tau 1, step 2)")
    assert "<mi>τ</mi><mn>1</mn>" not in made
    assert "<mi>τ</mi>" in typeset("tau = 1/n")
