"""The one rule that makes verdicts, by its properties."""

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from paritylab.claims import (
    Estimate,
    Status,
    at_least,
    at_most,
    control,
    decide,
    difference,
    finding,
    note,
    repair,
    within,
)
from paritylab.claims.engine.rule import Role, confidence_for, sentence_of, wants_runs
from paritylab.statistics import Mean, PowerLaw, Rate

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
values = st.one_of(numbers, rates, estimates)
comparisons = st.builds(
    lambda make, value, bound, role, label: replace(
        make(f"quantity {label}", value, bound), role=role
    ),
    st.sampled_from([at_most, at_least]),
    values,
    numbers,
    st.sampled_from([Role.PRINTED, Role.REPAIR, Role.CONTROL]),
    st.integers(0, 5),
)
lists = st.lists(comparisons, min_size=1, max_size=6).filter(
    lambda all: any(each.role is Role.PRINTED for each in all)
)


def tightened(comparison, by):
    """The same comparison with a bound that is harder to keep."""
    sign = -1 if comparison.side == "at most" else 1
    return replace(comparison, bound=comparison.bound + sign * by)


@given(lists, st.floats(0, 5))
def test_a_tighter_printed_bound_never_helps_the_statement(all, by):
    before = decide(all)
    harder = [tightened(each, by) if each.role is Role.PRINTED else each for each in all]
    after = decide(harder)
    assert after.status is not Status.HOLDS or before.status is Status.HOLDS
    if before.status in (Status.CORRECTED, Status.REFUTED):
        assert after.status is before.status


@given(lists, st.randoms())
def test_the_order_of_comparisons_does_not_matter(all, random):
    shuffled = list(all)
    random.shuffle(shuffled)
    before, after = decide(all), decide(shuffled)
    assert before.status == after.status
    assert before.deciding.label == after.deciding.label


@given(lists)
def test_a_straddling_interval_never_decides(all):
    found = decide(all)
    if found.status is Status.HOLDS:
        assert all_pass(all, Role.PRINTED)
        assert all_pass(all, Role.CONTROL)
    if found.status in (Status.CORRECTED, Status.REFUTED):
        assert found.deciding.passed() is False
        assert found.deciding.role is Role.PRINTED
        assert all_pass(all, Role.CONTROL)
    if found.status is Status.CORRECTED:
        assert any(each.role is Role.REPAIR for each in all)
        assert all_pass(all, Role.REPAIR)


def all_pass(all, role):
    return all_true(each.passed() for each in all if each.role is role)


def all_true(flags):
    return all(flag is True for flag in flags)


@given(lists, st.integers(0, 9))
def test_notes_change_nothing(all, value):
    assert decide([*all, note("a number to show", value)]) == decide(all)


@given(lists)
def test_repairs_only_turn_refuted_into_corrected(all):
    without = [each for each in all if each.role is not Role.REPAIR]
    pair = decide(without).status, decide(all).status
    turned = {(Status.REFUTED, Status.CORRECTED), (Status.REFUTED, Status.UNDECIDED)}
    assert pair[0] == pair[1] or pair in turned


@given(lists)
def test_failing_controls_leave_it_undecided(all):
    broken = control(at_least("runs that learn at all", Rate(1, 60), 0.9))
    found = decide([*all, broken])
    assert found.status is Status.UNDECIDED
    assert found.deciding.role is Role.CONTROL


@given(comparisons, st.floats(0.951, 0.999))
def test_more_confidence_only_unsettles(comparison, confidence):
    usual, careful = comparison.passed(), comparison.passed(confidence)
    assert careful in (usual, None)
    if careful is not None:
        assert abs(comparison.distance(confidence)) <= abs(comparison.distance()) + 1e-12


@given(comparisons)
def test_the_distance_has_the_sign_of_the_answer(comparison):
    distance, passed = comparison.distance(), comparison.passed()
    if passed is None:
        assert distance is None
    else:
        assert (distance >= 0) is passed


