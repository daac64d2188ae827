"""The contract of everything that learns: what a learner has, and what its training returns.

A learner is a frozen object whose fields are its settings. It says which kinds of data it `takes`,
`train`s many runs at once, and can `rebuild` the model of one run from its numbers. Anything with
these three is as good as the lab's own. What else sweeps, the command line and the pictures need to
know of a learner are class attributes with defaults: see `BaseLearner`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Protocol, Self, TypeAlias, TypeVar, get_args

import jax
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, PyTree

from paritylab._support.checks import shortened
from paritylab.learning.data import Data, Fresh, Population, Target, Unknown
from paritylab.models.attention import ATTENTION as ATTENTION_KINDS, Kind as AttentionKind
from paritylab.models.links import LINKS, AbstractLink
from paritylab.models.protocol import Model
from paritylab.models.readouts import Readout
from paritylab.options import Choice, check_settings, nearest, options_of
from paritylab.problem import Loss
from paritylab.problem.losses import LOSSES

#: A parity counts as solved below this squared-hinge risk.
SOLVED_RISK = 0.05
#: How a risk was found, the words of `Trained.kind`.
KINDS = ("exact", "numerical", "sampled")

Subset = tuple[int, ...] | None

# What a user may give where a learner expects a part: its name, or one of their own.

#: φ of a chain, an even function of t.
LinkPart: TypeAlias = str | AbstractLink | Callable[[Array], Array]
#: A loss, or a function of y and ŷ.
LossPart: TypeAlias = str | Loss | Callable[[Array, Array], Array]
#: From the attended sum to ŷ.
ReadoutPart: TypeAlias = str | Readout
#: How scores become weights, a function over the last axis.
AttentionPart: TypeAlias = str | AttentionKind
#: An optimiser by name, ready from optax, or a function of the step size that gives one.
OptimiserPart: TypeAlias = (
    str | optax.GradientTransformation | Callable[..., optax.GradientTransformation]
)
#: A model, the start of every run, or a function from a key to one.
ModelPart: TypeAlias = Model | Callable[[jax.Array], Model]

# What a field that holds such a part may be: the registered names, or a part of one's own.

LOSS = Choice(LOSSES, own="a Loss or a function of y and ŷ")
ATTENTION = Choice(ATTENTION_KINDS, own="a function of scores")
LINK = Choice(LINKS, own="an AbstractLink or an even function of t")

#: Largest n at which training visits all inputs.
MOST_INPUTS = 20
#: Kinds of hidden targets, as `BaseLearner.targets` names them.
TARGETS = ("parity", "junta", "pair", "tree")


class Trace(dict[str, np.ndarray]):
    """Arrays by name; asking for one that is not there is an error that says what to do."""

    def __missing__(self, name: str) -> NoReturn:
        if not self:
            raise ValueError("no trace was kept; ask for one with learn(…, trace=10)")
        raise ValueError(f"no {name!r} in this trace; it has {', '.join(self)}")


@dataclass(frozen=True, eq=False, repr=False)
class Trained:
    """What a learner's `train` returns; every array has the run as its first axis.

    numbers: a tree (dicts, tuples) of all trained arrays. subset: what each run says the hidden
    set is, None if it says nothing. risk, error, kind: the risk of what was
    trained, its error, and "exact", "numerical" or "sampled"; loss: which loss it is of. solved:
    flags; a run that diverged is never solved. recovered: flags, from `subset` unless the learner
    knows better. abstained: flags. trace: arrays by name (runs, records, …), with "step" the
    recorded steps (records,). stats: numbers by name.
    """

    numbers: PyTree
    subset: list[Subset]
    risk: Float[np.ndarray, " runs"]
    error: Float[np.ndarray, " runs"]
    kind: str
    loss: str
    solved: Bool[np.ndarray, " runs"]
    recovered: Bool[np.ndarray, " runs"] | None = None
    abstained: Bool[np.ndarray, " runs"] | None = None
    trace: dict[str, np.ndarray] = field(default_factory=Trace)
    stats: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept: dict[str, Any] = {"subset": list(self.subset), "trace": Trace(self.trace)}
        kept["stats"] = {name: np.asarray(values) for name, values in self.stats.items()}
        kept |= {name: np.asarray(getattr(self, name)) for name in ("risk", "error")}
        for name in ("solved", "recovered", "abstained"):
            if (flags := getattr(self, name)) is not None:
                kept[name] = np.asarray(flags, dtype=bool)
        for name, values in kept.items():
            object.__setattr__(self, name, values)
        self._check()
        for name in {"solved", "recovered"} & kept.keys():
            object.__setattr__(self, name, kept[name] & ~self.diverged)

    def __len__(self) -> int:
        return len(self.risk)

    def __repr__(self) -> str:
        return f"Trained({len(self)} runs, {int(self.solved.sum())} solved)"

    @cached_property
    def diverged(self) -> Bool[np.ndarray, " runs"]:
        """Whether a run's numbers or its risk are no longer finite."""
        finite = np.isfinite(self.risk)
        for leaf in jax.tree.leaves(self.numbers):
            array = np.asarray(leaf)
            finite &= np.isfinite(array.reshape(len(array), -1)).all(axis=1)
        return np.asarray(~finite)

    def _check(self) -> None:
        """One line for the first field that has no entry per run."""
        if self.kind not in KINDS:
            raise ValueError(
                f"kind of a risk must be one of {', '.join(KINDS)}, got {shortened(self.kind)}"
            )
        trees = {each.name: getattr(self, each.name) for each in fields(Trained)}
        trees |= {"trace": {name: v for name, v in self.trace.items() if name != "step"}}
        trees |= {"subset": np.empty(len(self.subset)), "kind": None, "loss": None}
        for name, tree in trees.items():
            for shape in map(np.shape, jax.tree.leaves(tree)):
                if shape[:1] != (len(self),):
                    raise ValueError(
                        f"{name} of trained runs needs one entry per run, got shape {shape} for "
                        f"{len(self)} risks"
                    )


