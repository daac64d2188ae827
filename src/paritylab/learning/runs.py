"""A learner meets data, runs come out.

runs = learn(Heads.code(), Population(random_parities(12, 2, runs=100)))
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from html import escape
from inspect import signature
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    overload,
)

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from paritylab._support.checks import shortened
from paritylab._support.user_functions import one_call
from paritylab.figures import Series, paint, styled
from paritylab.learning.contract import (
    Learner,
    StepLearner,
    Trained,
    check_learner,
    fact,
    learner_name,
)
from paritylab.learning.data import (
    Data,
    Fresh,
    Rows,
    Sample,
    hidden_set,
    targets_or_unknown,
)
from paritylab.learning.saving import learner_facts, learner_from, read_tree, write_tree
from paritylab.learning.stepwise import Report
from paritylab.learning.training import rebuild_model, train_stepwise
from paritylab.models.protocol import Model
from paritylab.problem.keys import as_key, run_numbers
from paritylab.problem.sampling import fold_keys
from paritylab.statistics import Rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: One entry of a table of runs.
Cell: TypeAlias = bool | int | float | str | tuple[int, ...] | list[Any] | None

#: Runs that a plot draws one line each of.
LINES = 60
#: Plain fields of `Runs` that a file keeps.
REST = ("first_run", "seconds", "names_a_set")

D = TypeVar("D", bound=Data)
M = TypeVar("M", bound=Model)


class Result(Enum):
    """How a run ended; the value is the sentence shown to people."""

    SOLVED = "solved: its predictions are right"
    OUT_OF_STEPS = "out of steps before it was solved"
    DIVERGED = "diverged: its numbers are no longer finite"
    ABSTAINED = "abstained: the data do not support an answer"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Runs(Trained, Generic[M]):
    """What was `Trained`, by which learner and on which data; run i is entry i everywhere.

    key, first_run: run i drew from fold_in(key, first_run + i). solved: whether the predictions
    are right, as docs/learners.md defines it for each family. recovered: whether a run names
    exactly the hidden structure; None where nobody knows it. names_a_set: whether success is
    naming the hidden set; else it is being solved. seconds: the training took.

    What depends on the learner or on the data (`learner`, `targets`, `recovered`, `model`) is not
    known to type checkers more closely: the caller knows what was trained on what.
    """

    learner: Learner[Any, M] | StepLearner[M]
    data: Data
    key: int | jax.Array
    first_run: int = 0
    seconds: float = 0.0
    names_a_set: bool = False

    @property
    def name(self) -> str:
        """The learner's name."""
        return learner_name(self.learner)

    @property
    def targets(self) -> Any:
        """What was hidden, one target per run; None for rows of one's own."""
        return self.data.targets

    @property
    def hidden(self) -> list[tuple[int, ...]]:
        """The hidden set of each run; an error for rows of one's own, where nobody knows it."""
        if self.targets is None:
            raise ValueError("rows of one's own come without a hidden set")
        return [hidden_set(target) for target in self.targets]

    @cached_property
    def result(self) -> list[Result]:
        """How each run ended."""
        ends = np.full(len(self), Result.OUT_OF_STEPS, dtype=object)
        ends[self.solved] = Result.SOLVED
        if self.abstained is not None:
            ends[self.abstained] = Result.ABSTAINED
        ends[self.diverged] = Result.DIVERGED
        return list(ends)

    def rate(self, of: str | None = None) -> Rate:
        """The share of runs with a flag: "recovered" where runs name a set, else "solved".

        of: "recovered", "solved", or the name of a flag among the stats.
        """
        return Rate.of(self.flags(of or ("recovered" if self.names_a_set else "solved")))

    def flags(self, of: str) -> np.ndarray:
        """ "recovered", "solved" or a flag among the stats, one entry per run."""
        found = getattr(self, of) if of in ("recovered", "solved") else self.stats.get(of)
        if found is None:
            known = ", ".join(["recovered", "solved", *self.stats])
            raise ValueError(f"no flag {shortened(of)} in these runs; known: {known}")
        return np.asarray(found)

    def model(self, run: int) -> M:
        """Exactly what run number `run` trained."""
        if not -len(self) <= run < len(self):
            raise ValueError(f"there are {len(self)} runs, got run number {run}")
        run %= len(self)
        numbers = jax.tree.map(lambda leaf: np.asarray(leaf)[run], self.numbers)
        target = targets_or_unknown(self.data)[run]
        key = run_keys(self.key, self.first_run + run, 1)[0]
        return cast(M, rebuild_model(self.learner, numbers, target, key))

    @property
    def models(self) -> list[M]:
        """What every run trained."""
        return [self.model(run) for run in range(len(self))]

    def table(self) -> list[dict[str, Cell]]:
        """One row per run; `pandas.DataFrame` takes it as it is."""
        columns: dict[str, Sequence[Cell]] = {
            "run": list(range(self.first_run, self.first_run + len(self))),
            "solved": self.solved.tolist(),
            **({} if self.recovered is None else {"recovered": self.recovered.tolist()}),
            "result": [result.name.lower() for result in self.result],
            "risk": self.risk.tolist(),
            "error": self.error.tolist(),
            "kind": [self.kind] * len(self),
            "subset": self.subset,
            **{name: values.tolist() for name, values in self.stats.items()},
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """The chart of `course` on axes of your own, or on new ones; returns the axes."""
        import matplotlib.pyplot as plt

        with styled():
            axes = plt.subplots(figsize=(6, 3.5), layout="constrained")[1] if axes is None else axes
            title = f"{len(self)} runs of {type(self.learner).__name__}: {self.rate()}"
            paint(axes, {**course(self), "title": title})
        return axes

    def __repr__(self) -> str:
        """Three lines: who and on what, what came out, where to look further."""
        found = self.facts()
        outcome = "; ".join(f"{name} {text}" for name, text in found.items() if name != "ended")
        trace = f"; trace of {', '.join(self.trace)}" if self.trace else ""
        further = f"{found['ended']}{trace}; see .table(), .plot(), .model(i)"
        return f"{self._headline()}\n{outcome}\n{further}"

    def _repr_html_(self) -> str:
        """The same for a notebook; all text is escaped."""
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in self.facts().items()
        )
        return f"<p><b>{escape(self._headline())}</b></p><table>{rows}</table>"

    def _headline(self) -> str:
        """Who learnt from what: the learner with its changed settings, the data, their size."""
        data = self.data
        size = f"n = {data.n}" + ("" if data.k is None else f", k = {data.k}")
        size += f", {data.samples:,} samples" if isinstance(data, Sample | Fresh) else ""
        return f"{len(self):,} runs of {described(self.learner)} on {type(data).__name__} ({size})"

    def facts(self) -> dict[str, str]:
        """What came out, by name: rates with intervals, the median risk, how the runs ended."""
        flags = {"solved": self.solved}
        if self.recovered is not None and self.names_a_set:
            flags = {"recovered": self.recovered, **flags}
        finite = self.risk[np.isfinite(self.risk)]
        median = f"{np.median(finite):.3g} ({self.kind}, {self.loss})" if len(finite) else "none"
        ends = Counter(each.name.lower().replace("_", " ") for each in self.result)
        return {
            **{name: str(Rate.of(each)) for name, each in flags.items()},
            "median risk": median,
            "ended": ", ".join(f"{count} {name}" for name, count in ends.most_common()),
            "took": f"{self.seconds:.2g} s",
        }

    def save(self, path: str | Path) -> Path:
        """Write the runs to one .npz file, in full or not at all; nothing in it is code."""
        tree = {
            "learner": learner_facts(self.learner),
            "data": self.data,
            "key": np.asarray(jax.random.key_data(as_key(self.key))),
            "trained": {each.name: getattr(self, each.name) for each in fields(Trained)},
            "rest": {name: getattr(self, name) for name in REST},
        }
        return write_tree(path, tree)

    @classmethod
    def load(cls, path: str | Path, learner: Learner[Any, Any] | None = None) -> "Runs[Any]":
        """Runs written by `save`. learner: needed if it held functions or objects of your own."""
        tree = read_tree(path)
        try:
            facts = tree["learner"]
            key = jax.random.wrap_key_data(jnp.asarray(tree["key"], jnp.uint32))
            given: Any = facts if learner is None else learner
            runs = cls(**tree["trained"], learner=given, data=tree["data"], key=key, **tree["rest"])
        except Exception as error:  # what stands in the file may be anything
            raise ValueError(f"{path} does not hold saved runs: {error}") from None
        # Outside of the above: its message about parts of one's own is no complaint about the file.
        return replace(runs, learner=learner_from(facts)) if learner is None else runs


