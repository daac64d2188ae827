"""Settings of `Heads` met with data: the model, its numbers, its closed risks, its starts."""

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from paritylab._support.precision import float64
from paritylab.learning.contract import LossPart
from paritylab.learning.data import Data, Population, Rows, Target, are_uniform, functions_of
from paritylab.learning.heads.moves import candidates
from paritylab.learning.heads.objective import PairRisk, PopulationRisk, ProductRisk
from paritylab.learning.heads.starts import draw_starts
from paritylab.learning.heads.steps import HeadSteps
from paritylab.learning.heads.temperature import is_schedule, temperature, temperatures
from paritylab.learning.objective import ExactRisk
from paritylab.learning.xor.exact import XOR_LOSSES, default_gain, is_pair, unit_step, usual_width
from paritylab.models import (
    AbstractPositionCode,
    HeadAttention,
    RandomSigns,
    as_attention,
    as_code,
    as_readout,
    default_readout,
)
from paritylab.models.positions import is_drawn
from paritylab.models.readouts import Cosine, PairReadout, Readout, TrainableReadout, Zigzag
from paritylab.problem import Junta, as_loss
from paritylab.problem.losses import LOSSES
from paritylab.problem.sampling import each_key
from paritylab.risk.objective import labels_of, weight_risk

if TYPE_CHECKING:
    from paritylab.learning.heads.train import Heads


def meet(settings: "Heads", data: Data) -> HeadSteps:
    """These settings on data of one size: an iterative learner."""
    n, k = data.n, settings.size(data)
    with float64():
        like = assemble(settings, n, k, data.targets)
        taus, changes = np.array([temperature(settings.tau, n)]), is_schedule(settings.tau)
        geometric = settings.unit and changes and isinstance(settings.tau, str)
        if changes:
            steps = 1 if geometric else settings.steps
            taus = np.append(temperatures(settings.tau, n, steps), taus)
        knows = settings.unit or settings.restarts > 0
        return HeadSteps(
            like=like,
            taus=taus,
            eta=np.asarray(step_size(settings, n), np.float64),
            jitter=np.asarray(settings.jitter, np.float64),
            attempt=np.asarray(0, np.int32),
            rule=settings.optimiser,
            loss=settings.loss,
            steps=settings.steps,
            batch=settings.batch,
            unit=settings.unit,
            tries=candidates(k) if settings.moves is None else settings.moves,
            exact=closed_risk(settings, like, data, settings.loss),
            correlation=closed_risk(settings, like, data, "correlation") if knows else None,
            knows=knows,
            changes=changes,
            geometric=geometric,
        )


def assemble(settings: "Heads", n: int, k: int, targets: Sequence[Target] | None) -> HeadAttention:
    """The model with placeholders for what is trained."""
    if is_drawn(settings.positions):
        width = usual_width(n) if settings.width is None else settings.width
        code: AbstractPositionCode = RandomSigns(np.zeros((n, width)))
    else:
        code = as_code(settings.positions, n, width=settings.width)
    heads = k if settings.heads is None else settings.heads
    readout, tau = readout_of(settings, k, targets or ()), temperature(settings.tau, n)
    trains = trained_parts(settings)
    if "readout" in trains and isinstance(readout, Zigzag):
        readout = TrainableReadout.of(readout)
    zeros = np.zeros((heads, code.width))
    return HeadAttention(zeros, code, k, readout, tau, settings.attention, settings.inputs, trains)


def readout_of(settings: "Heads", k: int, targets: Sequence[Target]) -> Readout:
    """The readout by name; for juntas "zigzag" stands for the lines through their values."""
    juntas = [target for target in targets if isinstance(target, Junta)]
    if not juntas or settings.readout != "zigzag":
        return as_readout(settings.readout, k)
    if len({junta.by_count for junta in juntas}) > 1:
        raise ValueError("juntas with different values need runs of their own, or a readout")
    return default_readout(juntas[0])


