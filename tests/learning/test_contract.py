"""What every learner keeps: same key same bits, runs that stand alone, models that are what was
trained, files that come back, and one line for what makes no sense."""

import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, fields

import jax
import numpy as np
import pytest
from tests.learning.cases import CASES

from paritylab.learning import (
    LEARNERS,
    AllInputs,
    Fresh,
    FullBatch,
    Heads,
    Population,
    Result,
    Rows,
    Runs,
    Sample,
    Trained,
    concatenate_runs,
    learn,
    saving,
)
from paritylab.learning.contract import learner_name
from paritylab.learning.data import data_facts
from paritylab.learning.saving import learner_facts
from paritylab.options import OPTIONS
from paritylab.problem import Parity, ParityTree, random_parities, random_trees
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
    covered = {learner_name(case.learner) for case in CASES}
    ours = {n: each for n, each in LEARNERS.items() if each.__module__.startswith("paritylab.")}
    assert covered == set(ours)
    for name, learner in ours.items():
        assert {field.name for field in fields(learner)} == set(OPTIONS[name])


# The frame around the learners.

ONE = Parity(8, (1, 4))


def test_concatenated_runs_are_the_runs_of_one_call():
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
        runs.trace["risk"]
    traced = learn(Heads.code(steps=5), Population(ONE), trace=1)
    with pytest.raises(ValueError, match="no 'luck' in this trace; it has step, risk, directions"):
        traced.trace["luck"]
    with pytest.raises(ValueError, match="there are 3 runs"):
        runs.model(3)


# Learners of one's own are checked against the protocol, and so is what they return.


@dataclass(frozen=True)
class Guess:
    """Guesses the first two bits; `change` spoils what it returns."""

    change: dict = field(default_factory=dict)

    takes = (Population,)

    def train(self, data, keys, trace):
        runs = len(keys)
        zeros = np.zeros(runs)
        facts = {"numbers": zeros, "subset": [(0, 1)] * runs, "risk": zeros, "error": zeros}
        facts |= {"kind": "exact", "loss": "squared_hinge", "solved": zeros == 0}
        return 3 if self.change == {"returns": 3} else Trained(**(facts | self.change))

    def rebuild(self, numbers, target, key):
        return lambda bits: numbers


class NoRebuild:
    takes = (Population,)

    def train(self, data, keys, trace): ...


class OtherArguments(Guess):
    def train(self, data): ...


class TakesNothing(Guess):
    takes = ()


class TakesText(Guess):
    takes = ("Population",)


def test_a_learner_of_ones_own_is_as_good_as_the_labs(tmp_path):
    runs = learn(Guess(), Population(Parity(8, (0, 1))), runs=3)
    assert (runs.name, runs.rate().successes, runs.recovered.tolist()) == ("Guess", 3, [True] * 3)
    assert runs.model(1)(np.zeros(8)) == 0
    back = Runs.load(runs.save(tmp_path / "own.npz"), learner=Guess())
    assert (back.rate(), back.names_a_set) == (runs.rate(), True)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (NoRebuild(), r"NoRebuild is no learner: it lacks rebuild; .* train\(data, keys, trace\)"),
        (OtherArguments(), r"OtherArguments\.train must take \(data, keys, trace\)"),
        (TakesNothing(), r"TakesNothing\.takes must be a tuple of some of Population, AllInputs"),
        (TakesText(), r"TakesText\.takes must be a tuple of some of Population, AllInputs"),
        (Guess({"returns": 3}), r"Guess\.train must return a Trained, got int"),
        (Guess({"kind": "guessed"}), "kind of a risk must be one of exact, numerical, sampled"),
        (Guess({"subset": [None]}), "subset of trained runs needs one entry per run"),
        (Guess({"numbers": np.zeros(2)}), "numbers of trained runs needs one entry per run"),
        (Guess({"stats": {"luck": np.zeros(())}}), "stats of trained runs needs one entry"),
        (Guess({"trace": {"step": [0], "risk": [1]}}), "trace of trained runs needs one entry"),
    ],
)
def test_what_a_learner_lacks_is_one_line(learner, words):
    with pytest.raises(ValueError, match=words) as raised:
        learn(learner, Population(ONE), runs=3)
    assert "\n" not in str(raised.value)


def test_too_few_runs_are_refused():
    few = {name: np.zeros(1) for name in ("numbers", "risk", "error", "solved")}
    with pytest.raises(ValueError, match=r"Guess\.train returned 1 runs, asked for 3"):
        learn(Guess(few | {"subset": [None]}), Population(ONE), runs=3)


def work_of_table(runs: int, monkeypatch) -> tuple[int, int]:
    """Python calls and numbers looked at by one table."""
    numbers = np.zeros((runs, 5))
    found = learn(Guess({"numbers": numbers}), Population(ONE), runs=runs)
    calls = looked_at = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    def counting(array):
        nonlocal looked_at
        looked_at += np.size(array)
        return finite(array)

    finite = np.isfinite
    with monkeypatch.context() as patched:
        patched.setattr(np, "isfinite", counting)
        patched.setitem(sys.modules, "pandas", None)  # its own work is not ours
        sys.setprofile(count)
        try:
            rows = found.table()
        finally:
            sys.setprofile(None)
    assert len(rows) == runs
    return calls, looked_at


def test_the_work_of_a_table_grows_with_the_runs_not_with_their_square(monkeypatch):
    work_of_table(10, monkeypatch)
    some, twice = (np.array(work_of_table(runs, monkeypatch)) for runs in (200, 400))
    assert (twice <= 2 * some + 20).all()


def test_runs_saved_by_version_0_2_are_read(tmp_path):
    """Format 2 wrote `first`, None for a missing trace, and the learners' old names."""
    trees = random_trees(8, 4, 2)
    runs = learn(FullBatch("cot", steps=3), Sample(trees, 50), first_run=4)
    trained = {each.name: getattr(runs, each.name) for each in fields(Trained)}
    facts = {
        "learner": {**learner_facts(runs.learner), "name": "published"},
        "data": data_facts(runs.data),
        "first": 4,
        "seconds": 1.0,
    }
    key = np.asarray(jax.random.key_data(jax.random.key(0)))
    path = tmp_path / "old.npz"
    saving.write_arrays(path, facts, {"trained": trained | {"trace": None}, "key": key})
    with marked_as(path, 2):
        back = Runs.load(path)
    assert (back.name, back.first_run, back.result) == ("full-batch", 4, runs.result)
    np.testing.assert_array_equal(back.numbers, runs.numbers)
    with (
        marked_as(path, 1),
        pytest.raises(
            ValueError,
            match=r"old\.npz .* format 1, this version reads 2 and 3; train the runs again",
        ),
    ):
        Runs.load(path)


@contextmanager
def marked_as(path, number):
    """The same file, marked as of another format."""
    content = path.read_bytes()
    with np.load(path) as stored:
        arrays = dict(stored)
    header = json.loads(str(arrays["header"])) | {"format": number}
    np.savez(path, **(arrays | {"header": np.array(json.dumps(header))}))
    yield
    path.write_bytes(content)
