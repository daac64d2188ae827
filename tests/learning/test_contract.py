"""What every learner keeps: same key same bits, runs that stand alone, models that are what was
trained, files that come back, and one line for what makes no sense."""

from dataclasses import fields

import jax
import numpy as np
import pytest
from tests.learning.cases import CASES

from paritylab.learning import (
    LEARNERS,
    AllInputs,
    Fresh,
    Heads,
    Population,
    Result,
    Rows,
    Runs,
    Sample,
    concatenate_runs,
    learn,
)
from paritylab.options import OPTIONS
from paritylab.problem import Parity, ParityTree, random_parities
from paritylab.risk import enumerated_risk

X64_MODES = [False]  # learners choose their own precision

# All tests of a file run in one worker (--dist loadfile), which trains every case once.
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture(scope="module")
def trained():
    """Four runs of every case, trained once."""
    cache: dict[str, Runs] = {}

    def of(case):
        if case.name not in cache:
            cache[case.name] = learn(case.learner, case.data_from(0, 4), runs=4, key=0, trace=10)
        return cache[case.name]

    return of


def leaves(runs):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(runs.numbers)]


@every_case
def test_the_same_key_gives_the_same_bits_and_nothing_compiles_twice(case, trained, caplog):
    trained(case)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        again = learn(case.learner, case.data_from(0, 4), runs=4, key=0, trace=10)
    assert not [r for r in caplog.records if "Finished XLA" in r.getMessage()]
    for first, second in zip(leaves(trained(case)), leaves(again), strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(trained(case).risk, again.risk)


def assert_same_runs(some, others):
    for alone, beside in zip(leaves(some), leaves(others), strict=True):
        np.testing.assert_allclose(alone[:2], beside[2:], rtol=1e-5, atol=1e-7)
    assert some.subset[:2] == others.subset[2:]
    np.testing.assert_array_equal(some.solved[:2], others.solved[2:])


@pytest.mark.grid(8)
@every_case
def test_a_run_does_not_depend_on_its_neighbours(case, trained):
    late = learn(case.learner, case.data_from(2, 4), runs=4, key=0, first_run=2, trace=10)
    assert_same_runs(late, trained(case))


@pytest.mark.grid(6)
@every_case
def test_a_run_does_not_depend_on_the_width_of_its_block(case, trained):
    late = learn(case.learner, case.data_from(2, 2), runs=2, key=0, first_run=2)
    assert_same_runs(late, trained(case))


@pytest.mark.grid(8)
@every_case
def test_the_model_reproduces_the_risk(case, trained):
    runs = trained(case)
    if runs.targets is None:
        pytest.skip("rows have no population")
    for run, target in enumerate(runs.targets):
        problem = target.problem if isinstance(target, ParityTree) else target
        exact = enumerated_risk(runs.model(run), problem, runs.loss)
        slack = 5 * runs.error[run] if runs.kind == "sampled" else runs.error[run]
        assert abs(exact.value - runs.risk[run]) <= slack + exact.error + 1e-9


@every_case
def test_runs_survive_a_file(case, trained, tmp_path):
    runs = trained(case)
    path = runs.save(tmp_path / "runs.npz")
    back = Runs.load(path, learner=case.learner)
    for first, second in zip(leaves(runs), leaves(back), strict=True):
        np.testing.assert_array_equal(first, second)
    assert back.subset == runs.subset
    assert back.result == runs.result
    assert back.rate() == runs.rate()
    np.testing.assert_array_equal(back.trace["step"], runs.trace["step"])
    first, second = (jax.tree.leaves(each.model(1)) for each in (runs, back))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@every_case
def test_the_trace_and_the_table_are_there(case, trained):
    runs = trained(case)
    assert runs.trace["risk"].shape[:2] == (4, len(runs.trace["step"]))
    table = runs.table()
    assert len(table) == 4
    names = table.columns if hasattr(table, "columns") else table[0]
    assert {"run", "solved", "risk", "error", "kind", "result"} <= set(names)
    assert all(isinstance(result, Result) for result in runs.result)


def test_every_learner_has_a_row_and_its_options():
    covered = {case.learner.name for case in CASES}
    ours = {n: each for n, each in LEARNERS.items() if each.__module__.startswith("paritylab.")}
    assert covered == set(ours)
    for name, learner in ours.items():
        assert {field.name for field in fields(learner)} == set(OPTIONS[name])


# The frame around the learners.

ONE = Parity(8, (1, 4))


def test_joined_runs_are_the_runs_of_one_call():
    targets = random_parities(8, 2, 6)
    whole = learn(Heads.code(steps=20), Population(targets), trace=5)
    parts = [
        learn(Heads.code(steps=20), Population(targets[at : at + 2]), first_run=at, trace=5)
        for at in (0, 2, 4)
    ]
    together = concatenate_runs(parts)
    np.testing.assert_allclose(together.numbers, whole.numbers, atol=1e-9)
    assert together.targets == whole.targets
    assert together.rate() == whole.rate()
    assert together.trace["risk"].shape == whole.trace["risk"].shape


def test_runs_that_hold_ones_own_parts_ask_for_them_again(tmp_path):
    learner = Heads.code(steps=5, readout=lambda s: 2 * (s - 1) ** 2 - 1)
    path = learn(learner, Population(ONE)).save(tmp_path / "own.npz")
    with pytest.raises(ValueError, match=r"its own readout; .*learner="):
        Runs.load(path)
    assert Runs.load(path, learner=learner).model(0) is not None


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04broken"])
def test_files_that_hold_no_runs_are_named(tmp_path, content):
    path = tmp_path / "junk.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"junk\.npz does not hold saved runs"):
        Runs.load(path)
    with pytest.raises(ValueError, match="no file"):
        Runs.load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: learn(Heads, Population(ONE)), r"give a learner object: Heads\(\)"),
        (lambda: learn(object(), Population(ONE)), "lacks takes"),
        (lambda: learn(Heads(), [ONE]), "data must be one of Population"),
        (lambda: learn(Heads(), Population(ONE), runs=0), "runs must be at least 1"),
        (lambda: learn(Heads(), Population([ONE, ONE]), runs=3), "2 targets for runs=3"),
        (lambda: learn(Heads(), Population(ONE), trace=0), "trace must be"),
        (lambda: Population([ONE, Parity(8, (1,))]), "equal n and k"),
        (lambda: Population([]), "targets must be parities"),
        (lambda: Population([3]), "targets must be parities"),
        (lambda: AllInputs(Parity(30, (1,))), "takes n ≤ 20"),
        (lambda: Sample(ONE, 0), "samples must be a whole number"),
        (lambda: Fresh(ONE, 2.5), "samples must be a whole number"),
        (lambda: Rows(np.zeros((4, 3)), [0, 1, 0, 1]), r"labels must be \+1 or -1"),
        (lambda: Rows(np.full((4, 3), 2), [1, 1, 1, -1]), "bits must be 0 or 1"),
        (lambda: Rows(np.zeros(3), [1, 1, 1]), "rows need bits of shape"),
        (lambda: Rows(np.zeros((4, 3)), [1, 1, 1, -1], held_out=1.5), "held_out"),
    ],
)
def test_what_makes_no_sense_is_one_line(call, words):
    with pytest.raises(ValueError, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_a_run_that_diverges_is_not_a_success():
    """NaN once counted as recovered, since nothing compared with it."""
    runs = learn(Heads.paper(eta=1e308, steps=20), Population(ONE), runs=3)
    assert runs.diverged.all()
    assert not (runs.recovered | runs.solved).any()
    assert runs.rate().value == 0
    assert {result.name for result in runs.result} == {"DIVERGED"}


def test_a_rate_is_of_the_set_where_runs_name_one():
    runs = learn(Heads.code(steps=5), Population(ONE), runs=3)
    assert runs.rate() == runs.rate("recovered")
    with pytest.raises(ValueError, match="no flag 'luck'"):
        runs.rate("luck")
    with pytest.raises(ValueError, match="no trace"):
        runs.trace  # noqa: B018
    with pytest.raises(ValueError, match="there are 3 runs"):
        runs.model(3)