def knows_pairs(settings: "Heads", data: Data) -> bool:
    """Whether the readout 1 - 2z² has met pairs of fair bits, which closed forms judge."""
    known = not isinstance(data, Rows) and "readout" not in trained_parts(settings)
    return known and settings.readout == "pair" and all(map(is_pair, data.targets or ()))


def closed_risk(
    settings: "Heads", like: HeadAttention, data: Data, loss: LossPart
) -> ExactRisk | None:
    """The risk over all inputs in closed form, where one is known."""
    if not isinstance(data, Population) or "readout" in trained_parts(settings):
        return None
    if knows_pairs(settings, data) and isinstance(like.readout, PairReadout) and loss in XOR_LOSSES:
        return PairRisk(str(loss))
    if not sums_to_one(settings, data.n):
        return None
    known = as_loss(loss)
    if settings.unit and known == LOSSES["log_correlation"] and isinstance(like.readout, Cosine):
        return ProductRisk(are_uniform(data))
    labels = labels_of(functions_of(data, "heads on a population"), known)
    return PopulationRisk(weight_risk(like.readout, loss, data.n, like.k, labels=labels))


def sums_to_one(settings: "Heads", n: int) -> bool:
    """Whether the attention's weights sum to one, tried on random scores."""
    scores = np.random.default_rng(0).normal(size=(2, n))
    with float64():
        sums = np.asarray(as_attention(settings.attention)(jnp.asarray(scores))).sum(axis=1)
    return bool(np.abs(sums - 1).max() < 1e-6)


def step_size(settings: "Heads", n: int) -> float:
    """The step size: the one given, else 0.1, or the public code's 0.2 for Adam at n = 20; on
    pairs from the gain.

    Scores are directions over tau, so the gradient carries a factor 1/tau: at tau = 1/n a plain
    step of 0.1 moves a unit direction by 0.1·n times the slope of the loss in the scores.
    """
    if settings.eta is not None:
        return settings.eta
    if settings.readout == "pair" and settings.optimiser == "sgd" and settings.loss in XOR_LOSSES:
        gain = default_gain(n) if settings.gain is None else settings.gain
        heads = 2 if settings.heads is None else settings.heads
        return gain * unit_step(
            n, attention=settings.attention, loss=str(settings.loss), heads=heads
        )
    if settings.gain is not None:
        raise ValueError(
            "a gain is a step of plain descent on the squared or correlation loss; give eta"
        )
    return 0.2 if settings.optimiser == "adam" and n == 20 else 0.1


def drawn_starts(
    settings: "Heads", like: HeadAttention, keys: jax.Array, chosen: np.ndarray, attempt: int
) -> PyTree:
    """The starts of some runs, but those that compiled code draws by itself."""
    if starts_at(settings, "spaced"):
        return None
    own = each_key(keys[chosen] if attempt else keys)
    # Who starts again draws other directions, but keeps the positions.
    again = [jax.random.fold_in(key, 100 + attempt) if attempt else key for key in own]
    start = settings.start
    if start is not None and not isinstance(start, str | Real):
        start = given_directions(settings, like, len(keys))[chosen]
    with float64():
        return draw_starts(start, settings.positions, like, own, again, unit=settings.unit)


def given_directions(settings: "Heads", like: HeadAttention, runs: int) -> np.ndarray:
    """Directions of one's own, one array per run."""
    given, shape = np.asarray(settings.start, dtype=np.float64), np.shape(like.directions)
    if given.shape not in (shape, (runs, *shape)) or not np.isfinite(given).all():
        raise ValueError(
            f"start must be finite numbers of shape {shape} or {(runs, *shape)}, got shape "
            f"{given.shape}"
        )
    return np.broadcast_to(given, (runs, *shape))


def trained_parts(settings: "Heads") -> tuple[str, ...]:
    """The parts that train, by name."""
    return (settings.trains,) if isinstance(settings.trains, str) else tuple(settings.trains)


def starts_at(settings: "Heads", name: str) -> bool:
    """Whether the start is the one of this name."""
    return isinstance(settings.start, str) and settings.start == name
