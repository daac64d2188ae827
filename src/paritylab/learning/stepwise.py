"""What a learner that goes step by step says, and what `learn` assumes where it says nothing.

A learner that goes step by step says three things, as a solver of optimistix does, and `learn` does
the rest, for many runs in one compiled call:

* `init(key, target)`: the state of a run before its first step. Of the target only the sizes
  `target.n` and `target.k` are known.
* `step(state, risk, key)`: the state after one step, and a record of it: a number (the risk) or a
  dict of arrays. `risk(parameters)` is the value and the gradient at this step.
* `model(state, target)`: the model that the state stands for.

and how many `steps` it takes. It is a frozen dataclass or an `equinox.Module`: floats among its
fields may change without compiling again, everything else is what code is compiled for. All three
are traced, so they are written with jax.numpy. What else a learner may have is in `Stepwise`.

>>> import equinox as eqx, jax, jax.numpy as jnp
>>> from dataclasses import dataclass
>>> from paritylab import Parity, Population, learn
>>>
>>> @dataclass(frozen=True)
... class SignSteps:
...     eta: float = 0.003
...     steps: int = 200
...
...     def init(self, key, target):
...         return eqx.nn.MLP(target.n, "scalar", 32, 1, key=key)
...
...     def step(self, net, risk, key):
...         value, gradient = risk(net)
...         moves = jax.tree.map(lambda slope: -self.eta * jnp.sign(slope), gradient)
...         return eqx.apply_updates(net, moves), value
...
...     def model(self, net, target):
...         return net
>>>
>>> runs = learn(SignSteps(), Population(Parity(8, (1, 4))), runs=4, trace=10)
>>> runs.kind, runs.rate().successes, runs.trace["risk"].shape
('exact', 4, (4, 20))
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import equinox as eqx
import jax
import numpy as np
import optax
from jaxtyping import Array, PyTree

from paritylab.learning.contract import LossPart
from paritylab.learning.data import Data, Population
from paritylab.learning.judging import MOST_BITS, SAMPLES, judging_loss
from paritylab.learning.objective import ExactRisk, Objective, StepRisk, training_inputs
from paritylab.models.protocol import with_parameters

#: Whom `learn` tells how far it is: nobody, the terminal, or a function of one's own.
Report: TypeAlias = "bool | Callable[[Progress], object] | None"


class Progress(NamedTuple):
    """How far a call of `learn` is: of `total` steps of all runs, `done`, in so many seconds."""

    done: int
    total: int
    seconds: float


class RunKeys(NamedTuple):
    """What one run draws from: its start, the rows of a `Sample`, and its steps."""

    start: jax.Array
    rows: jax.Array
    steps: jax.Array


class Stepwise:
    """What the loop asks of a learner besides `init`, `step` and `model`, each with an answer.

    Deriving from it is optional. A learner with a method `draw(key, target)` has its starts drawn
    outside of compiled code, one run after another; `init(drawn, target)` then gets what was drawn
    in place of the key.
    """

    steps: int
    #: What is descended; None is the loss that judges.
    loss: LossPart | None = None
    #: Rows per step of those drawn once; all of them if None.
    batch: int | None = None
    #: Inputs of up to so many bits are all visited to judge a run; beyond, so many fresh samples.
    judged_by: ClassVar[tuple[int, int]] = (MOST_BITS, SAMPLES)
    #: Whether runs follow one another, because the rows of a single one may fill the memory.
    one_by_one: ClassVar[bool] = False
    #: Whether it computes in float32, twice as fast, instead of float64.
    single: ClassVar[bool] = False

    def keys_of(self, key: jax.Array) -> RunKeys:
        """Keys of a run, from its own."""
        rows, steps = jax.random.split(jax.random.fold_in(key, 2))
        return RunKeys(jax.random.split(key)[1], rows, steps)

    def learnt_from(self, data: Data, keys: jax.Array) -> PyTree:
        """What the runs learn from, arrays with an axis of runs first."""
        return training_inputs(data, keys)

    def exact_risk(self, data: Data) -> ExactRisk | None:
        """risk(model, target's arrays) over all inputs, equal for equal settings, if it is known
        in closed form; inputs are visited else, up to n = 20."""
        return None

    def objective(self, data: Data) -> Objective:
        """What is descended."""
        exact = self.exact_risk(data) if isinstance(data, Population) else None
        return Objective.of(data, self.loss or judging_loss(data), self.batch, exact)

    def finish(self, state: Any, risk: StepRisk) -> dict[str, Array]:
        """Numbers of a run that are known at its end, by name; they become its stats."""
        return {}


def update(
    rule: optax.GradientTransformationExtraArgs,
    risk: StepRisk,
    value: jax.Array,
    gradient: PyTree,
    parameters: PyTree,
    memory: PyTree,
    *,
    model: Any = None,
) -> tuple[PyTree, PyTree]:
    """Parameters and memory after a step of the rule; line searches ask for more than the
    gradient, other rules ignore it. model: the one that parameters belong to, the risk's if
    None."""

    def value_at(parameters: PyTree) -> Array:
        return risk.value(parameters if model is None else with_parameters(model, parameters))

    more: dict[str, Any] = {"value": value, "grad": gradient, "value_fn": value_at}
    updates, memory = rule.update(gradient, memory, parameters, **more)
    return optax.apply_updates(parameters, updates), memory


class Size(NamedTuple):
    """What a learner knows of a target before it meets data."""

    n: int
    k: int | None


def answer(learner: Any, name: str) -> Callable[..., Any]:
    """A method of the learner, or that of `Stepwise` bound to it."""
    if hasattr(learner, name):
        method: Callable[..., Any] = getattr(learner, name)
        return method
    return lambda *given: getattr(Stepwise, name)(_WithDefaults(learner), *given)


@dataclass(frozen=True)
class _WithDefaults(Stepwise):
    """A learner of one's own, with the answers of `Stepwise` for what it does not have."""

    learner: Any

    def __getattribute__(self, name: str) -> Any:
        learner = object.__getattribute__(self, "learner")
        if not name.startswith("__") and hasattr(learner, name):
            return getattr(learner, name)
        return object.__getattribute__(self, name)


def pack(learner: Any) -> PyTree:
    """A learner as a tree whose floats are arrays: they may change without compiling again."""
    if isinstance(learner, eqx.Module):
        return learner
    names = [each.name for each in fields(learner)] if is_dataclass(learner) else vars(learner)
    values = {name: getattr(learner, name) for name in names}
    numbers = {name: np.float64(v) for name, v in values.items() if type(v) is float}
    return type(learner), numbers, {n: v for n, v in values.items() if n not in numbers}


def unpack(packed: PyTree) -> Any:
    """The learner of a tree; its numbers are those that are being traced."""
    if isinstance(packed, eqx.Module):
        return packed
    made, numbers, others = packed
    learner = object.__new__(made)
    for name, value in {**others, **numbers}.items():
        object.__setattr__(learner, name, value)
    return learner
