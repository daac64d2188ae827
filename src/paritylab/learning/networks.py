"""Descent on a model: one learner for any model, and presets that say which model it is.

A preset is a `Network` with fields of its own and a method `draw(key, target)`: the model a run
starts from. Everything else is here: the compiled descent, the judging of what was trained, and the
way back from saved numbers to a model.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Generic, NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
import optax
from annotated_doc import Doc
from annotated_types import Ge, Gt
from jaxtyping import Array, PyTree

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
    Data,
    Fresh,
    Population,
    Rows,
    Sample,
    Target,
    Unknown,
    parities_of,
)
from paritylab.learning.descent import OPTIMISER, as_optimiser
from paritylab.learning.objective import Objective, StepRisk
from paritylab.learning.stepwise import Report, Size, Stepwise, update
from paritylab.learning.training import rebuild_stepwise, train_stepwise
from paritylab.models import FeedForward, FrozenHeads
from paritylab.models.protocol import (
    Model,
    first_line,
    is_model,
    parameters_of,
    with_parameters,
)
from paritylab.models.recurrent import BitReader, Recurrent, reader_inputs
from paritylab.options import Choice
from paritylab.problem import as_loss
from paritylab.risk.objective import Target as Arrays
from paritylab.risk.rows import WeightedRows

M = TypeVar("M", bound=Model)


class Fixed(NamedTuple):
    """What of a state never changes: the model that was drawn, and the rule that moves it."""

    start: Model
    rule: optax.GradientTransformationExtraArgs


class Descending(NamedTuple):
    """A run on its way. parameters: what trains. memory: of the optimiser. fixed: a `Fixed`, in a
    function, so that no loop carries it."""

    parameters: PyTree
    memory: PyTree
    fixed: Callable[[], Fixed]


class Network(BaseLearner, Stepwise, abc.ABC, Generic[M]):
    """Gradient descent from `draw(key, target)`; a run is solved if its risk is below 0.05.

    The start of run i draws from the second half of its key. A preset may have an update rule of
    its own (`rule`) and descend something else than the loss of its predictions (`objective`).
    Stats: accuracy. The trace has the parameters by name.
    """

    eta: float
    optimiser: OptimiserPart = "sgd"

    takes: ClassVar[tuple[type[Data], ...]] = (Population, Sample, Fresh, Rows)
    trains_on: ClassVar = {"n": 8, "k": 2, "runs": 20}

    @abc.abstractmethod
    def draw(self, key: jax.Array, target: Target | Unknown) -> M:
        """The model of one run before training; `target.n` is the number of its bits."""

    def rule(self, target: Size) -> optax.GradientTransformation:
        """The optimiser, which may depend on the target's size."""
        return as_optimiser(self.optimiser, self.eta)

    def __post_init__(self) -> None:
        check_fields(self)
        as_optimiser(self.optimiser, self.eta)

    def init(self, drawn: M, target: Size) -> Descending:
        """Parameters of the model that was drawn, and the optimiser's memory of nothing."""
        rule, parameters = optax.with_extra_args_support(self.rule(target)), parameters_of(drawn)
        return Descending(parameters, rule.init(parameters), lambda: Fixed(drawn, rule))

    def step(
        self, state: Descending, risk: StepRisk, key: jax.Array
    ) -> tuple[Descending, jax.Array]:
        """One step of the optimiser."""
        value, gradient = risk(state.parameters)
        parameters, memory = update(state.fixed().rule, risk, value, gradient, *state[:2])
        return state._replace(parameters=parameters, memory=memory), value

    def model(self, state: Descending, target: Size) -> M:
        """The model with the numbers that it has now."""
        return cast(M, with_parameters(state.fixed().start, state.parameters))

    def train(
        self, data: Data, keys: jax.Array, trace: int | None, report: Report = None
    ) -> Trained:
        """All runs, in the loop of `learn`."""
        return train_stepwise(self, data, keys, trace, report)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> M:
        """The start of the run, drawn again, with the trained numbers in it."""
        return cast(M, rebuild_stepwise(self, numbers, target, key))


@register_learner("descent")
@dataclass(frozen=True, eq=False)
class Descent(Network[Model]):
    """Gradient descent on a model of your own, from rows, samples or all inputs.

    model: a model (see `paritylab.models.protocol`), the start of every run, or a function from a
    key to one, so that every run starts elsewhere. batch: rows per step, all of them if None.

    >>> import equinox as eqx
    >>> from paritylab import Parity
    >>> from paritylab.learning import Population, learn
    >>> start = lambda key: eqx.nn.MLP(6, "scalar", 32, 2, key=key)  # two hidden layers
    >>> runs = learn(Descent(start, steps=300), Population(Parity(6, (1, 4))), runs=4)
    >>> runs.kind, bool(runs.solved.all())
    ('exact', True)
    """

    # A field without a default: the method of this name is none.
    model: Annotated[
        ModelPart, Choice(own="a model, or a function from a key to one"), Doc("What trains.")
    ] = field()  # type: ignore[assignment]
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

    >>> from paritylab.learning import Population, learn
    >>> from paritylab.problem import Parity
    >>> runs = learn(FeedForwardNet(16, steps=600), Population(Parity(6, (1, 4))), runs=4)
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

    def rule(self, target: Size) -> optax.GradientTransformation:
        # Gradients through n time steps may explode: a long one has norm 1.
        return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(self.eta))

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
