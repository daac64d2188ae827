"""The lists of what the papers say and the registry of claims keep together."""

import pytest

from paritylab.claims import registry
from paritylab.claims.coverage import Statement, claims_of, covered_papers, statements


@pytest.mark.parametrize("paper", covered_papers())
def test_every_claim_named_exists_and_every_claim_is_named(paper):
    claims, named = registry(), claims_of(statements(paper))
    assert set(named) <= set(claims)
    assert {id for id in named if claims[id].paper not in (paper, "lab")} == set()
    assert {id for id, claim in claims.items() if claim.paper == paper} <= set(named)


@pytest.mark.parametrize("paper", covered_papers())
def test_statements_are_one_line_and_listed_once(paper):
    listed = statements(paper)
    assert len({(each.place, each.says) for each in listed}) == len(listed)
    assert all(
        "\n" not in text and "|" not in each.place for each in listed for text in vars_of(each)
    )


def vars_of(statement):
    return (statement.place, statement.says, statement.none, statement.note)


@pytest.mark.parametrize("parts", [{}, {"claims": ("a",), "none": "why"}])
def test_a_statement_has_claims_or_a_reason(parts):
    with pytest.raises(ValueError, match="either claims or"):
        Statement("Theorem 1", "something", **parts)
