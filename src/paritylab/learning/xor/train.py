"""Learning the XOR pair: one gradient step or many, exact or from streamed rows, many runs.

At w = 0 attention is uniform, and the exact gradient in the attention weights is one number for the
pair and one for all other positions (`first_gradient`), so a single step needs no sum over inputs.
A gain β is the step size at which it raises the pair's score by β above the rest (`unit_step`);
softmax then turns the lead into e^β times the weight of another position.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Int, PyTree

from paritylab.learning.contract import (
    AttentionPart,
    Subset,
    Trained,
    register_learner,
)
from paritylab.learning.data import Data, Fresh, Population, Sample, Target, Unknown, are_uniform
from paritylab.learning.descent import as_optimiser, stacked
from paritylab.learning.networks import Network
from paritylab.learning.objective import ExactRisk
from paritylab.learning.training import Report, Size, take_steps, trace_of
from paritylab.learning.xor.exact import (
    SOLVED_ERROR,
    default_gain,
    pairs_of,
    risk_rounding,
    unit_step,
    usual_width,
    worst_case,
    xor_risk,
)
from paritylab.models import TwoHeads, as_attention, as_code, is_drawn
from paritylab.models.positions import Positions
from paritylab.options import ATTENTION, Choice, Doc, Ge, Gt
from paritylab.precision import AnyArray, float64
from paritylab.problem.sampling import each_key, normals
from paritylab.risk.objective import Target as Arrays


@register_learner("xor")
@dataclass(frozen=True, eq=False)
class XorStep(Network[TwoHeads]):
    """Two heads on a hidden pair: HG2's model, each run with positions of its own.

    width: of random positions, 12 ln n if None; other codes have their own. positions, attention: a
    name, or a part of one's own. gain: step size in units of `unit_step`, 2 ln n + 6 if None.
    start: standard deviation of random starting directions. Beyond about n = 10^5 use
    `streamed_step`, which keeps positions as packed bits.

    Targets are `Parity(n, (i, j), sign=-1)` of fair bits. A run names the two positions of largest
    weight. It is solved if ½(ŷ-y)² ≤ 0.01 on every input: `stats["worst"]` is the largest |ŷ - y|,
    exact while the weight off the pair is at most |g_i + g_j|, else an upper bound. `Descent` on a
    `TwoHeads` takes other readouts, losses and optimisers.
    """

    width: Annotated[int | None, Ge(1), Doc("Dimension of positions; 12 ln n if absent.")] = None
    positions: Annotated[
        Positions,
        Choice(("circle", "onehot", "signs", "balanced"), own="a code"),
        Doc("Position code; balanced is ours."),
    ] = "signs"
    attention: Annotated[AttentionPart, ATTENTION, Doc("How scores become weights.")] = "softmax"
    loss: Annotated[str, Choice(("squared", "correlation")), Doc("Loss trained on.")] = "squared"
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 1
    gain: Annotated[float | None, Gt(0), Doc("Step size in units that raise the pair by 1.")] = None
    start: Annotated[float, Ge(0), Doc("Standard deviation of the random start.")] = 0.0

    takes = (Population, Sample, Fresh)
    eta = 1.0
    of = "pair"

    def __post_init__(self) -> None:
        super().__post_init__()
        as_attention(self.attention)

    def draw(self, key: jax.Array, target: Target | Unknown) -> TwoHeads:
        n, width = target.n, self.width
        if width is None and is_drawn(self.positions):
            width = usual_width(n)
        code = as_code(self.positions, n, key=jax.random.fold_in(key, 1), width=width)
        directions = np.zeros((2, code.width))
        if self.start:
            directions = self.start * normals(jax.random.fold_in(key, 2), (2, code.width))
        return TwoHeads(directions, code, self.attention)

    def rule(self, target: Size) -> optax.GradientTransformation:
        """Plain gradient descent; `train` puts the step size in place of the gain."""
        return as_optimiser("sgd", cast(float, self.gain))

    def exact_risk(self, data: Data) -> ExactRisk:
        """The closed risk of a population."""
        return _ClosedRisk(self.loss)

    def train(
        self, data: Data, keys: jax.Array, trace: int | None, report: Report = None
    ) -> Trained:
        """Descend, and judge every run over all inputs."""
        targets = pairs_of(data.targets or ())
        if not are_uniform(data):
            raise ValueError("XorStep learns from fair bits, got a bias")
        gain = default_gain(data.n) if self.gain is None else self.gain
        step = gain * unit_step(data.n, attention=self.attention, loss=self.loss)
        end = take_steps(replace(self, gain=step), data, keys, trace, report)
        numbers = end.parameters
        each = list(zip(numbers, targets, each_key(keys), strict=True))
        with float64():
            judged = (
                _judged(self.rebuild(*run), np.array(run[1].subset), np.float64(run[1].noise))
                for run in each
            )
            found: Any = stacked(judged)
        # No pair is named where a third position has as much weight.
        clear = found.largest[:, 1] > found.largest[:, 2]
        pairs = map(tuple, np.sort(found.best[:, :2], axis=1).tolist())
        named: list[Subset] = [
            pair if only else None for pair, only in zip(pairs, clear, strict=True)
        ]
        return Trained(
            numbers=numbers,
            subset=named,
            risk=found.risk,
            error=found.rounding,
            kind="exact",
            loss="squared",
            solved=found.worst <= SOLVED_ERROR,
            trace=trace_of(end, self.steps, trace, directions=end.path),
            stats={"worst": found.worst},
        )

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> TwoHeads:
        with float64():
            return self.draw(jax.random.split(key)[1], target).with_parameters(numbers)


@dataclass(frozen=True)
class _ClosedRisk:
    """`xor_risk` of a model; equal for equal losses, so that compiled loops are found again."""

    loss: str

    def __call__(self, model: TwoHeads, target: Arrays) -> Array:
        noise = (1 - jnp.abs(jnp.asarray(target.contrast))) / 2
        return xor_risk(model.weights(), jnp.asarray(target.indicator) > 0, self.loss, noise)


class _Found(NamedTuple):
    """What a trained model is worth. best: the three positions of largest weight, largest: their
    weights. risk, rounding: ½E(ŷ-y)², and how far rounding may carry it. worst: largest |ŷ - y|
    over all inputs."""

    best: AnyArray
    largest: AnyArray
    risk: AnyArray
    rounding: AnyArray
    worst: AnyArray


@eqx.filter_jit
def _judged(model: TwoHeads, pair: Int[AnyArray, "2"], noise: np.float64) -> _Found:
    """What is known of the trained weights in closed form; call it in float64."""
    weights = model.weights()
    on_pair = jnp.any(jnp.arange(len(weights))[None, :] == pair[:, None], axis=0)
    largest, best = jax.lax.top_k(weights, 3)
    return _Found(
        best,
        largest,
        xor_risk(weights, on_pair, noise=noise),
        risk_rounding(weights),
        worst_case(weights, on_pair).error,
    )
