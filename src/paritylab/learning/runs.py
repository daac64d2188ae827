"""The contract of everything that learns: a learner meets data, runs come out.

    runs = learn(Heads.code(), Population(random_parities(12, 2, runs=100)))

A learner is a frozen object whose fields are its settings. It says which kinds of data it `takes`,
`train`s many runs at once, and can `rebuild` the model of one run from its numbers. Anything with
these three is as good as the lab's own.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.data import (
    Data,
    Rows,
    Target,
    Unknown,
    data_facts,
    data_from,
    hidden_set,
    with_tuples,
)
from paritylab.learning.saving import read_arrays, write_arrays
from paritylab.options import check_settings
from paritylab.problem.sampling import as_key, fold_keys
from paritylab.statistics import Rate

#: A parity counts as solved below this squared-hinge risk.
SOLVED_RISK = 0.05


class Result(Enum):
    """How a run ended; the value is the sentence shown to people."""

    SOLVED = "solved: its predictions are right"
    OUT_OF_STEPS = "out of steps before it was solved"
    DIVERGED = "diverged: its numbers are no longer finite"
    ABSTAINED = "abstained: the data do not support an answer"


class Trained(NamedTuple):
    """What a learner's `train` returns; every array has the run as its first axis.

    numbers: a tree (dicts, tuples) of all trained arrays. subset: what each run says the hidden
    set is, None if it says nothing. risk, error, kind: the front door's number of what was
    trained, its error, and "exact", "numerical" or "sampled"; loss: which loss it is of. solved:
    flags. recovered: flags, from `subset` unless the learner knows better. abstained: flags.
    trace: arrays by name, with "step" the recorded steps (records,). stats: numbers by name.
    """

    numbers: Any
    subset: Sequence[tuple[int, ...] | None]
    risk: np.ndarray
    error: np.ndarray
    kind: str
    loss: str
    solved: np.ndarray
    recovered: np.ndarray | None = None
    abstained: np.ndarray | None = None
    trace: dict[str, np.ndarray] | None = None
    stats: dict[str, np.ndarray] | None = None


class Learner(Protocol):
    """What `learn` needs."""

    takes: ClassVar[tuple[type, ...]]

    def train(self, data: Any, keys: jax.Array, trace: int | None) -> Trained:
        """Train one run per key; trace: record every so many steps, or nothing."""

    def rebuild(self, numbers: Any, target: Target | Unknown, key: jax.Array) -> Any:
        """The trained model of one run, from its numbers, its target and its key."""


LEARNERS: dict[str, type] = {}
Kind = TypeVar("Kind", bound=type)


def register(name: str) -> Callable[[Kind], Kind]:
    """Give a learner the name by which sweeps, saved runs and the table of options know it."""

    def enter(learner: Kind) -> Kind:
        LEARNERS[name] = learner
        learner.name = name  # type: ignore[attr-defined]
        return learner

    return enter


def check_fields(learner: Any) -> None:
    """A learner's fields against the table of options; call it in `__post_init__`."""
    check_settings(learner.name, vars(learner))


