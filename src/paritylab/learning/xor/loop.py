"""Many XOR runs in one compiled call: descent on the exact risk, its first gradient, or rows."""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from paritylab.learning.descent import as_optimiser, descend
from paritylab.learning.parts import AttentionPart, OptimiserPart
from paritylab.learning.xor.exact import risk_rounding, squared_risk, worst_case, xor_risk
from paritylab.models import AbstractPositionCode, PositionTable, TwoHeads
from paritylab.models.readouts import Readout
from paritylab.precision import AnyArray
from paritylab.problem.losses import Loss
from paritylab.problem.sampling import draw_bits


class Setting(NamedTuple):
    """What a compiled call is specialised on.

    code: the positions of all runs, None if each has its own. source: "exact" (the closed risk),
    "first" (the exact gradient at w = 0 only), "Fresh" or "Sample" (rows). every: stride of the
    trace, None for no trace.
    """

    n: int
    code: AbstractPositionCode | None
    attention: AttentionPart
    readout: Readout
    loss: Loss
    optimiser: OptimiserPart
    steps: int
    every: int | None
    source: str
    samples: int


class Start(NamedTuple):
    """What a run starts from; every array has the run as its first axis.

    pair: i and j. noise: ν. directions: w (2, width). table: the run's own positions (n, width).
    probabilities: of biased bits (n,). first: ∂risk/∂g on the pair and off it and the risk, all at
    w = 0.
    """

    pair: Int[AnyArray, "*runs 2"]
    noise: Float[AnyArray, "*runs"]
    key: Array
    directions: Float[AnyArray, "*runs 2 width"]
    table: Float[AnyArray, "*runs n width"] | None = None
    probabilities: Float[AnyArray, "*runs n"] | None = None
    first: tuple[AnyArray, ...] | None = None


class Found(NamedTuple):
    """What a trained model is worth.

    best: the positions of the two largest weights; separated: they are larger than all others.
    risk, rounding: the closed ½E(ŷ-y)² of the readout 1 - 2z² on fair bits, and how far rounding
    may carry it. worst: largest |ŷ - y| over all inputs. split: each head has over 0.9 of its
    attention on its own bit of the pair.
    """

    best: Int[AnyArray, "*runs 2"]
    separated: Bool[AnyArray, "*runs"]
    risk: Float[AnyArray, "*runs"]
    rounding: Float[AnyArray, "*runs"]
    worst: Float[AnyArray, "*runs"]
    split: Bool[AnyArray, "*runs"]


class End(NamedTuple):
    """Where a run ended; every array has the run as its first axis.

    numbers: the directions. path, risks: directions and the risk the optimiser saw, at the recorded
    steps.
    """

    numbers: Float[AnyArray, "*runs 2 width"]
    found: Found
    path: Float[AnyArray, "*runs records 2 width"]
    risks: Float[AnyArray, "*runs records"]


@eqx.filter_jit
def run_all(setting: Setting, eta: np.float64, starts: Start) -> End:
    """All runs at once; call it in float64."""
    return End(*jax.vmap(partial(_run, setting, eta))(starts))


def _run(setting: Setting, eta: np.float64, start: Start) -> End:
    """One run; its key draws the rows of every step from fold_in(key, 3)."""
    end = descend(
        partial(_risk, setting, start),
        start.directions,
        as_optimiser(setting.optimiser, eta),
        steps=setting.steps,
        every=setting.every,
        key=jax.random.fold_in(start.key, 3),
    )
    found = _judged(_model(setting, start, end.parameters), start)
    return End(end.parameters, found, end.path, end.risks)


def _model(setting: Setting, start: Start, directions: AnyArray) -> TwoHeads:
    """The model with these directions, on the run's own positions or on those of all runs."""
    code = setting.code if start.table is None else PositionTable(start.table)
    assert code is not None
    return TwoHeads(directions, code, setting.attention, setting.readout)