@pytest.mark.parametrize(
    ("comparison", "passed"),
    [
        (at_most("errors", 0, 0), True),
        (at_most("errors", 1, 0), False),
        (at_least("share", Rate(60, 60), 0.9), True),
        (at_least("share", Rate(55, 60), 0.9), None),
        (at_least("share", Rate(0, 0), 0.9), None),
        (within("exponent", PowerLaw(2.0, 1.9, 2.1, 1.0), 1.5, 2.5), True),
        (within("exponent", PowerLaw(2.0, 1.9, 2.1, 1.0), 2.05, 2.5), None),
        (within("exponent", PowerLaw(2.0, 1.9, 2.1, 1.0), 3, 4), False),
        (within("exponent", PowerLaw(math.nan, -math.inf, math.inf, math.nan), 3, 4), None),
        (at_most("risk", Mean(1.0, 0.9, 1.1, 12), 1.2), True),
        (at_most("risk", math.nan, 1.2), None),
        (at_least("lead", difference(Rate(50, 60), Rate(10, 60)), 0), True),
    ],
)
def test_a_comparison_passes_fails_or_straddles(comparison, passed):
    assert comparison.passed() is passed


def test_only_a_straddling_interval_that_leaves_it_undecided_asks_for_more_runs():
    unsure, sure = at_least("share", Rate(28, 60), 0.5), at_least("share", Rate(50, 60), 0.5)
    law = at_most("exponent", PowerLaw(1.0, 0.9, 1.1, 1.0), 1.0)
    assert wants_runs(decide([unsure]))
    assert wants_runs(decide([law, sure]))
    assert not wants_runs(decide([sure, repair(unsure)])), "it holds without the repair"
    assert not wants_runs(decide([unsure, at_most("errors", 3, 0)])), "it fails anyway"
    assert not wants_runs(decide([sure, control(at_least("runs that learn", Rate(1, 60), 0.9))]))
    assert not wants_runs(decide([at_most("error", math.nan, 1.0)])), "a number cannot narrow"


def test_three_looks_share_one_error():
    assert 3 * (1 - confidence_for(3)) == pytest.approx(0.05)


def test_a_truth_value_or_a_list_is_refused():
    with pytest.raises(TypeError, match="never a truth value"):
        at_most("is it so", True, 1)
    with pytest.raises(TypeError, match="one number"):
        at_most("errors", [1.0, 2.0], 1)
    with pytest.raises(ValueError, match="low ≤ high"):
        within("exponent", 1.0, 3, 2)
    with pytest.raises(ValueError, match="at least one"):
        decide([note("runs", 3)])


def test_a_finding_is_short_and_names_its_verdicts():
    with pytest.raises(ValueError, match="fewer than 30 words"):
        finding("word " * 30, "holds")
    with pytest.raises(ValueError, match="names the verdicts"):
        finding("It holds.")


def test_the_sentence_has_label_value_and_bound():
    found = decide([at_most("draws above the bound, n = 8", Rate(3, 200), 0.1)])
    assert sentence_of(found) == (
        "Draws above the bound, n = 8: 3 of 200, 2 % [1, 4]; claimed: at most 10 %."
    )
    assert sentence_of(decide([within("exponent of n", 2.04, 1.8, 2.2)])) == (
        "Exponent of n: 2.04; claimed: between 1.8 and 2.2."
    )


def test_repairs_correct_and_failing_repairs_refute():
    printed = at_most("risk, as printed", 3.0, 1.0)
    mended = repair(at_most("risk, with the factor 4", 3.0, 4.0))
    assert decide([printed, mended]).status is Status.CORRECTED
    assert decide([printed, replace(mended, bound=2.0)]).status is Status.REFUTED
    assert decide([printed]).status is Status.REFUTED
    unsure = repair(at_least("runs that do", Rate(28, 60), 0.5))
    assert decide([printed, unsure]).status is Status.UNDECIDED
