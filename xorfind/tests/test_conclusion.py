"""Labels that one parity explains, and labels that it does not: the same words everywhere."""

import json

import numpy as np
import pytest
from labels import made, monks, real
from sklearn.datasets import load_iris

from xorfind import ParityClassifier, Rule, discover, solve
from xorfind.answer import Answer, Conclusion
from xorfind.codec import from_json, to_json

CASES = [*made(1500, 0), *monks(), *real()]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_only_what_a_parity_explains_is_found(case):
    truth = case.truth.astype(int)
    model = ParityClassifier(random_state=0).fit(case.bits, truth)
    assert case.explained == (not model.abstained_)
    assert (model.confidence_ > 0) == case.explained
    assert model.subset_.tolist() == ([1, 4] if case.explained else [])
    brier = ((model.predict_proba(case.bits)[:, 1] - truth) ** 2).mean()
    assert brier <= truth.var() + 1e-9
    better = model.outcome_.form.better
    if better is not None:
        assert better.fits.successes > max(better.parity.successes, better.constant.successes)


def test_the_rest_is_named_and_compared_with_the_parity_and_the_constant():
    said = {case.name: solve(case.bits, 1 - 2 * case.truth.astype(int)) for case in made(1500, 0)}
    assert said["noise by x5"].form.rest.columns[0] == 5
    four = said["(x0^x1)|(x2^x3)"]
    assert set(four.form.better.columns) == {0, 1, 2, 3}
    assert four.form.better.fits.value == 1
    assert four.form.better.parity.value < 0.8 > four.form.better.constant.value
    assert str(four).startswith("related, but not only: ")


@pytest.mark.parametrize("at", [2, 3, None])
def test_one_object_says_the_same_everywhere(tmp_path, at):
    """Explained, related, none; by discover, its file, solve and the classifier."""
    generator = np.random.default_rng(1)
    bits = generator.integers(0, 2, (600, 12))
    truth = generator.integers(0, 2, 600)
    if at is not None:
        case = list(made(600, 0))[at]
        bits, truth = case.bits, case.truth.astype(int)
    columns = {f"x{j}": bits[:, j] for j in range(12)}
    rule = discover({**columns, "y": truth}, "y")
    assert Rule.load(rule.save(tmp_path / "rule.json")) == rule
    assert from_json(Answer, json.loads(json.dumps(to_json(rule.answer)))) == rule.answer
    wanted = {2: Conclusion.EXPLAINS, 3: Conclusion.RELATED, None: Conclusion.NONE}[at]
    answer = solve(bits, 1 - 2 * truth, rows="check")
    model = ParityClassifier().fit(bits, truth)
    for said in (answer.named("x{}".format), model.outcome_, rule.answer):
        assert said.conclusion is wanted
        assert said.subset == rule.answer.subset
        assert (said.on, said.off) == (rule.answer.on, rule.answer.off)
    words = rule.statement.replace("y is", "the label is").replace("y tends", "the label tends")
    head = str(answer).partition(":")[0] if at is None else str(answer)
    swapped = {2: ("be 1", "be -1"), 3: ("be 1", "be -1"), None: ("for y", "for the label")}[at]
    assert words.replace(*swapped) in head


def test_iris_is_not_explained_in_any_order():
    data = load_iris()
    for order in (np.arange(150), np.random.default_rng(0).permutation(150)):
        for species in range(3):
            columns = {f"c{j}": data.data[order, j] for j in range(4)}
            rule = discover({**columns, "y": (data.target[order] == species).astype(int)}, "y")
            assert not rule.found


def test_no_p_value_is_zero():
    generator = np.random.default_rng(0)
    bits = generator.integers(0, 2, (5000, 6))
    answer = solve(bits, 1 - 2 * (bits[:, 0] ^ bits[:, 1]))
    assert 0 < answer.p_value < 1e-290
    assert "with chance below 10⁻³⁰⁰" in str(answer)
