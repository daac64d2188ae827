"""A flipped inequality in a judge is noticed: its table of invented records then disagrees."""

import ast
import inspect
import textwrap

import pytest
from tests.claims.test_judges import TABLES

from paritylab.claims import registry

FLIPPED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}


def deciding(tree: ast.Module) -> list[ast.Compare]:
    """The inequalities in the conditions of a judge."""
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.If)]
    found = [node for test in tests for node in ast.walk(test) if isinstance(node, ast.Compare)]
    return [node for node in found if type(node.ops[0]) in FLIPPED]


def parsed(judge) -> ast.Module:
    tree = ast.parse(textwrap.dedent(inspect.getsource(judge)))
    tree.body[0].decorator_list = []
    return tree


def mutant(judge, number: int):
    """The judge with its inequality of that number turned round."""
    tree = parsed(judge)
    node = deciding(tree)[number]
    node.ops[0] = FLIPPED[type(node.ops[0])]()
    names = dict(judge.__globals__)
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), names)
    return names[judge.__name__]


def statuses(judge, rows) -> list[str]:
    found = []
    for record, _ in rows:
        try:
            found.append(str(judge(record).status))
        except Exception as error:  # a mutant may stumble over a record; that is noticed too
            found.append(type(error).__name__)
    return found


CASES = [
    (id, number)
    for id in TABLES
    for number in range(len(deciding(parsed(registry()[id].judged_by))))
]


@pytest.mark.parametrize(("id", "number"), CASES)
def test_a_flipped_inequality_changes_a_verdict(id, number):
    judge = registry()[id].judged_by
    expected = [str(status) for _, status in TABLES[id]]
    assert statuses(judge, TABLES[id]) == expected
    assert statuses(mutant(judge, number), TABLES[id]) != expected


def test_every_judge_decides_by_something_that_can_be_flipped():
    assert {id for id, _ in CASES} == set(TABLES)
