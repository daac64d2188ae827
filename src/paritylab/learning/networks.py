"""Descent on a model: one learner for any model, and presets that say which model it is.

A preset is a `Network` with fields of its own and a method `draw(key, target)`: the model a run
starts from. Everything else is here: the compiled descent, the judging of what was trained, and the
way back from saved numbers to a model.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, Generic, TypeVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from annotated_doc import Doc
from annotated_types import Ge, Gt
from jaxtyping import Array, PyTree

from paritylab._support.precision import float64
from paritylab.learning.contract import (
    LOSS,
    BaseLearner,
    LossPart,
    ModelPart,
    OptimiserPart,
    Trained,
    check_fields,
    register_learner,
)
from paritylab.learning.data import (
    AllInputs,
    Data,
    Fresh,
    Rows,
    Sample,
    Target,
    Unknown,
    parities_of,
    targets_or_unknown,
)
from paritylab.learning.descent import (
    OPTIMISER,
    Objective,
    PerRun,
    Schedule,
    Walk,
    as_optimiser,
    blocks_of,
    descend_all,
    given_of,
)
from paritylab.learning.judging import MOST_BITS, SAMPLES, judge_models, judging_loss
from paritylab.models import FeedForward, FrozenHeads
from paritylab.models.protocol import (
    Model,
    check_model,
    first_line,
    is_model,
    parameters_of,
    with_parameters,
)
from paritylab.models.recurrent import BitReader, Recurrent, reader_inputs
from paritylab.options import Choice
from paritylab.problem import as_loss
from paritylab.problem.sampling import each_key
from paritylab.risk.objective import Target as Arrays
from paritylab.risk.rows import WeightedRows

#: Numbers that all runs of a block may hold at a time, 1 GB.
AT_ONCE = 1 << 27

M = TypeVar("M", bound=Model)


class Network(BaseLearner, abc.ABC, Generic[M]):
    """Gradient descent from `draw(key, target)`; a run is solved if its risk is below 0.05.

    The start of run i draws from the second half of its key. A preset may have an update rule of
    its own (`rule`) and descend something else than the loss of its predictions (`objective`).
    Stats: accuracy. The trace has the parameters by name.
    """

    eta: float
    steps: int
    optimiser: OptimiserPart = "sgd"
    #: What is descended; None is the loss that judges.
    loss: LossPart | None = None
    batch: int | None = None

    takes: ClassVar[tuple[type[Data], ...]] = (AllInputs, Sample, Fresh, Rows)
    trains_on: ClassVar = {"n": 8, "k": 2, "runs": 20}
    #: Inputs of up to so many bits are all visited to judge a run; beyond, so many fresh samples.
    judged_by: ClassVar[tuple[int, int]] = (MOST_BITS, SAMPLES)

    @abc.abstractmethod
    def draw(self, key: jax.Array, target: Target | Unknown) -> M:
        """The model of one run before training; `target.n` is the number of its bits."""

    def rule(self, data: Data) -> OptimiserPart:
        """The optimiser, which may depend on the data."""
        return self.optimiser

    def objective(self, data: Data) -> Objective:
        """What is descended."""
        return Objective.of(data, self.loss or judging_loss(data), self.batch)

    def __post_init__(self) -> None:
        check_fields(self)
        as_optimiser(self.optimiser, self.eta)

    def train(self, data: Data, keys: jax.Array, trace: int | None) -> Trained:
        """Descend, rebuild every model from its numbers, and judge it."""
        schedule = Schedule(self.rule(data), self.steps, trace)
        path, targets = self.descended(data, keys, schedule), targets_or_unknown(data)
        # Files hold a dict as it is, of any other tree the leaves.
        numbers = path.end
        if not isinstance(numbers, dict):
            numbers = tuple(jax.tree.leaves(numbers))
        models = [
            self.rebuild(jax.tree.map(lambda leaf, i=run: leaf[i], numbers), target, keys[run])
            for run, target in enumerate(targets)
        ]
        most_bits, samples = self.judged_by
        found = judge_models(models, data, keys, most_bits=most_bits, samples=samples)
        return found.trained(
            data,
            numbers,
            [None] * len(models),
            stats={"accuracy": found.accuracy},
            trace=schedule.trace(path, **_named(path.path)),
        )

    def descended(self, data: Data, keys: jax.Array, schedule: Schedule) -> Walk[PyTree]:
        """All runs from their starts to their ends, as many at a time as fit into memory."""
        objective, given = self.objective(data), given_of(data, keys)
        pairs, paths = list(zip(each_key(keys), targets_or_unknown(data), strict=True)), []
        with float64():
            first = self._start(*pairs[0])
            check_model(first, data.n)
            for block in blocks_of(len(keys), _runs_at_once(first, objective, data, schedule)):
                starts = [self._start(*pairs[run]) if run else first for run in block]
                parameters = [jax.tree.map(np.float64, parameters_of(each)) for each in starts]
                # Whatever else the arrays of a start hold belongs to the run.
                arrays = [eqx.filter(each, eqx.is_array) for each in starts]
                runs = PerRun(
                    _stacked(parameters),
                    jax.tree.map(lambda leaf, rows=block: leaf[rows], given),
                    keys[block],
                    _stacked(arrays),
                )
                paths.append(descend_all(first, runs, objective, schedule, self.step_size(data.n)))
        joined: Walk[PyTree] = jax.tree.map(
            lambda *parts: np.concatenate(parts)[: len(keys)], *paths
        )
        return joined

    def step_size(self, n: int) -> float:
        """eta; a preset may have units of its own."""
        return self.eta

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> M:
        """The start of the run, drawn again from its key, with the trained numbers in it."""
        with float64():
            start = self._start(key, target)
        own = parameters_of(start)
        if isinstance(own, dict):
            return with_parameters(start, {name: numbers[name] for name in own})
        return with_parameters(start, jax.tree.unflatten(jax.tree.structure(own), list(numbers)))

    def _start(self, key: jax.Array, target: Target | Unknown) -> M:
        return self.draw(jax.random.split(key)[1], target)


def _runs_at_once(start: Model, objective: Objective, data: Data, schedule: Schedule) -> int:
    """How many runs fit into memory: their arrays, path, rows, and what a model makes of a row.

    A model of so many trained numbers has about numbers/n hidden neurons.
    """
    sizes = [
        sum(np.size(leaf) for leaf in jax.tree.leaves(tree))
        for tree in (eqx.filter(start, eqx.is_array), parameters_of(start))
    ]
    held, numbers = sizes
    records = 0 if schedule.every is None else -(-schedule.steps // schedule.every)
    rows = {"AllInputs": 1 << data.n, "Rows": len(getattr(data, "labels", ()))}.get(
        objective.kind, objective.samples // max(1, objective.pieces(data.n))
    )
    size = 3 * held + records * numbers + (objective.batch or rows) * (data.n + numbers / data.n)
    return max(1, int(AT_ONCE / size))


def _stacked(trees: list[PyTree]) -> PyTree:
    """Trees of all runs as one, in jax arrays, with a leading axis of runs."""
    try:
        return jax.tree.map(lambda *each: jnp.stack(each), *trees)
    except ValueError:
        raise ValueError("all runs must start from models of one shape") from None


def _named(path: PyTree) -> dict[str, np.ndarray]:
    """The recorded parameters by name."""
    if isinstance(path, dict):
        return path
    leaves = jax.tree_util.tree_leaves_with_path(path)
    return {jax.tree_util.keystr(place).lstrip("."): leaf for place, leaf in leaves}


@register_learner("descent")
@dataclass(frozen=True, eq=False)
class Descent(Network[Model]):
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

    def draw(self, key: jax.Array, target: Target | Unknown) -> Model:
        if is_model(self.model):
            return cast(Model, self.model)
        try:
            return cast(Callable[[jax.Array], Model], self.model)(key)
        except Exception as error:  # a function of bits meant as a model ends here
            raise ValueError(f"model(key) made no model: {first_line(error)}") from None


@register_learner("feedforward")
@dataclass(frozen=True, eq=False)
class FeedForwardNet(Network[FeedForward]):
    """FFNN-1 of `width` neurons from random starts, trained on the squared hinge.

    Juntas of real values are trained on ½(ŷ-y)². inputs: the net reads "bits" x or "signs" 1 - 2x;
    the trained model is a function of bits either way.

    >>> from paritylab.learning import AllInputs, learn
    >>> from paritylab.problem import Parity
    >>> runs = learn(FeedForwardNet(16, steps=600), AllInputs(Parity(6, (1, 4))), runs=4)
    >>> runs.kind, runs.rate().successes
    ('exact', 4)
    """

    width: Annotated[int, Ge(1), Doc("Hidden neurons.")] = 64
    inputs: Annotated[str, Choice(("bits", "signs")), Doc("What the net reads.")] = "bits"
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "adam"
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 0.01
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 2000

    def draw(self, key: jax.Array, target: Target | Unknown) -> FeedForward:
        return FeedForward.random(key, target.n, self.width, signs=self.inputs == "signs")


@register_learner("frozen")
@dataclass(frozen=True, eq=False)
class FrozenAttention(Network[FrozenHeads]):
    """Random heads that never train, and an FFNN-1 of `width` neurons trained on their output.

    The net sees the mean head output v = [Σγx, 1-Σγx, Σγ sin, Σγ cos]. tau: temperature of the
    frozen heads, whose scores depend on the positions. Every run draws its own heads from its key.
    """

    heads: Annotated[int, Ge(1), Doc("Frozen heads.")] = 2
    width: Annotated[int, Ge(1), Doc("Hidden neurons on top.")] = 32
    tau: Annotated[float, Gt(0), Doc("Temperature of the frozen heads.")] = 0.3
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "adam"
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 0.02
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 2000

    def draw(self, key: jax.Array, target: Target | Unknown) -> FrozenHeads:
        return FrozenHeads.random(key, target.n, heads=self.heads, width=self.width, tau=self.tau)


@register_learner("recurrent")
@dataclass(frozen=True, eq=False)
class RecurrentNet(Network[BitReader]):
    """An Elman network or an LSTM that reads the bits one by one, trained by Adam.

    Every step it is given one bit with its position. labels: the running parity of the hidden set
    is the target of every step and, teacher-forced, an input of the next; label noise flips the
    running parities of a string together. Without labels only the last answer is scored. The
    trained model is fed with its own answers and predicts by the last one.
    """

    cell: Annotated[str, Choice(("elman", "lstm")), Doc("Kind of cell.")] = "elman"
    labels: Annotated[bool, Doc("Show the running parity at every step.")] = True
    width: Annotated[int, Ge(1), Doc("Units of the cell.")] = 64
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 3e-3
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 1500

    takes = (Sample, Fresh)
    targets = ("parity",)
    trains_on: ClassVar = {"n": 8, "k": 2, "runs": 5}
    # A string costs a network n steps one after another: fewer of them than for other models.
    judged_by = (14, 2048)

    def draw(self, key: jax.Array, target: Target | Unknown) -> BitReader:
        return BitReader(Recurrent.random(key, target.n + 2, self.width, self.cell), self.labels)

    def rule(self, data: Data) -> OptimiserPart:
        return clipped_adam(self.eta)

    def objective(self, data: Data) -> Objective:
        assert isinstance(data, Sample | Fresh)
        parities_of(data, "a recurrent net")
        return super().objective(data)._replace(on_rows=running_loss)


def running_loss(reader: BitReader, rows: WeightedRows, target: Arrays) -> Array:
    """(answer - parity of the hidden bits so far)² of a reader fed by a teacher, for every row."""
    signs = 1 - 2 * rows.bits
    running = jnp.cumprod(jnp.where(jnp.asarray(target.indicator) > 0, signs, 1.0), axis=1)
    # The last running parity is the label: its sign and noise flip those before it, too.
    running = running * (rows.labels * running[:, -1])[:, None]
    before = jnp.roll(running, 1, axis=1).at[:, 0].set(1.0)
    inputs = reader_inputs(signs, before if reader.labels else jnp.zeros_like(signs))
    errors = (jax.vmap(reader.network)(inputs) - running) ** 2
    return jnp.mean(errors, axis=1) if reader.labels else errors[:, -1]


@lru_cache(64)  # compiled code is found again by the identity of an optimiser
def clipped_adam(eta: float) -> optax.GradientTransformation:
    """Adam for gradients through n time steps, which may explode: a long one has norm 1."""
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(eta))
