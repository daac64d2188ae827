"""Learning the XOR pair: one gradient step or many, exact or from streamed rows, many runs.

At w = 0 attention is uniform, and the exact gradient in the attention weights is one number for the
pair and one for all other positions (`first_gradient`), so a single step needs no sum over inputs.
A gain β is the step size at which it raises the pair's score by β above the rest (`unit_step`);
softmax then turns the lead into e^β times the weight of another position.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree

from paritylab.learning.contract import (
    AttentionPart,
    LossPart,
    OptimiserPart,
    ReadoutPart,
    Subset,
    Trained,
    register_learner,
)
from paritylab.learning.data import Fresh, KnownData, Population, Sample, Target, are_uniform
from paritylab.learning.descent import Objective, Schedule, stacked
from paritylab.learning.judging import Scores, judge_models
from paritylab.learning.networks import Network
from paritylab.learning.xor.exact import (
    SOLVED_ERROR,
    XOR_LOSSES,
    as_xor_readout,
    default_gain,
    first_gradient,
    first_response,
    pairs_of,
    risk_rounding,
    unit_step,
    usual_width,
    worst_case,
    xor_label,
    xor_risk,
)
from paritylab.models import Bowl, TwoHeads, as_attention, as_code, is_drawn
from paritylab.models.positions import Positions
from paritylab.options import ATTENTION, LOSS, OPTIMISER, Choice, Doc, Ge, Gt
from paritylab.precision import AnyArray, float64
from paritylab.problem import as_loss
from paritylab.problem.sampling import each_key, normals
from paritylab.risk.objective import Target as Arrays


@register_learner("xor")
@dataclass(frozen=True, eq=False)
class XorStep(Network[TwoHeads]):
    """Two heads on a hidden pair: HG2's model, each run with positions of its own.

    width: of random positions, 12 ln n if None; other codes have their own. positions, attention,
    readout, loss, optimiser: a name, or a part of one's own. gain: step size in units of
    `unit_step`, 2 ln n + 6 if None; for optimisers other than sgd and momentum the step size
    itself. start: standard deviation of random starting directions. Beyond about n = 10^5 use
    `streamed_step`, which keeps positions as packed bits.

    Targets are `Parity(n, (i, j), sign=-1)`. Exact gradients (`Population`) need fair bits and,
    away from w = 0, the readout "square" with the squared or correlation loss; one step from w = 0
    is exact for every readout and loss. A run names the two positions of largest weight. It is
    solved if ½(ŷ-y)² ≤ 0.01 on every input: `stats["worst"]` is the largest |ŷ - y|, exact for the
    readouts square and abs while the weight off the pair is at most |g_i + g_j|, else an upper
    bound; a readout of one's own is searched at 1,025 values of |z|.
    """

    width: Annotated[int | None, Ge(1), Doc("Dimension of positions; 12 ln n if absent.")] = None
    positions: Annotated[
        Positions,
        Choice(("circle", "onehot", "signs", "balanced"), own="a code"),
        Doc("Position code; balanced is ours."),
    ] = "signs"
    attention: Annotated[AttentionPart, ATTENTION, Doc("How scores become weights.")] = "softmax"
    readout: Annotated[
        ReadoutPart,
        Choice(("square", "abs"), own="an even function"),
        Doc("1 - 2z², or 1 - |2z| by two ReLUs."),
    ] = "square"
    loss: Annotated[LossPart, LOSS, Doc("Loss; squared, correlation: exact risks.")] = "squared"
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 1
    gain: Annotated[float | None, Gt(0), Doc("Step size in units that raise the pair by 1.")] = None
    optimiser: Annotated[OptimiserPart, OPTIMISER, Doc("Optimiser.")] = "sgd"
    start: Annotated[float, Ge(0), Doc("Standard deviation of the random start.")] = 0.0

    takes = (Population, Sample, Fresh)
    eta = 1.0
    of = "pair"

    def __post_init__(self) -> None:
        super().__post_init__()
        as_attention(self.attention)
        as_xor_readout(self.readout)
        as_loss(self.loss)
        if not isinstance(self.optimiser, str) and self.gain is not None:
            raise ValueError(
                f"an optimiser from optax brings its own step size, got gain={self.gain} too"
            )

    def draw(self, key: jax.Array, target: Target) -> TwoHeads:
        n, width = target.n, self.width
        if width is None and is_drawn(self.positions):
            width = usual_width(n)
        code = as_code(self.positions, n, key=jax.random.fold_in(key, 1), width=width)
        directions = np.zeros((2, code.width))
        if self.start:
            directions = self.start * normals(jax.random.fold_in(key, 2), (2, code.width))
        return TwoHeads(directions, code, self.attention, as_xor_readout(self.readout))

    def step_size(self, n: int) -> float:
        """The gain in units of `unit_step`, or as it is for other optimisers."""
        gain = default_gain(n) if self.gain is None else self.gain
        if self.optimiser not in ("sgd", "momentum"):
            return gain
        return gain * unit_step(n, attention=self.attention, readout=self.readout, loss=self.loss)

    def objective(self, data: KnownData) -> Objective:
        """Rows as they are; of a population the closed risk, or its gradient at w = 0 alone."""
        targets, objective = pairs_of(data.targets), super().objective(data)
        if not isinstance(data, Population):
            return objective
        if not are_uniform(data):
            raise ValueError("exact XOR gradients need fair bits; use Fresh or Sample")
        loss, readout = objective.loss, as_xor_readout(self.readout)
        if isinstance(readout, Bowl) and loss in map(as_loss, XOR_LOSSES):
            return objective._replace(exact=_ClosedRisk(loss.name))
        first_step = self.steps == 1 and self.start == 0 and isinstance(self.optimiser, str)
        noise, *others = {target.noise for target in targets}
        if not first_step or others:
            raise ValueError(
                'exact gradients away from w = 0 need readout="square" and the squared or '
                "correlation loss; use Fresh or Sample, or steps=1 with start=0, an optimiser by "
                "name and one noise for all targets"
            )
        weight = first_response(self.attention, data.n)[0]
        first = first_gradient(data.n, xor_label, 2, readout, loss, noise=noise, weight=weight)
        slopes = float(first.relevant[0]), first.other
        return objective._replace(exact=_FirstRisk(first.value, *slopes))

    def train(self, data: KnownData, keys: jax.Array, trace: int | None) -> Trained:
        """Descend, and judge every run over all inputs."""
        schedule = Schedule(self.optimiser, self.steps, trace)
        path = self.descended(data, keys, schedule)
        numbers, targets = path.end, pairs_of(data.targets)
        each = list(zip(numbers, targets, each_key(keys), strict=True))
        with float64():
            judged = (
                _judged(self.rebuild(*run), np.array(run[1].subset), np.float64(run[1].noise))
                for run in each
            )
            found: Any = stacked(judged)
        scores = Scores(found.risk, found.rounding, "exact", np.full(len(keys), np.nan))
        if not isinstance(as_xor_readout(self.readout), Bowl) or not are_uniform(data):
            models, rows = (self.rebuild(*run) for run in each), max(256, (1 << 22) // data.n)
            piece = 1 << (rows.bit_length() - 1)
            scores = judge_models(models, data, keys, loss="squared", batch_size=piece)
        # No pair is named where a third position has as much weight.
        clear = found.largest[:, 1] > found.largest[:, 2]
        pairs = map(tuple, np.sort(found.best[:, :2], axis=1).tolist())
        named: list[Subset] = [
            pair if only else None for pair, only in zip(pairs, clear, strict=True)
        ]
        return Trained(
            numbers=numbers,
            subset=named,
            risk=scores.risk,
            error=scores.error,
            kind=scores.kind,
            loss="squared",
            solved=found.worst <= SOLVED_ERROR,
            trace=schedule.trace(path, directions=path.path),
            stats={
                "worst": found.worst,
                "split": found.split,
                "numbers": np.full(len(keys), numbers[0].size),
            },
        )

    def rebuild(self, numbers: PyTree, target: Target, key: jax.Array) -> TwoHeads:
        with float64():
            return self.draw(jax.random.split(key)[1], target).with_parameters(numbers)


@dataclass(frozen=True)
class _ClosedRisk:
    """`xor_risk` of a model; equal for equal losses, so that compiled loops are found again."""

    loss: str

    def __call__(self, model: TwoHeads, target: Arrays) -> Array:
        noise = (1 - jnp.abs(jnp.asarray(target.contrast))) / 2
        return xor_risk(model.weights(), jnp.asarray(target.indicator) > 0, self.loss, noise)


@dataclass(frozen=True)
class _FirstRisk:
    """The risk at w = 0 with its gradient in the weights: on the pair, and off it."""

    value: float
    relevant: float
    other: float

    def __call__(self, model: TwoHeads, target: Arrays) -> Array:
        weights = model.weights()
        gradient = jnp.where(jnp.asarray(target.indicator) > 0, self.relevant, self.other)
        return self.value + (weights - jax.lax.stop_gradient(weights)) @ gradient


class _Found(NamedTuple):
    """What a trained model is worth. best: the three positions of largest weight, largest: their
    weights. risk, rounding: the closed ½E(ŷ-y)² of the readout 1 - 2z² on fair bits, and how far
    rounding may carry it. worst: largest |ŷ - y| over all inputs. split: each head has over 0.9 of
    its attention on its own bit of the pair."""

    best: AnyArray
    largest: AnyArray
    risk: AnyArray
    rounding: AnyArray
    worst: AnyArray
    split: AnyArray


@eqx.filter_jit
def _judged(model: TwoHeads, pair: Int[AnyArray, "2"], noise: np.float64) -> _Found:
    """What is known of the trained weights in closed form; call it in float64."""
    attention = model.attention()
    weights = jnp.mean(attention, axis=0)
    on_pair = jnp.any(jnp.arange(len(weights))[None, :] == pair[:, None], axis=0)
    largest, best = jax.lax.top_k(weights, 3)
    return _Found(
        best,
        largest,
        xor_risk(weights, on_pair, noise=noise),
        risk_rounding(weights),
        worst_case(weights, on_pair, model.readout).error,
        jnp.all(jnp.any(attention[:, pair] > 0.9, axis=0)),
    )
