"""Rules in words, saved and applied; names that are not shown as they are; other functions."""

import json
from pathlib import Path

import numpy as np
import pytest
import tables
from hypothesis import given, settings, strategies as st

from xorfind import Rule, discover
from xorfind.answer import UNFINISHED
from xorfind.table.columns import Coding


@pytest.fixture(scope="module")
def people():
    """A made-up survey: 3 of 12 yes/no columns decide, 3 % of labels are wrong."""
    table = tables.planted(12, 3, 800, noise=0.03, seed=8)
    yes = np.array(["no", "yes"])
    return table, {name: yes[values] for name, values in table.columns.items()}


def test_other_levels_thresholds_and_signs_are_echoed():
    generator = np.random.default_rng(0)
    sex, age = generator.integers(0, 2, 300), generator.integers(20, 80, 300)
    y = sex ^ (age > 50) ^ 1
    columns = {
        "sex": np.array(["female", "male"])[sex],
        "age": age,
        "outcome": np.array(["bad", "good"])[y],
    }
    rule = discover(columns, "outcome", threshold={"age": 50})
    assert (
        rule.statement
        == "outcome is good exactly when an even number of {sex = male, age > 50} are true"
    )
    assert (rule.apply(columns) == columns["outcome"]).all()
    single = discover({"a": sex, "y": 1 - sex}, "y")
    assert single.statement == "y is 1 exactly when a is false"


def test_save_load_apply(tmp_path, people):
    _, columns = people
    rule = discover(columns, "y")
    path = rule.save(tmp_path / "rule.json")
    again = Rule.load(path)
    assert again == rule
    predicted = again.apply(columns)
    assert (predicted == columns["y"]).mean() == pytest.approx(rule.answer.agreement)
    holes = {name: values.astype(object) for name, values in columns.items()}
    holes[rule.columns[0]][3] = None
    assert again.apply(holes)[3] == ""
    with pytest.raises(ValueError, match=f"the table lacks {rule.columns[0]}"):
        again.apply({name: v for name, v in columns.items() if name != rule.columns[0]})
    holes[rule.columns[0]][3] = "maybe"
    with pytest.raises(ValueError, match="holds 'maybe'; the rule knows 'no' and 'yes'"):
        again.apply(holes)


def test_other_spellings_of_the_same_levels_apply():
    rule = Rule(Coding("y", "0", "1"), (Coding("a", "0", "1"), Coding("b", "no", "yes")))
    assert rule.apply({"a": ["1.0", "0"], "b": ["YES", "yes"]}).tolist() == ["0", "1"]
    assert rule.apply({"a": [True, True], "b": ["no", "no"]}).tolist() == ["1", "1"]
    bits = Rule(Coding("y", "0", "1"), (Coding("n", bit=3), Coding("v", above=0.5)))
    assert bits.apply({"n": ["0x8", "7"], "v": [0.2, 0.7]}).tolist() == ["1", "1"]
    assert bits.apply({"n": [], "v": []}).tolist() == []


BAD_RULES = {
    "no JSON": "{",
    "another object": "[]",
    "of another kind": '{"paritylab": "verdict"}',
    "newer": '{"paritylab": "rule", "version": 99}',
    "no columns": '{"paritylab": "rule", "version": 1, "true_when": "odd"}',
    "columns of nothing": (
        '{"paritylab":"rule","version":1,"true_when":"odd","columns":[{}],"target":{}}'
    ),
    "both ways": (
        '{"paritylab":"rule","version":1,"true_when":"odd","target":{"column":"y"},'
        '"columns":[{"column":"a","bit":3,"above":2}]}'
    ),
    "bit 99": (
        '{"paritylab":"rule","version":1,"true_when":"odd","target":{"column":"y"},'
        '"columns":[{"column":"a","bit":99}]}'
    ),
    "deep": "[" * 100_000,
    "pickle": "\x80\x04.",
}


@pytest.mark.parametrize("text", BAD_RULES.values(), ids=BAD_RULES)
def test_bad_rule_files_are_one_clear_line(tmp_path, text):
    (tmp_path / "rule.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match="is no rule of xorfind") as caught:
        Rule.load(tmp_path / "rule.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("k", [None, 5])
def test_nothing_is_said_of_sizes_that_were_not_searched_completely(k):
    """Sets of 5 of 200 columns need more than the budget; those that fit every row do not."""
    table = tables.planted(200, 5, 100, noise=0.05, seed=1)
    rule = discover(table.columns, "y", k=k, budget=0.5)
    assert not rule.found
    assert rule.answer.search.stop in UNFINISHED
    sizes = {size.k: size for size in rule.answer.search.sizes}
    assert 5 not in sizes or not sizes[5].complete
    assert all(sizes[k].complete for k, _ in rule.answer.search.power())
    told = [line for line in str(rule).splitlines() if "would have shown" in line]
    assert not any("of 5 columns" in line for line in told)
    assert bool(told) == (k is None)
    assert "  not searched: " in str(rule)
    with pytest.raises(ValueError, match="no rule to apply"):
        rule.apply(table.columns)


def test_a_rare_target_promises_nothing_that_it_cannot_have():
    """5 % of the rows are true, so that a parity true in half of them fits 55 % at most."""
    generator = np.random.default_rng(1)
    columns = {f"x{at}": generator.permutation(np.arange(200) % 2) for at in range(8)}
    columns["y"] = np.arange(200) < 10
    text = str(discover(columns, "y"))
    assert "200 rows are too few to show any parity: only 10 of them differ" in text
    assert "would have shown" not in text


OLD = Path(__file__).parent / "fixtures" / "0.3.0"


@pytest.mark.parametrize("path", sorted(OLD.glob("*.rule.json")), ids=lambda path: path.name)
def test_rules_of_earlier_versions_open_and_apply_without_their_evidence(path):
    rule, name = Rule.load(path), path.name.removesuffix(".rule.json")
    name = "levels-and-threshold" if name == "version-1" else name
    known = json.loads((OLD / f"{name}.expected.json").read_text())
    assert (rule.found, rule.statement) == (known["found"], known["statement"])
    assert rule.conclusion == known["conclusion"]
    assert str(rule) == rule.statement
    assert [term.phrase for term in rule.terms] == known["columns"] or name != "cuts"
    if rule.found:
        assert rule.apply(OLD / f"{name}.csv").tolist() == known["predicted"]
    assert Rule.from_json(rule.to_json()) == rule


def test_names_cannot_reach_terminal_or_files_raw(tmp_path):

    nasty = "=cmd()\x1b[31m$x_{$\u202e\n"
    a, b = np.random.default_rng(0).integers(0, 2, (2, 100))
    rule = discover({nasty: a, "b": b, "<y>$": a ^ b}, "<y>$")
    assert all(line.isprintable() for line in str(rule).splitlines())
    saved = rule.save(tmp_path / "r.json").read_text()
    assert saved.isascii()
    assert "\x1b" not in saved
    assert Rule.load(tmp_path / "r.json").columns == rule.columns
    assert json.loads(saved)["words"] == rule.statement


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n + 1, max_size=n + 1), max_size=9)
    )
)
def test_tiny_tables_get_a_rule_an_honest_no_or_one_line(rows):
    names = "abcdy"[: len(rows[0]) - 1] + "y" if rows else "ay"
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    try:
        rule = discover(columns, "y", budget=0.5)
    except ValueError as error:
        refusal = str(error)
    else:
        refusal = ""
        assert all(line.isprintable() for line in str(rule).splitlines())
        assert not rule.found  # nine rows support nothing at 0.01 unless they are lucky
    assert "\n" not in refusal
