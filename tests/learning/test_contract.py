"""What every learner keeps: same key same bits, runs that stand alone, models that are what was
trained, files that come back, and one line for what makes no sense."""

import json
import math
import re
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from tests.learning.cases import CASES

from paritylab._support.user_functions import is_fixed
from paritylab.cli.catalogue import FILE, as_text, catalogue, described_learners
from paritylab.learning import (
    LEARNERS,
    FullBatch,
    Heads,
    Population,
    Result,
    Runs,
    Trained,
    concatenate_runs,
    learn,
)
from paritylab.learning.contract import learner_name
from paritylab.options import options_of
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
    compiled = [r for r in caplog.records if "Finished XLA" in r.getMessage()]
    assert bool(compiled) is not is_fixed(vars(case.learner))  # a user's model is traced anew
    for first, second in zip(leaves(trained(case)), leaves(again), strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(trained(case).risk, again.risk)


@pytest.mark.grid(6)
@every_case
def test_a_run_depends_neither_on_its_neighbours_nor_on_the_width_of_its_block(case, trained):
    late = learn(case.learner, case.data_from(2, 2), runs=2, key=0, first_run=2)
    beside = trained(case)
    for alone, among in zip(leaves(late), leaves(beside), strict=True):
        np.testing.assert_allclose(alone, among[2:], rtol=1e-5, atol=1e-7)
    assert late.subset == beside.subset[2:]
    np.testing.assert_array_equal(late.solved, beside.solved[2:])


@pytest.mark.grid(8)
@every_case
def test_the_model_reproduces_the_risk(case, trained):
    runs = trained(case)
    if runs.targets is None:  # held-out rows judge where nobody knows the population
        assert (runs.kind, runs.recovered) == ("sampled", None)
        return
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
    assert {"run", "solved", "risk", "error", "kind", "result"} <= set(table[0])
    assert len(repr(runs).splitlines()) == 3
    assert all(isinstance(result, Result) for result in runs.result)


def test_every_learner_has_a_row_and_its_options():
    covered = {learner_name(case.learner) for case in CASES}
    ours = {n: each for n, each in LEARNERS.items() if each.__module__.startswith("paritylab.")}
    assert covered == set(ours)
    for learner in ours.values():
        assert {field.name for field in fields(learner)} == set(options_of(learner))


def test_the_catalogue_that_help_is_made_from_is_current():
    """`paritylab train --help` reads a file and loads no learner; `make catalogue` writes it."""
    entries = described_learners()
    assert FILE.read_text("utf-8") == as_text(entries)
    assert {name: _plain(entry) for name, entry in catalogue().items()} == {
        name: _plain(entry) for name, entry in entries.items()
    }


def _plain(entry):
    return {**entry._asdict(), "presets": list(entry.presets), "problem": list(entry.problem)}


def test_runs_show_themselves(trained):
    """A repr of three lines, HTML without the user's markup, a plot with or without a trace."""
    case = next(each for each in CASES if each.name == "heads")
    runs = trained(case)
    first, second, third = repr(runs).splitlines()
    assert first.startswith("4 runs of Heads(tau='n/4', loss='mean_hinge_squared'")
    assert "recovered" in second
    assert "out of steps" in third or "solved" in third
    marked = replace(runs, learner=Heads.code(tau="2/n"), loss="<script>")
    assert "<script>" not in marked._repr_html_()
    assert "<td>" in marked._repr_html_()
    with plotting() as plt:
        assert runs.plot().get_xlabel() == "step"
        assert len(runs.plot().lines) == 4
        axes = plt.subplots()[1]
        assert replace(runs, trace={}).plot(axes) is axes


@contextmanager
def plotting():
    """matplotlib without a screen, and its figures closed."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: Heads.code(stepz=4), "did you mean 'steps'"),
        (lambda: Heads.paper(etas=0.1), "did you mean 'eta'"),
        (lambda: Heads(temperature=1.0), "did you mean 'tau'"),
        (lambda: FullBatch("cot", learning_rate=1.0), "did you mean 'eta'"),
    ],
)
def test_a_misspelt_setting_is_named(call, hint):
    with pytest.raises(TypeError, match=hint):
        call()


def wrong_values(option):
    """Values that an option must refuse, each with a part of the line that says why."""
    if option.choices:
        yield option.choices[0] + "x", f"did you mean '{option.choices[0]}'"
        if "number" not in option.own and "variance" not in option.own:
            yield 3, "must be one of"
    elif option.own or option.formula:
        yield {}, "must be"
    elif option.type is bool:
        yield 1, "must be true or false"
    else:
        yield "many", "must be a"
        yield math.nan, "must be a whole number" if option.type is int else "must be finite"
        steps = {"≥": (-1, "at least"), ">": (0, "above"), "<": (0, "below"), "≤": (1, "at most")}
        for sign, limit in option.bounds:
            step, word = steps[sign]
            yield option.type(limit + step), f"must be {word}"
    if not option.optional:
        yield None, "is needed"


#: What links two settings of one learner, which no annotation of a field says.
LINKED = (
    "width must be a multiple of heads|gap is for the chain line|need unit=True|unit heads train"
    "|gain is the step size"
)


def settings_of(option):
    """Values that an option's annotation allows, `None` where it may be left out."""
    limits = dict(option.bounds)
    if option.choices:
        values = st.sampled_from(option.choices)
    elif option.own:
        values = st.nothing()
    elif option.formula:
        values = st.sampled_from(["2/n", "n/4 -> 1/n", 0.5, lambda n: 2 / n])
    elif option.type is bool:
        values = st.booleans()
    elif option.type is int:
        least, most = limits.get("≥", -(2**40)), limits.get("≤", 2**40)
        values = st.integers(max(least, limits.get(">", least - 1) + 1), most)
    else:
        values = st.floats(
            limits.get("≥", limits.get(">")),
            limits.get("≤", limits.get("<")),
            exclude_min=">" in limits,
            exclude_max="<" in limits,
            allow_nan=False,
            allow_infinity=False,
        )
    return st.none() | values if option.optional else values


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_settings_drawn_from_the_annotations_make_a_learner(name, data):
    learner = LEARNERS[name]
    needed = {"model": lambda key: None} if name == "descent" else {}
    table = {key: each for key, each in options_of(learner).items() if key not in needed}
    drawable = {
        key: strategy for key, each in table.items() if not (strategy := settings_of(each)).is_empty
    }
    drawn = data.draw(st.fixed_dictionaries({}, optional=drawable))
    try:
        built = learner(**needed, **drawn)
    except ValueError as error:
        assume(not re.search(LINKED, str(error)))
        raise
    assert {key: getattr(built, key) for key in drawn} == drawn


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_setting_refuses_what_its_annotation_excludes(name):
    learner = LEARNERS[name]
    needed = {"model": lambda key: None} if name == "descent" else {}
    for setting, option in options_of(learner).items():
        for value, words in wrong_values(option):
            with pytest.raises(ValueError, match=rf"^{setting} .*{words}") as raised:
                learner(**{**needed, setting: value})
            assert "\n" not in str(raised.value)


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


def test_files_of_another_format_are_refused(tmp_path):
    header = {"format": 3, "facts": {}, "tree": {"dict": {}}}
    np.savez(tmp_path / "old.npz", header=np.array(json.dumps(header)))
    with pytest.raises(ValueError, match=r"old\.npz does not hold saved runs: its format is 3"):
        Runs.load(tmp_path / "old.npz")


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


class TakesText(Guess):
    takes = ("Population",)


#: One run where three were asked for.
FEW = {name: np.zeros(1) for name in ("numbers", "risk", "error", "solved")} | {"subset": [None]}


def test_a_learner_of_ones_own_is_as_good_as_the_labs(tmp_path):
    runs = learn(Guess(), Population(Parity(8, (0, 1))), runs=3)
    assert (runs.name, runs.rate().successes, runs.recovered.tolist()) == ("Guess", 3, [True] * 3)
    assert runs.model(1)(np.zeros(8)) == 0
    back = Runs.load(runs.save(tmp_path / "own.npz"), learner=Guess())
    assert (back.rate(), back.names_a_set) == (runs.rate(), True)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (
            NoRebuild(),
            r"NoRebuild is not a learner, it lacks rebuild; .* train\(data, keys, trace\)",
        ),
        (TakesText(), r"TakesText\.takes must be a tuple of some of Population, Sample"),
        (Guess({"returns": 3}), r"Guess\.train must return a Trained, got int"),
        (Guess({"kind": "guessed"}), "kind of a risk must be one of exact, numerical, sampled"),
        (Guess({"subset": [None]}), "subset of trained runs needs one entry per run"),
        (Guess({"numbers": np.zeros(2)}), "numbers of trained runs needs one entry per run"),
        (Guess({"stats": {"luck": np.zeros(())}}), "stats of trained runs needs one entry"),
        (Guess({"trace": {"step": [0], "risk": [1]}}), "trace of trained runs needs one entry"),
        (Guess(FEW), r"Guess\.train returned 1 runs, asked for 3"),
    ],
)
def test_what_a_learner_lacks_is_one_line(learner, words):
    with pytest.raises(ValueError, match=words) as raised:
        learn(learner, Population(ONE), runs=3)
    assert "\n" not in str(raised.value)
