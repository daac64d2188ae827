"""Descent on a model: one learner for any model, and presets that say which model it is.

A preset is a `Network` with fields of its own and a method `draw(key, target)`: the model a run
starts from. Everything else is here: the compiled descent, the judging of what was trained, and the
way back from saved numbers to a model.
"""

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, cast

import jax
import numpy as np
from jaxtyping import PyTree

from paritylab.learning.contract import Subset, Trained, check_fields, register_learner
from paritylab.learning.data import (
    AllInputs,
    Data,
    Fresh,
    Rows,
    Sample,
    Target,
    Unknown,
    targets_or_unknown,
)
from paritylab.learning.descent import Path, Schedule, as_optimiser, descend_from, traced
from paritylab.learning.judging import MOST_BITS, SAMPLES, judge_models, judging_loss
from paritylab.learning.parts import LossPart, ModelPart, OptimiserPart
from paritylab.models import FeedForward, FrozenHeads
from paritylab.models.protocol import (
    Model,
    check_model,
    first_line,
    is_model,
    parameters_of,
    with_parameters,
)
from paritylab.options import LOSS, OPTIMISER, Choice, Doc, Ge, Gt
from paritylab.precision import float64
from paritylab.problem import Loss, as_loss
from paritylab.problem.sampling import each_key

#: Numbers by name, one entry per run.
Stats = dict[str, np.ndarray]


class Ended(NamedTuple):
    """Where all runs ended: trained numbers with a leading axis of runs, trace, stats of a preset's
    own."""

    numbers: PyTree
    trace: Stats
    stats: Stats


class Network(abc.ABC):
    """Gradient descent from `draw(key, target)`; a run is solved if its risk is below 0.05.

    The start of run i draws from the second half of its key. Presets whose rows, precision or
    update rule are their own replace `descended`.
    """

    optimiser: OptimiserPart = "sgd"
    eta: float
    steps: int
    batch: int | None = None

    takes: ClassVar[tuple[type[Data], ...]] = (AllInputs, Sample, Fresh, Rows)
    #: Inputs of up to so many bits are all visited to judge a run; beyond, so many fresh samples.
    judged_by: ClassVar[tuple[int, int]] = (MOST_BITS, SAMPLES)

    @abc.abstractmethod
    def draw(self, key: jax.Array, target: Target | Unknown) -> Model:
        """The model of one run before training; `target.n` is the number of its bits."""

    def trained_loss(self, data: Data) -> Loss:
        """What is descended: the loss that judges, unless a preset has another."""
        return as_loss(judging_loss(data))

    def descended(self, data: Data, keys: jax.Array, trace: int | None) -> Ended:
        """All runs from their starts to their ends."""
        schedule = Schedule(self.optimiser, self.steps, trace, self.batch)
        with float64():
            starts = self.starts(data, keys)
            check_model(starts[0], data.n)
        path = descend_from(
            starts, data, keys, loss=self.trained_loss(data), schedule=schedule, eta=self.eta
        )
        return Ended(saved_numbers(path.parameters), traced(path, schedule, **_named(path)), {})

    def added_stats(self, models: Sequence[Model]) -> Stats:
        """Stats of a preset's own, from its trained models."""
        return {}

    def named(self, models: Sequence[Model]) -> list[Subset]:
        """What each trained model says the hidden set is; None where it says nothing."""
        return [None] * len(models)

    def __post_init__(self) -> None:
        check_fields(self)
        as_optimiser(self.optimiser, self.eta)

    def train(self, data: Data, keys: jax.Array, trace: int | None) -> Trained:
        """Descend, rebuild every model from its numbers, and judge it."""
        end = self.descended(data, keys, trace)
        models = [
            self.rebuild(jax.tree.map(lambda leaf, i=run: leaf[i], end.numbers), target, keys[run])
            for run, target in enumerate(targets_or_unknown(data))
        ]
        most_bits, samples = self.judged_by
        found = judge_models(models, data, keys, most_bits=most_bits, samples=samples)
        return found.trained(
            data,
            end.numbers,
            self.named(models),
            stats={"accuracy": found.accuracy, **end.stats, **self.added_stats(models)},
            trace=end.trace,
        )

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> Model:
        """The start of the run, drawn again from its key, with the trained numbers in it."""
        with float64():
            start = self.start_of(key, target)
        own = parameters_of(start)
        if isinstance(own, dict):
            return with_parameters(start, {name: numbers[name] for name in own})
        trained = jax.tree.unflatten(jax.tree.structure(own), list(numbers))
        return with_parameters(start, trained)

    def start_of(self, key: jax.Array, target: Target | Unknown) -> Model:
        """The start of the run with this key."""
        return self.draw(jax.random.split(key)[1], target)

    def starts(self, data: Data, keys: jax.Array) -> list[Model]:
        """The starts of all runs."""
        pairs = zip(each_key(keys), targets_or_unknown(data), strict=True)
        return [self.start_of(*pair) for pair in pairs]


def saved_numbers(parameters: PyTree) -> PyTree:
    """Trained parameters as files hold them: a dict as it is, the leaves of any other tree."""
    return parameters if isinstance(parameters, dict) else tuple(jax.tree.leaves(parameters))


def _named(path: Path) -> dict[str, np.ndarray]:
    """The recorded parameters by name."""
    if isinstance(path.path, dict):
        return path.path
    leaves = jax.tree_util.tree_leaves_with_path(path.path)
    return {jax.tree_util.keystr(place).lstrip("."): leaf for place, leaf in leaves}


