"""One normalised gradient step from zero with random positions: any k, in closed form.

At w = 0 attention is uniform, and for fair bits the gradient of -log E[y cos πs] in a head's w is
proportional to -(Σ_{j∈B} p_j - k·p̄), with p̄ the mean position. One step of gain β therefore gives
every head the scores β·<Σ_{j∈B} p_j - k·p̄, p_l>. For a junta the gradient differs from bit to bit
of B, and its largest entries may lie elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Gt
from jaxtyping import Float, PyTree

from paritylab._support.precision import float64
from paritylab.learning.contract import BaseLearner, Subset, Trained, check_fields, register_learner
from paritylab.learning.data import Population, Target, Unknown, functions_of
from paritylab.learning.heads.objective import log_cosine
from paritylab.learning.judging import judge_heads
from paritylab.models import AbstractPositionCode, Cosine, HeadAttention, as_code, is_drawn
from paritylab.models.positions import Positions
from paritylab.options import Choice
from paritylab.problem import Junta, Parity
from paritylab.risk import population_risks
from paritylab.risk.objective import target_of

#: Gains a step may choose from.
GAINS = np.geomspace(1, 200, 60)
#: A share of a sum below this is rounding.
_ZERO = 1e-12


@register_learner("one-step")
@dataclass(frozen=True, eq=False)
class OneStep(BaseLearner):
    """k equal heads after one normalised step from zero, read out by cos(πs).

    width: of random positions, 12·k·ln n if None; other codes have their own. gain: score of B
    above the rest; None takes the best of 60 between 1 and 200, the one whose attended sum stays
    closest to the number of ones in B over every input. positions: a name, or a code or table of
    one's own.

    A run names the k positions with the largest scores; it is solved if its squared-hinge risk
    (½(ŷ-y)² for real values) is below 0.05. stats: "deviation", how far the attended sum may be off
    over every input (below 1/2 the sign of a parity is right on all 2^n), and "gain".
    """

    width: Annotated[int | None, Ge(1), Doc("Dimension of positions; 12 k ln n if absent.")] = None
    gain: Annotated[float | None, Gt(0), Doc("Score above the rest; the best if absent.")] = None
    positions: Annotated[
        Positions, Choice(("onehot", "signs", "balanced"), own="a code or table"), Doc("Positions.")
    ] = "signs"

    takes = (Population,)
    closed = True
    trains_on: ClassVar = {"n": 64, "k": 3}

    def __post_init__(self) -> None:
        check_fields(self)

    def train(self, data: Population, keys: jax.Array, trace: int | None) -> Trained:
        """One run after another: only one table of positions is in memory."""
        targets = functions_of(data, "one step")
        if data.k < 1:
            raise ValueError("one step learns a Parity or Junta of at least one bit, got k=0")
        outcomes = [self._run(target, keys[run]) for run, target in enumerate(targets)]
        directions, subset, weights, deviation, gain = zip(*outcomes, strict=True)
        path: dict[str, np.ndarray] = {}
        if trace is not None:
            path = {"step": np.zeros(1, int), "risk": _start_risks(targets)}
            path["directions"] = np.zeros_like(directions)[:, None]
        return judge_heads(np.stack(weights), data, Cosine()).trained(
            data,
            np.stack(directions),
            list(subset),
            trace=path,
            stats={"deviation": np.array(deviation), "gain": np.array(gain)},
        )

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> HeadAttention:
        k = target.k
        assert k is not None
        return HeadAttention(numbers, self._code(target.n, k, key), k, Cosine(), 1.0)

    def _run(
        self, target: Parity | Junta, key: jax.Array
    ) -> tuple[np.ndarray, Subset, np.ndarray, float, float]:
        """Directions, named set, weights, deviation and gain; the table is dropped at the end."""
        n, k = target.n, target.k
        with float64():
            code = self._code(n, k, key)
            pull = jax.vjp(code.scores, jnp.zeros((1, code.width)))[1]
            # Scores are linear in w: their transpose turns forces on scores into those on w.
            direction = pull(jnp.asarray(set_forces(target))[None])[0]
            scores = np.asarray(code.scores(direction))[0]
        inside = target.indicator > 0
        gain = _best_gain(scores[inside], scores[~inside]) if self.gain is None else self.gain
        directions = np.repeat(gain * np.asarray(direction), k, axis=0)
        model = HeadAttention(directions, code, k, Cosine(), 1.0)
        with float64():
            weights = np.asarray(model.weights())
        deviation = deviation_of(weights[inside], weights[~inside].sum())
        return directions, _largest(scores, k), weights, deviation, gain

    def _code(self, n: int, k: int, key: jax.Array) -> AbstractPositionCode:
        """The positions of one run."""
        width = self.width
        if width is None and is_drawn(self.positions):
            width = int(np.ceil(12 * k * np.log(max(n, 2))))
        with float64():
            return as_code(self.positions, n, key=jax.random.fold_in(key, 1), width=width)


def _start_risks(targets: Sequence[Parity | Junta]) -> Float[np.ndarray, "runs 1"]:
    """-log|E[y cos πs]| at uniform attention, what the step descends."""
    n, k = targets[0].n, targets[0].k
    uniform = np.full((len(targets), n), k / n)
    found = population_risks(uniform, targets, readout="cos", loss="log_correlation")
    return np.asarray(found.values[:, None])


def set_forces(target: Parity | Junta) -> np.ndarray:
    """-∂(-log|E[y cos πs]|)/∂g at equal weights k/n, centred, with means 1 apart on B and off it.

    For a parity of fair bits it is 1_B - k/n. Where the means are equal the largest entry is 1; a
    target with E[y cos πs] = 0 there moves nothing.
    """
    inside = target.indicator > 0
    if inside.all():
        return np.zeros(target.n)
    with float64():
        equal = jnp.full(target.n, target.k / target.n)
        force = np.asarray(_slopes(equal, target_of(target)))
    # Softmax does not see a constant, so only differences of forces move attention.
    centred = force - force.mean()
    apart = abs(centred[inside].mean() - centred[~inside].mean())
    scale = apart if apart > _ZERO * np.abs(force).max() else np.abs(centred).max()
    return np.asarray(centred / scale if scale > 0 else centred)


_slopes = jax.jit(jax.grad(log_cosine))


def deviation_of(inside: np.ndarray, outside: float) -> float:
    """Largest distance of Σ g_j x_j from Σ_{j∈B} x_j over every input.

    inside: weights g on B. outside: their sum off B.
    """
    return float(max(np.maximum(inside - 1, 0).sum() + outside, np.maximum(1 - inside, 0).sum()))


def _largest(scores: np.ndarray, k: int) -> tuple[int, ...] | None:
    """The k positions with the largest scores; None if the next has the same score."""
    order = np.argsort(-scores, kind="stable")
    if k < len(scores) and not scores[order[k - 1]] > scores[order[k]]:
        return None
    return tuple(sorted(order[:k].tolist()))


def _best_gain(inside: np.ndarray, outside: np.ndarray) -> float:
    """The gain with the smallest `deviation_of`; inside, outside: scores at gain 1."""
    k, top = len(inside), float(max(inside.max(), outside.max(initial=-np.inf)))
    # Only outsiders near the top matter; the rest enter through a histogram of their scores.
    counts, edges = np.histogram(outside, bins=2000)

    def deviation(gain: float) -> float:
        on = np.exp(gain * (inside - top))
        off = float(counts @ np.exp(gain * (edges[1:] - top)))
        share = k / (on.sum() + off)
        return deviation_of(share * on, share * off)

    return float(min(GAINS, key=deviation))