D_contra = TypeVar("D_contra", bound=Data, contravariant=True)
M_co = TypeVar("M_co", bound=Model, covariant=True)


class Learner(Protocol[D_contra, M_co]):
    """What `learn` needs of a learner of data D that trains models M.

    All else that is known of one has a default: see `BaseLearner`.
    """

    @property
    def takes(self) -> tuple[type[Data], ...]:
        """The kinds of data it learns from."""

    def train(self, data: D_contra, keys: jax.Array, trace: int | None) -> Trained:
        """Train one run per key; trace: record every so many steps, or nothing."""

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> M_co:
        """The trained model of one run, from its numbers, its target and its key."""


class StepLearner(Protocol[M_co]):
    """A learner that goes step by step and leaves the loop to `learn`; its parts are described in
    `paritylab.learning.stepwise`."""

    @property
    def steps(self) -> int:
        """Steps of every run."""

    def init(self, key: Any, target: Any, /) -> Any:
        """The state of a run before its first step."""

    def step(self, state: Any, risk: Any, key: Any, /) -> tuple[Any, Any]:
        """The state after a step, and a record of the step."""

    def model(self, state: Any, target: Any, /) -> M_co:
        """The model that a state stands for."""


class BaseLearner:
    """Base of a learner: what it says of itself, with what holds unless a class says otherwise.

    A learner need not inherit from this. Of one that does not, `fact` reads the attributes it has
    and takes the others from here. Who inherits gets one thing more: a misspelt keyword is
    answered with the setting that was probably meant.

    takes: kinds of data. targets: what may be hidden: "parity", "junta", "pair" (a parity of two
    bits with sign -1) or "tree"; sweeps and the command line draw the first. streams: its memory
    does not grow with the number of rows. one_by_one: runs are trained one after another.
    presets: constructors by name. trains_on: options of `paritylab train` where none are typed,
    such as {"n": 64, "k": 32, "runs": 5}. captions: what entries of its trace and its stats are
    called on pictures and in tables. course: the entries of its trace that `Runs.plot` may draw,
    the best first. fresh_rows: whether `paritylab train` gives it fresh rows if it takes such.
    closed: its risk on a population is known in closed form at any n; else all inputs are visited,
    up to n = 20.
    """

    targets: ClassVar[tuple[str, ...]] = ("parity", "junta")
    streams: ClassVar[bool] = False
    one_by_one: ClassVar[bool] = False
    closed: ClassVar[bool] = False
    presets: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    trains_on: ClassVar[Mapping[str, Any]] = {}
    captions: ClassVar[Mapping[str, str]] = {"risk": "risk that the run descends"}
    course: ClassVar[tuple[str, ...]] = ("risk",)
    fresh_rows: ClassVar[bool] = True

    def __new__(cls, *values: object, **settings: object) -> Self:
        known = [each.name for each in fields(cls)] if is_dataclass(cls) else settings
        for name in settings:
            if name not in known:
                raise TypeError(f"{cls.__name__} has no setting {name!r}{nearest(name, known)}")
        return super().__new__(cls)

    def default_samples(self, n: int) -> int | None:
        """Rows that `paritylab train` gives it; None if it needs none. Fresh ones if it takes such.

        Expectations over all inputs where it takes these, else 64 fresh rows a step, else 1000 n.
        """
        # `fact` lends this method to learners that do not inherit it.
        takes = fact(self, "takes")
        if Population in takes and (fact(self, "closed") or n <= MOST_INPUTS):
            return None
        return 64 if Fresh in takes else 1000 * n

    def frames(self, trace: Mapping[str, np.ndarray], n: int) -> dict[str, Any]:
        """What the live page moves, from one run's trace: "directions" and "tau" of heads on the
        circle, or "scores" of a chain; nothing if its trace has no such picture."""
        return {}


