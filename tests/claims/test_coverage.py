"""The lists of what the papers say and the registry of claims keep together."""

import re
from pathlib import Path

import pytest

from paritylab.claims import Effort, registry
from paritylab.claims.coverage import claims_of, covered_papers, statements
from paritylab.claims.errata import ERRATA


@pytest.mark.parametrize("paper", covered_papers())
def test_every_claim_named_exists_and_every_claim_is_named(paper):
    claims, named = registry(), claims_of(statements(paper))
    assert set(named) <= set(claims)
    assert {id for id in named if claims[id].paper not in (paper, "lab")} == set()
    assert {id for id, claim in claims.items() if claim.paper == paper} <= set(named)


@pytest.mark.parametrize("paper", covered_papers())
def test_statements_are_one_line_listed_once_and_have_claims_or_a_reason(paper):
    listed = statements(paper)
    assert len({(each.place, each.says) for each in listed}) == len(listed)
    for each in listed:
        assert bool(each.claims) != bool(each.none), each
        assert not re.search(r"\n", each.says + each.none + each.note), each
        assert not re.search(r"[\n|]", each.place), each


@pytest.mark.parametrize("paper", covered_papers())
def test_every_test_that_stands_for_a_claim_exists(paper):
    root = Path(__file__).parents[2]
    for statement in statements(paper):
        for file, name in re.findall(
            r"(tests/\S+\.py)::(\w+)", f"{statement.none} {statement.note}"
        ):
            assert f"def {name}(" in (root / file).read_text(encoding="utf-8"), name


def test_every_erratum_counts_in_one_row():
    """The first claim of an erratum counts it; a counted claim that fails is the first of one."""
    claims = registry()
    first = {each.claims[0] for each in ERRATA if each.claims and not each.is_note}
    for id, claim in claims.items():
        status = claim.expected_at(Effort.DEFAULT)
        if claim.counted and claim.paper != "lab" and status in ("corrected", "refuted"):
            assert id in first, f"{id} is {status} but no erratum is its own"
        if claim.counted_with is not None:
            assert claims[claim.counted_with].counted, id
            assert claims[claim.counted_with].counted_with is None, id