@dataclass(frozen=True, eq=False)
class Runs:
    """Finished runs of one learner on one kind of data; run i is entry i everywhere.

    key, first: run i drew from fold_in(key, first + i). The other fields are those of `Trained`.
    """

    learner: Any
    data: Any
    key: Any
    first: int
    trained: Trained
    seconds: float = 0.0
    stats: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.trained.risk)

    @property
    def targets(self) -> tuple[Target, ...] | None:
        return self.data.targets

    @property
    def numbers(self) -> Any:
        return self.trained.numbers

    @property
    def subset(self) -> list[tuple[int, ...] | None]:
        """What each run says the hidden set is."""
        return list(self.trained.subset)

    @property
    def risk(self) -> np.ndarray:
        return self.trained.risk

    @property
    def error(self) -> np.ndarray:
        return self.trained.error

    @property
    def kind(self) -> str:
        return self.trained.kind

    @property
    def loss(self) -> str:
        return self.trained.loss

    @property
    def trace(self) -> dict[str, np.ndarray]:
        if self.trained.trace is None:
            raise ValueError("no trace was kept; ask for one with learn(…, trace=10)")
        return self.trained.trace

    @property
    def diverged(self) -> np.ndarray:
        """Whether a run's numbers or its risk are no longer finite."""
        finite = np.isfinite(self.risk)
        for leaf in jax.tree.leaves(self.numbers):
            array = np.asarray(leaf)
            finite &= np.isfinite(array.reshape(len(array), -1)).all(axis=1)
        return ~finite

    @property
    def solved(self) -> np.ndarray:
        """Whether the predictions are right, as docs/learners.md defines it for each family."""
        return np.asarray(self.trained.solved, dtype=bool) & ~self.diverged

    @property
    def recovered(self) -> Any:
        """Flags: does a run name exactly the hidden structure? None where nobody knows it."""
        if self.targets is None:
            return None
        if self.trained.recovered is not None:
            return np.asarray(self.trained.recovered, dtype=bool) & ~self.diverged
        pairs = zip(self.subset, self.targets, strict=True)
        return np.array([found == hidden_set(target) for found, target in pairs]) & ~self.diverged

    @property
    def result(self) -> list[Result]:
        """How each run ended."""
        abstained = self.trained.abstained
        flags = zip(
            self.diverged,
            np.zeros(len(self), bool) if abstained is None else abstained,
            self.solved,
            strict=True,
        )
        return [
            Result.DIVERGED
            if diverged
            else Result.ABSTAINED
            if gave_up
            else Result.SOLVED
            if solved
            else Result.OUT_OF_STEPS
            for diverged, gave_up, solved in flags
        ]

    @property
    def names_a_set(self) -> bool:
        """Whether success is naming the hidden set; else it is being solved."""
        says = self.trained.recovered is not None or any(s is not None for s in self.subset)
        return self.targets is not None and says

    def rate(self, of: str | None = None) -> Rate:
        """The share of runs with a flag: "recovered" where runs name a set, else "solved".

        of: "recovered", "solved", or the name of a flag among the stats.
        """
        of = of or ("recovered" if self.names_a_set else "solved")
        flags = getattr(self, of) if of in ("recovered", "solved") else self.stats.get(of)
        if flags is None:
            known = ", ".join(["recovered", "solved", *self.stats])
            raise ValueError(f"no flag {of!r} in these runs; known: {known}")
        return Rate.of(flags)

    def model(self, run: int) -> Any:
        """Exactly what run number `run` trained."""
        if not -len(self) <= run < len(self):
            raise ValueError(f"there are {len(self)} runs, got run number {run}")
        run %= len(self)
        numbers = jax.tree.map(lambda leaf: np.asarray(leaf)[run], self.numbers)
        target = Unknown(self.data.n) if self.targets is None else self.targets[run]
        return self.learner.rebuild(numbers, target, run_keys(self.key, self.first + run, 1)[0])

    @property
    def models(self) -> list[Any]:
        return [self.model(run) for run in range(len(self))]

    def table(self) -> Any:
        """One row per run: a DataFrame where pandas is installed, else a list of dicts."""
        rows = [
            {
                "run": self.first + run,
                "solved": bool(self.solved[run]),
                **({} if self.recovered is None else {"recovered": bool(self.recovered[run])}),
                "result": self.result[run].name.lower(),
                "risk": float(self.risk[run]),
                "error": float(self.error[run]),
                "kind": self.kind,
                "subset": self.subset[run],
                **{name: np.asarray(values)[run].tolist() for name, values in self.stats.items()},
            }
            for run in range(len(self))
        ]
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError:
            return rows
        return pandas.DataFrame(rows)

    def save(self, path: Any) -> Any:
        """Write the runs to one .npz file, in full or not at all; nothing in it is code."""
        facts = {
            "learner": _learner_facts(self.learner),
            "data": data_facts(self.data),
            "first": self.first,
            "seconds": self.seconds,
        }
        tree = {"trained": self.trained._asdict(), "key": _key_words(self.key)}
        if isinstance(self.data, Rows):
            tree["rows"] = {"bits": self.data.bits, "labels": self.data.labels}
        return write_arrays(path, facts, tree)

    @classmethod
    def load(cls, path: Any, learner: Any = None) -> "Runs":
        """Runs written by `save`. learner: needed if it held functions or objects of your own."""
        facts, tree = read_arrays(path)
        try:
            trained = Trained(**tree["trained"])
            data = data_from(facts["data"], tree.get("rows"))
            key = jax.random.wrap_key_data(jnp.asarray(tree["key"], jnp.uint32))
            header, first, seconds = facts["learner"], facts["first"], facts["seconds"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} does not hold saved runs: {error}") from None
        learner = _learner_from(header) if learner is None else learner
        stats = {name: np.asarray(values) for name, values in (trained.stats or {}).items()}
        return cls(learner, data, key, first, trained, seconds, stats)


