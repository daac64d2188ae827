"""Descent on a model of one's own, and how models that name no set are judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar, cast

import jax
import numpy as np
from jaxtyping import PyTree

from paritylab.learning.contract import (
    SOLVED_RISK,
    Learner,
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
    targets_or_unknown,
)
from paritylab.learning.descent import Schedule, as_optimiser, descend_from, traced
from paritylab.learning.judging import Scores, judge_models, judging_loss
from paritylab.learning.parts import LossPart, OptimiserPart
from paritylab.models.protocol import (
    Model,
    check_model,
    first_line,
    is_model,
    parameters_of,
    with_parameters,
)
from paritylab.precision import float64
from paritylab.problem import as_loss
from paritylab.problem.sampling import each_key

D = TypeVar("D", bound=Data)


@register_learner("descent")
@dataclass(frozen=True, eq=False)
class Descent:
    """Gradient descent on a model of one's own, from rows, samples or all inputs.

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

    model: Model | Callable[[jax.Array], Model]
    loss: LossPart = "squared_hinge"
    optimiser: OptimiserPart = "adam"
    eta: float = 0.01
    steps: int = 1000
    batch: int | None = None

    takes = (AllInputs, Sample, Fresh, Rows)

    def __post_init__(self) -> None:
        check_fields(self)
        as_loss(self.loss)
        as_optimiser(self.optimiser, self.eta)

    def train(
        self, data: AllInputs | Sample | Fresh | Rows, keys: jax.Array, trace: int | None
    ) -> Trained:
        schedule = Schedule(self.optimiser, self.steps, trace, self.batch)
        with float64():
            starts = [self._start(key) for key in each_key(keys)]
            check_model(starts[0], data.n)
        path = descend_from(
            starts, data, keys, loss=as_loss(self.loss), schedule=schedule, eta=self.eta
        )
        numbers = tuple(jax.tree.leaves(path.parameters))
        way = jax.tree_util.tree_leaves_with_path(path.path)
        named = {jax.tree_util.keystr(place).lstrip("."): leaf for place, leaf in way}
        return judged_networks(self, numbers, data, keys, trace=traced(path, schedule, **named))

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> Model:
        with float64():
            start = self._start(key)
        structure = jax.tree.structure(parameters_of(start))
        rebuilt: Model = with_parameters(start, jax.tree.unflatten(structure, numbers))
        return rebuilt

    def _start(self, key: jax.Array) -> Model:
        """The model of one run before training."""
        given = self.model
        if is_model(given):
            return cast(Model, given)
        if not callable(given):
            raise ValueError(
                f"model must be a model or a function from a key to one, got {given!r}"
            )
        name = getattr(given, "__name__", type(given).__name__)
        try:
            made = given(jax.random.split(key)[1])
        except Exception as error:
            raise ValueError(f"{name}(key) made no model: {first_line(error)}") from None
        if not is_model(made):
            raise ValueError(
                f"{name}(key) must return a model, an equinox.Module that maps one bit string to "
                f"one number, got {type(made).__name__}"
            )
        if any(leaf is made for leaf in jax.tree.leaves(made)):
            raise ValueError(f"models drawn by {name}(key) must be equinox.Modules, one per run")
        return cast(Model, made)


def judged_networks(
    learner: Learner[D, Any],
    numbers: PyTree,
    data: D,
    keys: jax.Array,
    *,
    trace: dict[str, np.ndarray],
    judge: Callable[[Sequence[Model], D, jax.Array], Scores] = judge_models,
    stats: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> Trained:
    """`Trained` of runs that name no set: the risk of every rebuilt model decides.

    numbers: with a leading axis of runs. stats: the learner's own; one called accuracy replaces
    the judge's.
    """
    targets = targets_or_unknown(data)
    models = [
        learner.rebuild(jax.tree.map(lambda leaf, i=run: leaf[i], numbers), target, keys[run])
        for run, target in enumerate(targets)
    ]
    found = judge(models, data, keys)
    return Trained(
        numbers=numbers,
        subset=[None] * len(models),
        risk=found.risk,
        error=found.error,
        kind=found.kind,
        loss=judging_loss(data),
        solved=found.risk + found.error < SOLVED_RISK,
        stats={"accuracy": found.accuracy, **stats},
        trace=trace,
    )