class _Settings(TypedDict, total=False):
    """What `learn` takes besides learner and data, for type checkers."""

    runs: int | None
    key: int | jax.Array
    first_run: int
    trace: int | None
    progress: Report


@overload
def learn(learner: Learner[D, M], data: D, **settings: Unpack[_Settings]) -> Runs[M]: ...
@overload
def learn(learner: StepLearner[M], data: Data, **settings: Unpack[_Settings]) -> Runs[M]: ...
def learn(
    learner: Learner[Any, M] | StepLearner[M],
    data: Data,
    *,
    runs: int | None = None,
    key: int | jax.Array = 0,
    first_run: int = 0,
    trace: int | None = None,
    progress: Report = None,
) -> Runs[M]:
    """Train `runs` runs of the learner on the data; run i draws from fold_in(key, first_run + i).

    key: an integer seed or a jax key. trace: keep the state before every so many steps. progress: a
    function that is called with a `Progress` now and then, by learners that train in the common
    loop (`Heads`, networks, own ones). One's own are described in `paritylab.learning.stepwise`.

    >>> from paritylab import Heads, Population, Parity
    >>> runs = learn(Heads.code(steps=400), Population(Parity(8, (2, 5))), runs=16)
    >>> len(runs), runs.kind, bool(runs.rate().value > 0.3)
    (16, 'exact', True)
    """
    check_learner(learner, data)
    if trace is not None and (isinstance(trace, bool) or trace < 1):
        raise ValueError(f"trace must be a number of steps ≥ 1 or None, got {shortened(trace)}")
    meant = data.for_runs(runs)
    start = time.perf_counter()
    if progress not in (None, True, False) and not callable(progress):
        raise ValueError(f"progress must be true, false or a function, got {shortened(progress)}")
    keys = run_keys(key, first_run, meant.runs)
    with one_call(type(learner), vars(learner) if hasattr(learner, "__dict__") else learner):
        if not hasattr(learner, "train"):
            trained = train_stepwise(learner, meant, keys, trace, progress)
        elif "report" in signature(learner.train).parameters:
            trained = learner.train(meant, keys, trace, progress)  # type: ignore[call-arg]
        else:
            trained = learner.train(meant, keys, trace)
    seconds = time.perf_counter() - start
    name = type(learner).__name__
    if not isinstance(trained, Trained):
        raise ValueError(f"{name}.train must return a Trained, got {type(trained).__name__}")
    if len(trained) != meant.runs:
        raise ValueError(f"{name}.train returned {len(trained)} runs, asked for {meant.runs}")
    own = {each.name: getattr(trained, each.name) for each in fields(Trained)}
    names = trained.recovered is not None or any(each is not None for each in trained.subset)
    if meant.targets is None:
        names, own["recovered"] = False, None
    elif trained.recovered is None:
        pairs = zip(trained.subset, map(hidden_set, meant.targets), strict=True)
        own["recovered"] = np.array([found == hidden for found, hidden in pairs])
    run: dict[str, Any] = {
        "key": key,
        "first_run": first_run,
        "seconds": seconds,
        "names_a_set": names,
    }
    return Runs(**own, learner=learner, data=meant, **run)


