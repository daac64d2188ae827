"""The one rule that makes verdicts, by its properties."""

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from paritylab.claims import (
    Status,
    at_least,
    at_most,
    control,
    decide,
    finding,
    note,
    repair,
    within,
)
from paritylab.claims.engine.rule import Role, wants_runs
from paritylab.statistics import Estimate, Mean, PowerLaw, Rate, difference

# Drawing is quick; a busy machine makes it look slow.
settings.register_profile("patient", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("patient")
numbers = st.floats(-10, 10, allow_nan=False)
rates = st.integers(1, 200).flatmap(
    lambda runs: st.builds(Rate, st.integers(0, runs), st.just(runs))
)
estimates = st.tuples(numbers, st.floats(0, 3), st.floats(0, 3)).map(
    lambda t: Estimate(t[0], t[0] - t[1], t[0] + t[2], 30)
)
comparisons = st.builds(
    lambda make, value, bound, role, label: replace(
        make(f"quantity {label}", value, bound), role=role
    ),
    st.sampled_from([at_most, at_least]),
    st.one_of(numbers, rates, estimates),
    numbers,
    st.sampled_from([Role.PRINTED, Role.REPAIR, Role.CONTROL]),
    st.integers(0, 5),
)
lists = st.lists(comparisons, min_size=1, max_size=6).filter(
    lambda found: any(each.role is Role.PRINTED for each in found)
)


def tightened(comparison, by):
    """The same comparison with a bound that is harder to keep."""
    sign = -1 if comparison.side == "at most" else 1
    return replace(comparison, bound=comparison.bound + sign * by)


@given(lists, st.floats(0, 5))
def test_a_tighter_printed_bound_never_helps_the_statement(found, by):
    before = decide(found)
    after = decide([tightened(each, by) if each.role is Role.PRINTED else each for each in found])
    assert after.status is not Status.HOLDS or before.status is Status.HOLDS
    if before.status in (Status.CORRECTED, Status.REFUTED):
        assert after.status is before.status


@given(lists, st.randoms(), st.integers(0, 9))
def test_neither_order_nor_notes_matter(found, random, value):
    shuffled = [*found, note("a number to show", value)]
    random.shuffle(shuffled)
    before, after = decide(found), decide(shuffled)
    assert before.status == after.status
    assert before.deciding.label == after.deciding.label


@given(lists)
def test_a_straddling_interval_never_decides(found):
    def pass_all(role):
        return all(each.passed() is True for each in found if each.role is role)

    status, deciding = decide(found)
    assert status is not Status.HOLDS or (pass_all(Role.PRINTED) and pass_all(Role.CONTROL))
    if status in (Status.CORRECTED, Status.REFUTED):
        assert (deciding.passed(), deciding.role) == (False, Role.PRINTED)
        assert pass_all(Role.CONTROL)
    if status is Status.CORRECTED:
        assert any(each.role is Role.REPAIR for each in found)
        assert pass_all(Role.REPAIR)


@given(lists)
def test_repairs_only_turn_refuted_into_corrected(found):
    without = [each for each in found if each.role is not Role.REPAIR]
    pair = decide(without).status, decide(found).status
    turned = {(Status.REFUTED, Status.CORRECTED), (Status.REFUTED, Status.UNDECIDED)}
    assert pair[0] == pair[1] or pair in turned


@given(comparisons, st.floats(0.951, 0.999))
def test_more_confidence_only_unsettles(comparison, confidence):
    usual, careful = comparison.passed(), comparison.passed(confidence)
    assert careful in (usual, None)
    if careful is not None:
        assert abs(comparison.distance(confidence)) <= abs(comparison.distance()) + 1e-12


LAW = PowerLaw(2.0, 1.9, 2.1, 1.0)


@pytest.mark.parametrize(
    ("comparison", "passed"),
    [
        (at_most("errors", 0, 0), True),
        (at_most("errors", 1, 0), False),
        (at_least("share", Rate(60, 60), 0.9), True),
        (at_least("share", Rate(55, 60), 0.9), None),
        (at_least("share", Rate(0, 0), 0.9), None),
        (within("exponent", LAW, 1.5, 2.5), True),
        (within("exponent", LAW, 2.05, 2.5), None),
        (within("exponent", LAW, 3, 4), False),
        (within("exponent", PowerLaw(math.nan, -math.inf, math.inf, math.nan), 3, 4), None),
        (at_most("risk", Mean(1.0, 0.9, 1.1, 12), 1.2), True),
        (at_most("risk", math.nan, 1.2), None),
        (at_least("lead", difference(Rate(50, 60), Rate(10, 60)), 0), True),
    ],
)
def test_a_comparison_passes_fails_or_straddles(comparison, passed):
    assert comparison.passed() is passed


PRINTED = at_most("risk, as printed", 3.0, 1.0)
MENDED = repair(at_most("risk, with the factor 4", 3.0, 4.0))
SURE, UNSURE = (at_least("share", Rate(runs, 60), 0.5) for runs in (50, 28))


@pytest.mark.parametrize(
    ("found", "status", "more"),
    [
        ([PRINTED], "refuted", False),
        ([PRINTED, MENDED], "corrected", False),
        ([PRINTED, replace(MENDED, bound=2.0)], "refuted", False),
        ([PRINTED, repair(UNSURE)], "undecided", True),
        ([UNSURE], "undecided", True),
        ([at_most("exponent", LAW, 2.0), SURE], "undecided", True),
        ([SURE, repair(UNSURE)], "holds", False),
        ([UNSURE, PRINTED], "refuted", False),
        ([SURE, control(at_least("runs that learn", Rate(1, 60), 0.9))], "undecided", False),
        ([at_most("error", math.nan, 1.0)], "undecided", False),  # a number cannot narrow
    ],
)
def test_the_rule_and_whether_more_runs_could_decide(found, status, more):
    decision = decide(found)
    assert (decision.status, wants_runs(decision)) == (status, more)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: at_most("is it so", True, 1), "never a truth value"),
        (lambda: at_most("errors", [1.0, 2.0], 1), "one number"),
        (lambda: within("exponent", 1.0, 3, 2), "low ≤ high"),
        (lambda: decide([note("runs", 3)]), "at least one"),
        (lambda: finding("word " * 30, "holds"), "fewer than 30 words"),
        (lambda: finding("It holds."), "names the verdicts"),
    ],
)
def test_what_a_claim_may_not_yield(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()