def fact(learner: object, name: str) -> Any:
    """What a learner or its class says of itself; what `BaseLearner` says where it is silent."""
    stated = getattr(learner, name, None)
    if stated is not None:
        return stated
    default = BaseLearner.__dict__[name]
    return default.__get__(learner) if callable(default) else default


#: Every learner by the name that sweeps, saved runs and the command line know it by.
LEARNERS: dict[str, type[Learner[Any, Any]]] = {}
Kind = TypeVar("Kind", bound=Learner[Any, Any])


def register_learner(name: str) -> Callable[[type[Kind]], type[Kind]]:
    """Give a learner the name by which sweeps, saved runs and the command line know it."""

    def enter(learner: type[Kind]) -> type[Kind]:
        if unknown := set(fact(learner, "targets")) - set(TARGETS):
            raise ValueError(
                f"{learner.__name__}.targets must be some of {', '.join(TARGETS)}, got "
                f"{shortened(min(unknown))}"
            )
        LEARNERS[name] = learner
        return learner

    return enter


def learner_name(learner: object) -> str:
    """The name a learner's class, or the class it extends, is registered by; else its class's."""
    names: dict[type, str] = {each: name for name, each in LEARNERS.items()}
    known = [names[each] for each in type(learner).__mro__ if each in names]
    return known[0] if known else type(learner).__name__


def check_fields(learner: Any, settings: Mapping[str, object] | None = None) -> None:
    """A learner's settings against its annotated fields; call it in `__post_init__`. settings: in
    place of the learner's own."""
    given = vars(learner) if settings is None else settings
    check_settings(learner_name(learner), given, options_of(type(learner)))


def is_stepwise(learner: object) -> bool:
    """Whether a learner says what a step is and leaves the loop to `learn`."""
    return all(hasattr(type(learner), name) for name in ("init", "step", "model"))


def check_learner(learner: object, data: Data) -> None:
    """One line for what a learner lacks of the protocol, or if these data are not for it."""
    if isinstance(learner, type):
        raise ValueError(f"give a learner object: {learner.__name__}(), not the class")
    name, kinds = type(learner).__name__, get_args(Data)
    if is_stepwise(learner):
        needed, else_ = ["steps"], ""
    else:
        needed, else_ = ["takes", "train", "rebuild"], "; one that goes step by step has steps, "
        else_ += "init(key, target), step(state, risk, key) and model(state, target)"
    for member in needed:
        if not hasattr(learner, member):
            raise ValueError(
                f"{name} is not a learner, it lacks {member}; a learner has takes, "
                f"train(data, keys, trace) and rebuild(numbers, target, key){else_}"
            )
    known, takes = ", ".join(each.__name__ for each in kinds), getattr(learner, "takes", kinds)
    if not isinstance(takes, tuple) or not takes or not set(takes) <= set(kinds):
        raise ValueError(f"{name}.takes must be a tuple of some of {known}; got {shortened(takes)}")
    if not isinstance(data, kinds):
        raise ValueError(f"data must be one of {known}, got {type(data).__name__}")
    if not isinstance(data, takes):
        fitting = ", ".join(each.__name__ for each in takes)
        raise ValueError(f"{name} does not learn from {type(data).__name__}; it takes {fitting}")