@register_learner("descent")
@dataclass(frozen=True, eq=False)
class Descent(Network):
    """Gradient descent on a model of your own, from rows, samples or all inputs.

    model: a model (see `paritylab.models.protocol`), the start of every run, or a function from a
    key to one, so that every run starts elsewhere. batch: rows per step, all of them if None.

    >>> import equinox as eqx
    >>> from paritylab import Parity
    >>> from paritylab.learning import AllInputs, learn
    >>> start = lambda key: eqx.nn.MLP(6, "scalar", 32, 2, key=key)  # two hidden layers
    >>> runs = learn(Descent(start, steps=300), AllInputs(Parity(6, (1, 4))), runs=4)
    >>> runs.kind, bool(runs.solved.all())
    ('exact', True)
    """

    model: Annotated[
        ModelPart, Choice(own="a model, or a function from a key to one"), Doc("What trains.")
    ]
    loss: Annotated[LossPart, LOSS, Doc("Loss trained on.")] = "squared_hinge"
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "adam"
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 0.01
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 1000
    batch: Annotated[int | None, Ge(1), Doc("Rows per step; all of them if absent.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        as_loss(self.loss)

    def trained_loss(self, data: Data) -> Loss:
        return as_loss(self.loss)

    def draw(self, key: jax.Array, target: Target | Unknown) -> Model:
        given = self.model
        if is_model(given):
            return cast(Model, given)
        name = getattr(given, "__name__", type(given).__name__)
        if not callable(given):
            raise ValueError(f"model must be a model or a function from a key to one, got {name}")
        try:
            made = cast(Callable[[jax.Array], Model], given)(key)
        except Exception as error:
            raise ValueError(f"{name}(key) made no model: {first_line(error)}") from None
        if not is_model(made):
            raise ValueError(
                f"{name}(key) must return a model, an equinox.Module that maps one bit string to "
                f"one number, got {type(made).__name__}"
            )
        if any(leaf is made for leaf in jax.tree.leaves(made)):
            raise ValueError(f"models drawn by {name}(key) must be equinox.Modules, one per run")
        return made


@register_learner("feedforward")
@dataclass(frozen=True, eq=False)
class FeedForwardNet(Network):
    """FFNN-1 of `width` neurons from random starts, trained on the squared hinge.

    Juntas of real values are trained on ½(ŷ-y)². missing: input positions without any edge. inputs:
    the net reads "bits" x or "signs" 1 - 2x; the trained model is a function of bits either way.
    batch: rows per step, drawn at random; all of them if None.

    Stats: accuracy; norms, ‖α‖·‖β‖ at the end; numbers, how many are trained.

    >>> from paritylab.learning import AllInputs, learn
    >>> from paritylab.problem import Parity
    >>> runs = learn(FeedForwardNet(16, steps=600), AllInputs(Parity(6, (1, 4))), runs=4)
    >>> runs.kind, int(runs.stats["numbers"][0]), runs.rate().successes
    ('exact', 129, 4)
    """

    width: Annotated[int, Ge(1), Doc("Hidden neurons.")] = 64
    missing: Annotated[
        tuple[int, ...], Choice(own="a tuple of positions"), Doc("Positions without any edge.")
    ] = ()
    inputs: Annotated[str, Choice(("bits", "signs")), Doc("What the net reads.")] = "bits"
    batch: Annotated[int | None, Ge(1), Doc("Rows per step; all of them if absent.")] = None
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "adam"
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 0.01
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 2000

    def draw(self, key: jax.Array, target: Target | Unknown) -> FeedForward:
        absent = [j for j in self.missing if j not in range(target.n)]
        if absent:
            raise ValueError(f"missing positions must be in 0..{target.n - 1}, got {absent[0]}")
        signs = self.inputs == "signs"
        return FeedForward.random(key, target.n, self.width, missing=self.missing, signs=signs)

    def added_stats(self, models: Sequence[Model]) -> Stats:
        return _net_stats([each for each in models if isinstance(each, FeedForward)])


@register_learner("frozen")
@dataclass(frozen=True, eq=False)
class FrozenAttention(Network):
    """Random heads that never train, and an FFNN-1 of `width` neurons trained on their output.

    The net sees the mean head output v = [Σγx, 1-Σγx, Σγ sin, Σγ cos]. token: the frozen scores
    depend on the bits as well as on the positions. tau: temperature of the frozen heads. Every run
    draws its own heads from its key.

    Stats: accuracy; norms, ‖α‖·‖β‖ of the net; numbers, how many are trained.
    """

    heads: Annotated[int, Ge(1), Doc("Frozen heads.")] = 2
    width: Annotated[int, Ge(1), Doc("Hidden neurons on top.")] = 32
    token: Annotated[bool, Doc("Whether the frozen scores depend on the bits.")] = False
    tau: Annotated[float, Gt(0), Doc("Temperature of the frozen heads.")] = 0.3
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "adam"
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 0.02
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 2000

    def draw(self, key: jax.Array, target: Target | Unknown) -> FrozenHeads:
        return FrozenHeads.random(
            key, target.n, heads=self.heads, width=self.width, token=self.token, tau=self.tau
        )

    def added_stats(self, models: Sequence[Model]) -> Stats:
        return _net_stats([each.network for each in models if isinstance(each, FrozenHeads)])


def _net_stats(nets: Sequence[FeedForward]) -> Stats:
    """‖α‖·‖β‖ and the number of trained numbers of every net."""
    return {
        "norms": np.array([net.norms() for net in nets]),
        "numbers": np.array([net.edge_numbers() for net in nets]),
    }