def _risk(setting: Setting, start: Start, directions: Array, step_key: Array) -> Array:
    """The risk whose gradient the optimiser sees, by the source of the setting."""
    weights, on_pair = _model(setting, start, directions).weights(), _on_pair(start, setting.n)
    if setting.source == "exact":
        return xor_risk(weights, on_pair, setting.loss.name, start.noise)
    # Rows and the closed first gradient give ∂risk/∂g directly, without differentiating a scan.
    frozen = jax.lax.stop_gradient(weights)
    if setting.source == "first":
        assert start.first is not None
        relevant, other, value = map(jnp.asarray, start.first)
        gradient = jnp.where(on_pair, relevant, other)
    else:
        value, gradient = rows_risk(
            frozen,
            start.pair,
            step_key if setting.source == "Fresh" else jax.random.fold_in(start.key, 4),
            setting.samples,
            readout=setting.readout,
            loss=setting.loss,
            noise=start.noise,
            probabilities=start.probabilities,
        )
    # The value of the risk with the gradient that is already known.
    return value + (weights - frozen) @ gradient


def _on_pair(start: Start, n: int) -> Array:
    return jnp.any(jnp.arange(n)[None, :] == start.pair[:, None], axis=0)


def _judged(model: TwoHeads, start: Start) -> Found:
    """What is known of the trained weights in closed form."""
    attention = model.attention()
    weights = jnp.mean(attention, axis=0)
    largest, best = jax.lax.top_k(weights, 3)
    second, fourth = jnp.sum(weights**2), jnp.sum(weights**4)
    agreement = 4 * jnp.prod(weights[start.pair]) * (1 - 2 * start.noise)
    return Found(
        best=best[:2],
        separated=largest[1] > largest[2],
        risk=squared_risk(second, fourth, agreement),
        rounding=risk_rounding(weights.shape[0], second),
        worst=worst_case(weights, _on_pair(start, weights.shape[0]), model.readout).error,
        split=jnp.all(jnp.any(attention[:, start.pair] > 0.9, axis=0)),
    )


def batch_rows(n: int, samples: int) -> int:
    """Rows drawn at a time; a function of the problem alone, so that a key gives the same rows in
    blocks of any size."""
    return min(samples, max(16, min(4096, (1 << 20) // n)))


def rows_risk(
    weights: Float[Array, " n"],
    pair: Int[AnyArray, "2"],
    key: PRNGKeyArray,
    samples: int,
    *,
    readout: Readout,
    loss: Loss,
    noise: Float[AnyArray, ""] | float = 0.0,
    probabilities: Float[AnyArray, " n"] | None = None,
) -> tuple[Float[Array, ""], Float[Array, " n"]]:
    """The risk of weights g on `samples` rows drawn by `key`, and ∂risk/∂g = outer'·Xᵀr/N.

    One batch of rows is in memory at a time; r is the slope of the loss in z = Xg, row by row.
    pair: i and j. noise: ν. probabilities: P(bit = 1) of every position, fair bits if None.
    """
    n, size = weights.shape[0], batch_rows(weights.shape[0], samples)
    fair = probabilities is None
    chances = jnp.full(n, 0.5, weights.dtype) if probabilities is None else probabilities
    visit = jax.vmap(jax.value_and_grad(lambda z, y: loss.pointwise(y, readout(z))))

    def batch(totals: tuple[Array, Array], index: Array) -> tuple[tuple[Array, Array], None]:
        bits, flips = draw_bits(jax.random.fold_in(key, index), chances, noise, size, fair)
        signs = 1 - 2 * bits.astype(weights.dtype)
        labels = -signs[:, pair[0]] * signs[:, pair[1]] * flips
        values, forces = visit(signs @ weights, labels)
        kept = index * size + jnp.arange(size) < samples
        value, force = totals
        value = value + jnp.sum(jnp.where(kept, values, 0))
        return (value, force + jnp.where(kept, forces, 0) @ signs), None

    start = (jnp.zeros((), weights.dtype), jnp.zeros(n, weights.dtype))
    (value, force), _ = jax.lax.scan(batch, start, jnp.arange(-(-samples // size)))
    risk, slope = jax.value_and_grad(loss.outer)(value / samples)
    return risk, slope * force / samples