def concatenate_runs(parts: Sequence[Runs[M]]) -> Runs[M]:
    """Consecutive runs of one learner as one; run numbers go on from the first part's."""
    if not parts:
        raise ValueError("give at least one part to join")
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first.data, Rows):
        raise ValueError("runs on rows of one's own cannot be joined")
    targets = tuple(target for part in parts for target in part.targets or ())
    columns = {
        each.name: _together([getattr(part, each.name) for part in parts], each.name)
        for each in fields(Trained)
    }
    return replace(
        first,
        **columns,
        data=replace(first.data, targets=targets),
        seconds=sum(part.seconds for part in parts),
        names_a_set=any(part.names_a_set for part in parts),
    )


def _together(values: list[PyTree], name: str) -> PyTree:
    """One field of all parts; run axes are concatenated, what is common to all runs is kept."""
    if values[0] is None or isinstance(values[0], str):
        return values[0]
    if name == "subset":
        return [each for part in values for each in part]
    if name == "trace" and values[0]:  # every part recorded the same steps
        rest = [{k: v for k, v in part.items() if k != "step"} for part in values]
        return {"step": values[0]["step"], **_together(rest, "")}
    plain = [dict(tree) if isinstance(tree, dict) else tree for tree in values]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *plain)


def run_keys(key: int | jax.Array, first_run: int, runs: int) -> jax.Array:
    """Keys of runs first_run … first_run+runs-1: fold_in(key, i)."""
    keys: jax.Array = fold_keys(as_key(key), run_numbers(first_run, runs))
    return keys


def described(learner: object) -> str:
    """A learner as it would be typed: only the fields that differ from their defaults."""
    if not is_dataclass(learner):
        return type(learner).__name__
    changed = []
    for each in fields(learner):
        value = getattr(learner, each.name)
        usual = isinstance(value, type(each.default)) and value is not None
        if each.default is MISSING or not (
            value is each.default or (usual and value == each.default)
        ):
            changed.append(f"{each.name}={shortened(value)}")
    return f"{type(learner).__name__}({', '.join(changed)})"


def course(runs: Runs[Any]) -> Series:
    """The chart of what each run descended, step by step, in the colour of whether it solved its
    problem; of the risks at the end, in rising order, where no trace was kept."""
    name = next((name for name in fact(runs.learner, "course") if name in runs.trace), None)
    if name is None or len(runs.trace["step"]) < 3:
        ends = np.sort(runs.risk[np.isfinite(runs.risk)])
        line = {"x": np.arange(1, len(ends) + 1), "y": ends}
        axes = {"x": {"label": "runs"}, "y": {"label": f"risk at the end ({runs.loss})"}}
        return {"kind": "lines", **axes, "lines": [line]}
    lines = [
        {"x": runs.trace["step"], "y": row, "colour": "c0" if solved else "soft", "style": "-"}
        for row, solved in zip(runs.trace[name][:LINES], runs.solved, strict=False)
        if np.isfinite(row).all()
    ]
    label = fact(runs.learner, "captions").get(name, name)
    axes = {"x": {"label": "step"}, "y": {"label": label}}
    return {"kind": "lines", **axes, "lines": lines}
