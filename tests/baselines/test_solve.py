"""The whole way: recovery, abstention, equivalents, errors."""

import time
import tracemalloc

import numpy as np
import pytest
from tests.baselines.random_tables import planted, unrelated

from paritylab.baselines import rows_needed, solve
from paritylab.baselines.answer import Stop
from paritylab.statistics import Rate


@pytest.mark.parametrize(
    ("n", "k", "noise", "method"),
    [
        (20, 3, 0.0, "elimination"),
        (20, 3, 0.3, "walsh"),
        (100, 3, 0.2, "correlation"),
        (150, 2, 0.3, "correlation"),
        (60, 4, 0.1, "correlation"),
    ],
)
def test_planted_parities_are_found_with_about_the_least_rows(n, k, noise, method):
    rows = int(1.3 * rows_needed(n, k, noise, known_size=False)) + 1
    answers = [(planted(n, k, noise, rows, seed)) for seed in range(5)]
    for bits, labels, hidden in answers:
        answer = solve(bits, labels)
        assert answer.subset == hidden
        assert answer.method == method
        assert answer.p_value <= 0.01
        low, high = Rate(answer.rows - answer.best.agreeing, answer.rows).interval
        assert low <= answer.noise_rate <= high
        assert answer.rows_needed is None


def test_too_few_clean_rows_list_all_that_fit():
    bits, labels, hidden = planted(32, 5, 0.0, 16, seed=0)
    answer = solve(bits, labels, k=5, method="meeting")
    assert answer.subset is None
    assert answer.agreement == 1
    assert len(answer.equivalents) > 1
    assert hidden in answer.equivalents or answer.rows_needed > 16


def test_columns_that_say_the_same_are_listed():
    bits, labels, hidden = planted(10, 2, 0.1, 120, seed=1)
    first, second = hidden
    copies = np.stack([bits[:, first], 1 - bits[:, second], np.ones(120)], axis=1).astype(np.uint8)
    answer = solve(np.concatenate([bits, copies], axis=1), labels)
    assert answer.subset == hidden
    assert set(answer.equivalents) == {(second, 10), (first, 11), (10, 11)}


def test_columns_that_depend_on_others_are_listed():
    bits, labels, hidden = planted(10, 3, 0.1, 150, seed=1)
    sum_of_all = (bits[:, hidden].sum(axis=1) + 1) % 2
    answer = solve(np.concatenate([bits, sum_of_all[:, None]], axis=1), labels)
    assert (answer.subset, answer.sign) == ((10,), -1)
    assert answer.equivalents == (hidden,)


def test_a_part_of_a_biased_parity_is_not_taken_for_the_whole():
    for seed in range(5):
        bits, labels, hidden = planted(40, 3, 0.1, 500, seed, bias=0.2)
        assert solve(bits, labels).subset == hidden


@pytest.mark.parametrize(
    ("bits", "labels"),
    [(np.zeros((9, 3), int), [1, -1] * 4 + [1]), (np.eye(5, dtype=int), [1] * 5)],
    ids=["no column varies", "all labels are equal"],
)
def test_nothing_to_explain(bits, labels):
    answer = solve(bits, labels)
    assert answer.subset is None
    assert answer.search.stop is Stop.NOT_APPLICABLE
    assert str(answer) == "no parity found"


def test_a_budget_that_ends_is_told():
    bits, labels = unrelated(120, 130, seed=0)
    told = []
    answer = solve(bits, labels, k=5, budget=0.2, progress=lambda *news: told.append(news))
    assert not answer.complete
    assert answer.subset is None
    assert all(0 <= fraction <= 1 for fraction, _ in told)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "magic"}, "method must be one of auto"),
        ({"alpha": 0}, "alpha must be"),
        ({"budget": -1}, "budget must be"),
        ({"k": 9}, "k must be at most 3"),
        ({"labels": [0, 2, 1]}, "labels must be"),
        ({"bits": [[2, 0, 0]] * 3}, "bits must be 0 or 1"),
        ({"bits": [0, 1, 1]}, "rows need bits"),
    ],
)
def test_what_makes_no_sense_is_one_line(change, words):
    call = {"bits": np.eye(3, dtype=int), "labels": [1, -1, 1], **change}
    with pytest.raises(ValueError, match=words):
        solve(call.pop("bits"), call.pop("labels"), **call)


def test_what_cannot_succeed_is_not_searched():
    bits, labels = unrelated(40, 300, seed=0)
    answer = solve(bits, labels, k=2)
    assert answer.complete
    assert not any(step.trials for step in answer.search.steps)
    few = solve(*unrelated(400, 60, seed=0), k=8, budget=1)
    assert not few.complete
    assert few.subset is None
    assert not any(size.examined for step in few.search.steps for size in step.sizes)


def test_a_clean_parity_of_many_columns_is_found_with_fewer_rows_than_columns(monkeypatch):
    # Half a second on a quiet machine; a busy one gets the time that it needs.
    monkeypatch.setattr("paritylab.baselines.auto.PATIENCE", 10)
    bits, labels, hidden = planted(200, 10, 0.0, 150, seed=0)
    assert solve(bits, labels, budget=60).subset == hidden


def test_a_budget_is_kept_with_very_many_columns():
    bits, labels = unrelated(20_000, 200, seed=0)
    start = time.perf_counter()
    # All pairs take 0.7 s on a quiet machine, so that this budget ends first on any.
    answer = solve(bits, labels, budget=0.2)
    assert time.perf_counter() - start < 0.2 * 1.2 + 1 + 2  # two more for a busy machine
    assert not answer.complete
    assert answer.search.stop is Stop.BUDGET


def test_no_step_says_that_the_budget_ended_before_it_did():
    bits, labels, _ = planted(60, 8, 0.3, 400, seed=0)
    answer = solve(bits, labels, budget=3)
    assert not answer.complete
    stops = {answer.search.stop, *(step.stop for step in answer.search.steps)}
    assert (Stop.BUDGET in stops) == (answer.search.seconds >= 3)


def test_elimination_ends_with_its_budget():
    answer = solve(*unrelated(3000, 3300, seed=0), method="elimination", budget=0.05)
    assert answer.search.stop is Stop.BUDGET
    assert answer.search.steps[0].stop is Stop.BUDGET


@pytest.mark.parametrize("wrong", [1, 2])
def test_dense_parities_stand_a_wrong_label_or_two(wrong):
    bits, labels, hidden = planted(300, 150, 0.0, 500, seed=1)
    labels[100 : 100 + wrong] *= -1
    answer = solve(bits, labels)
    assert answer.subset == hidden
    assert answer.best.agreeing == 500 - wrong


def test_memory_is_a_few_bytes_a_cell():
    generator = np.random.default_rng(0)
    bits = generator.integers(0, 2, (100_000, 64), dtype=np.uint8)
    labels = generator.choice(np.array([-1, 1], np.int8), len(bits))
    tracemalloc.start()
    try:
        solve(bits, labels, k=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * bits.size  # and the table itself is one more