def learn(
    learner: Any,
    data: Any,
    *,
    runs: int | None = None,
    key: Any = 0,
    first: int = 0,
    trace: int | None = None,
) -> Runs:
    """Train `runs` runs of the learner on the data; run i draws from fold_in(key, first + i).

    key: an integer seed or a jax key. trace: keep the state before every so many steps.

    >>> from paritylab import Heads, Population, Parity
    >>> runs = learn(Heads.code(steps=400), Population(Parity(8, (2, 5))), runs=16)
    >>> len(runs), runs.kind, bool(runs.rate().value > 0.3)
    (16, 'exact', True)
    """
    _check_learner(learner)
    if not isinstance(data, Data):
        kinds = ", ".join(each.__name__ for each in Data.__args__)
        raise ValueError(f"data must be one of {kinds}, got {type(data).__name__}")
    if not isinstance(data, learner.takes):
        fitting = ", ".join(each.__name__ for each in learner.takes)
        raise ValueError(
            f"{type(learner).__name__} does not learn from {type(data).__name__}; "
            f"it takes {fitting}"
        )
    if trace is not None and (isinstance(trace, bool) or trace < 1):
        raise ValueError(f"trace must be a number of steps ≥ 1 or None, got {trace!r}")
    data = data.for_runs(runs)
    start = time.perf_counter()
    trained = learner.train(data, run_keys(key, first, data.runs), trace)
    seconds = time.perf_counter() - start
    stats = {name: np.asarray(values) for name, values in (trained.stats or {}).items()}
    return Runs(learner, data, key, first, trained, seconds, stats)


def joined(parts: Sequence[Runs]) -> Runs:
    """Consecutive runs of one learner as one; run numbers go on from the first part's."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if any(part.targets is None for part in parts):
        raise ValueError("runs on rows of one's own cannot be joined")
    targets = tuple(target for part in parts for target in part.data.targets)
    data = replace(first.data, targets=targets)
    columns = {
        name: _together([getattr(part.trained, name) for part in parts], name)
        for name in Trained._fields
    }
    trained, seconds = Trained(**columns), sum(part.seconds for part in parts)
    stats = {name: np.asarray(values) for name, values in (trained.stats or {}).items()}
    return Runs(first.learner, data, first.key, first.first, trained, seconds, stats)


def _together(values: list[Any], name: str) -> Any:
    if values[0] is None or isinstance(values[0], str):
        return values[0]
    if name == "subset":
        return [each for part in values for each in part]
    if name == "trace":  # every part recorded the same steps
        steps = {"step": values[0]["step"]}
        rest = [{k: v for k, v in part.items() if k != "step"} for part in values]
        return {**steps, **_together(rest, "")}
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *values)


def _check_learner(learner: Any) -> None:
    if isinstance(learner, type):
        raise ValueError(f"give a learner object: {learner.__name__}(), not the class")
    for name in ("takes", "train", "rebuild"):
        if not hasattr(learner, name):
            raise ValueError(
                f"{type(learner).__name__} is no learner: it lacks {name}; a learner has takes, "
                "train(data, keys, trace) and rebuild(numbers, target, key)"
            )


def run_keys(key: Any, first: int, runs: int) -> jax.Array:
    """Keys of runs first … first+runs-1: fold_in(key, i)."""
    return fold_keys(as_key(key), first + np.arange(runs))


def _key_words(key: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(as_key(key)))


def _learner_facts(learner: Any) -> dict[str, Any]:
    """Name and plain fields; fields of one's own are only named, and must be given on loading."""
    values = {each.name: getattr(learner, each.name) for each in fields(learner)}
    plain = {name: value for name, value in values.items() if _is_plain(value)}
    name = getattr(learner, "name", type(learner).__name__)
    return {"name": name, "fields": plain, "own": sorted(set(values) - set(plain))}


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(part) for part in value)
    return value is None or isinstance(value, bool | int | float | str)


def _learner_from(facts: dict[str, Any]) -> Any:
    if facts["own"] or facts["name"] not in LEARNERS:
        parts = f" with its own {', '.join(facts['own'])}" if facts["own"] else ""
        raise ValueError(
            f"these runs were trained by {facts['name']}{parts}; "
            "pass the same learner: Runs.load(path, learner=…)"
        )
    return LEARNERS[facts["name"]](**with_tuples(facts["fields"]))
