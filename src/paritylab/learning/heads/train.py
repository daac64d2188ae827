"""k heads trained as published, or with parts of one's own: many runs in one compiled call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypedDict, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Gt
from jaxtyping import Array, Float, Int, PyTree
from numpy.typing import ArrayLike

from paritylab._support.precision import float64
from paritylab.learning.contract import (
    ATTENTION,
    LOSS,
    AttentionPart,
    BaseLearner,
    LossPart,
    OptimiserPart,
    ReadoutPart,
    Trained,
    check_fields,
    register_learner,
)
from paritylab.learning.data import (
    AllInputs,
    Data,
    Fresh,
    Population,
    Rows,
    Sample,
    Target,
    Unknown,
    functions_of,
)
from paritylab.learning.descent import (
    OPTIMISER,
    Objective,
    PerRun,
    Schedule,
    Walk,
    as_optimiser,
    descend_all,
    given_of,
)
from paritylab.learning.heads.temperature import (
    Temperature,
    is_schedule,
    temperature,
    temperatures,
)
from paritylab.learning.judging import judge_heads, judge_models
from paritylab.models import (
    AbstractPositionCode,
    HeadAttention,
    as_attention,
    as_code,
    as_readout,
    default_readout,
)
from paritylab.models.attention import unit_directions
from paritylab.models.positions import Positions
from paritylab.models.protocol import Model
from paritylab.models.readouts import Readout
from paritylab.options import Choice, Formula
from paritylab.problem import Junta, Parity, as_loss
from paritylab.problem.sampling import each_key
from paritylab.risk.objective import Target as Arrays, WeightRisk, labels_of, weight_risk


class HeadsSettings(TypedDict, total=False):
    """The fields of `Heads` as keywords of its presets, for type checkers and completion."""

    tau: Temperature
    loss: LossPart
    readout: ReadoutPart
    optimiser: OptimiserPart
    eta: float | None
    steps: int
    heads: int | None
    positions: Positions
    attention: AttentionPart
    start: ArrayLike | None
    k: int | None


@register_learner("heads")
@dataclass(frozen=True, eq=False)
class Heads(BaseLearner):
    """k heads from random directions, the frozen readout on top: HG1's model and its variants.

    tau: temperature, a number, a formula in n, a function of n, or a schedule: "n/4 -> 1/n" falls
    geometrically, a function of n and the share of steps done does as it likes, and the trained
    model has the last temperature. loss, readout, optimiser, positions, attention:
    a name, or a part of one's own. eta: step size; None is 0.1, and 0.2 for Adam at n = 20 as in
    the public code. heads: k if None. start: directions (heads, width), or one such array per run.
    k: needed for `Rows` only. `Descent` trains other forms of the heads, such as the unmasked
    `FullFormAttention`.

    For juntas the readout "zigzag" stands for their `default_readout`, straight lines through the
    values of a symmetric junta; others need a readout of one's own. A run names the positions its
    heads look at most; it is solved if its squared-hinge risk (½(ŷ-y)² for real values) is below
    0.05.
    """

    tau: Annotated[Temperature, Formula(), Doc('Temperature: "2/n"; "1 -> 1/n" falls.')] = "1/n"
    loss: Annotated[LossPart, LOSS, Doc("Loss trained on.")] = "squared_hinge"
    readout: Annotated[
        ReadoutPart, Choice(("zigzag", "cos"), own="a function"), Doc("From the attended sum to ŷ.")
    ] = "zigzag"
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "sgd"
    eta: Annotated[float | None, Gt(0), Doc("Step size; the source's if absent.")] = None
    steps: Annotated[int, Ge(0), Doc("Gradient steps per run.")] = 1000
    heads: Annotated[int | None, Ge(1), Doc("Number of heads; k if absent.")] = None
    positions: Annotated[
        Positions, Choice(("circle", "onehot"), own="a code or table"), Doc("Position code.")
    ] = "circle"
    attention: Annotated[AttentionPart, ATTENTION, Doc("How scores become weights.")] = "softmax"
    start: Annotated[ArrayLike | None, Choice(own="an array"), Doc("First directions.")] = None
    k: Annotated[int | None, Ge(1), Doc("Size of the set, where rows do not say.")] = None

    takes = (Population, AllInputs, Sample, Fresh, Rows)
    presets: ClassVar[dict[str, Callable[..., "Heads"]]] = {}
    trains_on: ClassVar = {"n": 12, "k": 2, "preset": "code"}

    @classmethod
    def paper(cls, **changes: Unpack[HeadsSettings]) -> "Heads":
        """Theorem 5: plain gradient descent on the squared hinge at tau = 1/n.

        The theorem's own step size (`theory.hg1.step_size`) is of order 1e-9 and moves nothing;
        the 0.1 is our choice.
        """
        return cls(**changes)

    @classmethod
    def code(cls, **changes: Unpack[HeadsSettings]) -> "Heads":
        """The public code: soft attention, Adam, (mean hinge)², 2000 epochs; 0.2 for n = 20."""
        usual = cls(tau="n/4", loss="mean_hinge_squared", optimiser="adam", steps=2000)
        return replace(usual, **changes)

    def __post_init__(self) -> None:
        check_fields(self)
        temperature(self.tau, 2)
        as_loss(self.loss)
        as_attention(self.attention)
        as_optimiser(self.optimiser, 1.0)

    def train(self, data: Data, keys: jax.Array, trace: int | None) -> Trained:
        """All runs in one compiled call: on the exact risk for a `Population`, else on rows."""
        n, k = data.n, self._size(data)
        schedule = Schedule(self.optimiser, self.steps, trace)
        with float64():
            model = self._skeleton(n, k, data.targets)
            objective = Objective.of(data, self.loss)
            if isinstance(data, Population):
                exact = self._population_risk(model, functions_of(data, "heads on a population"))
                objective = objective._replace(exact=exact)
            if is_schedule(self.tau):
                objective = objective._replace(taus=temperatures(self.tau, n, self.steps))
            runs = PerRun(self._starts(model, keys), given_of(data, keys), keys)
            path = descend_all(model, runs, objective, schedule, self._eta(n))
        return self._judged(data, keys, path, schedule)

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> HeadAttention:
        known = () if isinstance(target, Unknown) else (target,)
        model = self._skeleton(target.n, self._size(target), known)
        return model.with_parameters(numbers)

    def _judged(self, data: Data, keys: jax.Array, path: Walk[Any], schedule: Schedule) -> Trained:
        """The population risk where attention sums to one, at any n; else inputs or samples."""
        directions = path.end
        skeleton = self._skeleton(data.n, self._size(data), data.targets)
        models = [skeleton.with_parameters(each) for each in directions]
        if isinstance(data, Rows) or not _sums_to_one(self.attention, data.n):
            found = judge_models(models, data, keys)
        else:
            with float64():
                weights = np.stack([np.asarray(model.weights()) for model in models])
            found = judge_heads(weights, data, skeleton.readout)
        looked_at = np.asarray(_favourites(skeleton.code, directions))
        return found.trained(
            data,
            directions,
            [tuple(sorted(set(heads))) for heads in looked_at.tolist()],
            trace=schedule.trace(path, directions=path.path),
            stats={"positions": looked_at, "steps": np.full(len(keys), self.steps)},
        )

    def _size(self, given: Data | Target | Unknown) -> int:
        """k, from the learner or from the data."""
        k = given.k if self.k is None else self.k
        if k is None:
            raise ValueError("rows do not say how many bits are hidden; give Heads(k=…)")
        if k < 1:
            raise ValueError("heads need a parity set with at least one position, got k=0")
        return k

    def _eta(self, n: int) -> float:
        """The step size: the one given, else 0.1, or the public code's 0.2 for Adam at n = 20.

        Scores are directions over tau, so the gradient carries a factor 1/tau: at tau = 1/n a plain
        step of 0.1 moves a unit direction by 0.1·n times the slope of the loss in the scores.
        """
        usual = 0.2 if self.optimiser == "adam" and n == 20 else 0.1
        return usual if self.eta is None else self.eta

    def _skeleton(self, n: int, k: int, targets: Sequence[Target] | None) -> HeadAttention:
        """The model with placeholders for what is trained."""
        code = as_code(self.positions, n)
        heads = k if self.heads is None else self.heads
        readout = self._readout(k, targets or ())
        tau = temperature(self.tau, n)
        return HeadAttention(np.zeros((heads, code.width)), code, k, readout, tau, self.attention)

    def frames(self, trace: Mapping[str, np.ndarray], n: int) -> dict[str, Any]:
        if self.positions != "circle" or "directions" not in trace:
            return {}
        pairs = np.asarray(trace["directions"])
        fixed = [temperature(self.tau, n)] * len(pairs)
        return {"directions": pairs.reshape(len(pairs), -1).tolist(), "tau": fixed}

    def _readout(self, k: int, targets: Sequence[Target]) -> Readout:
        """The readout by name; for juntas "zigzag" stands for the lines through their values."""
        juntas = [target for target in targets if isinstance(target, Junta)]
        if not juntas or self.readout != "zigzag":
            return as_readout(self.readout, k)
        if len({junta.by_count for junta in juntas}) > 1:
            raise ValueError("juntas with different values need runs of their own, or a readout")
        return default_readout(juntas[0])

    def _population_risk(
        self, model: HeadAttention, targets: Sequence[Parity | Junta]
    ) -> "_PopulationRisk":
        """risk(model, target) of the exact engine, for attention whose rows sum to one."""
        if not _sums_to_one(self.attention, model.code.n):
            raise ValueError(
                "this attention's weights do not sum to 1 and have no population risk in closed "
                "form; train it on AllInputs, Sample or Fresh"
            )
        labels = labels_of(targets, as_loss(self.loss))
        n, k = model.code.n, model.k
        return _PopulationRisk(weight_risk(model.readout, self.loss, n, k, labels=labels))

    def _starts(
        self, model: HeadAttention, keys: jax.Array
    ) -> Float[np.ndarray, "runs heads width"]:
        """Directions of every run: random unit ones, or the given ones.

        The start of run i draws from the second half of its key, as that of every network does.
        """
        shape = np.shape(model.directions)
        if self.start is None:
            own = (jax.random.split(key)[1] for key in each_key(keys))
            return np.stack([unit_directions(key, *shape) for key in own])
        given, all_runs = np.asarray(self.start, dtype=np.float64), (len(keys), *shape)
        if given.shape not in (shape, all_runs) or not np.isfinite(given).all():
            raise ValueError(
                f"start must be finite numbers of shape {shape} or {all_runs}, got shape "
                f"{given.shape}"
            )
        return np.broadcast_to(given, all_runs)


def _sums_to_one(attention: AttentionPart, n: int) -> bool:
    """Whether an attention kind's weights sum to one, tried on random scores."""
    scores = np.random.default_rng(0).normal(size=(2, n))
    with float64():
        sums = np.asarray(as_attention(attention)(jnp.asarray(scores))).sum(axis=1)
    return bool(np.abs(sums - 1).max() < 1e-6)


@dataclass(frozen=True)
class _PopulationRisk:
    """risk(model, target); equal for equal settings, so that compiled loops are found again."""

    risk: WeightRisk

    def __call__(self, model: Model, target: Arrays) -> Array:
        assert isinstance(model, HeadAttention)
        return self.risk(model.weights(), target)


def _favourites(
    code: AbstractPositionCode, directions: Float[np.ndarray, "runs heads width"]
) -> Int[np.ndarray, "runs heads"]:
    """The position each head scores highest."""
    with float64():
        return np.stack(
            [np.argmax(np.asarray(code.scores(jnp.asarray(each))), axis=-1) for each in directions]
        )


Heads.presets = {"paper": Heads.paper, "code": Heads.code}
