"""Every planted case, true or false by construction, turns the verdict of its claim."""

import pytest

from paritylab.claims import Effort, Trial, registry

CLAIMS = registry()
CASES = [
    pytest.param(id, case, id=f"{id}-{number}")
    for id, claim in CLAIMS.items()
    for number, case in enumerate(claim.planted)
]


@pytest.mark.parametrize(("id", "case"), CASES)
def test_a_planted_case_turns_the_verdict(id, case):
    claim = CLAIMS[id]
    assert case.turns != claim.expected_at(Effort.QUICK), "a planted case turns the verdict"
    judged = claim.run_planted(case, Trial(Effort.QUICK))
    assert judged.status == case.turns, judged.finding
