"""A planted case, true or false by construction, turns the verdict through the real measurement."""

import pytest

from paritylab.claims import Effort, Trial, registry

#: Planted cases of claims that take longer than this at quick effort run with make test-slow.
LONG = 3
CASES = [
    pytest.param(
        claim, case, id=f"{id}-{number}", marks=pytest.mark.slow if claim.seconds[0] >= LONG else ()
    )
    for id, claim in registry().items()
    for number, case in enumerate(claim.planted_cases)
]


@pytest.mark.parametrize(("claim", "case"), CASES)
def test_a_planted_case_turns_the_verdict(claim, case):
    assert case.turns != claim.expected_at(Effort.QUICK), "a planted case turns the verdict"
    judged = claim.verdict_on(case.measure(Trial(Effort.QUICK)))
    assert judged.status == case.turns, judged.finding
