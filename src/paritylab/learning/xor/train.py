"""Learning the XOR pair: one gradient step or many, exact or from streamed samples, many runs."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab.learning.descent import as_optimiser, descend
from paritylab.learning.xor.exact import (
    as_pointwise,
    first_gradient,
    score_slope,
    worst_case,
    xor_risk,
)
from paritylab.learning.xor.stream import streamed_step
from paritylab.models import XOR_READOUTS, TwoHeads
from paritylab.models.attention import attend
from paritylab.models.positions import WITH_WIDTH, Circle, OneHot, RandomSigns, as_code
from paritylab.precision import float64
from paritylab.problem.sampling import as_key, draw_signs

#: Rows of samples held at a time.
BATCH = 4096
#: Numbers in a table of positions above which they are streamed instead.
LARGEST_TABLE = 25_000_000


class XorRuns(NamedTuple):
    """What many runs found, one entry per run.

    pairs: the hidden positions. ranked: the two largest weights are the pair. error: largest
    |ŷ - y| over all 2^n inputs. risk: exact E[½(ŷ-y)²], NaN unless the readout is 1 - 2z². split:
    each head puts over 0.9 of its attention on its own bit of the pair. directions: w of every run.
    example: the weights g of the first run.
    """

    pairs: np.ndarray
    ranked: np.ndarray
    error: np.ndarray
    risk: np.ndarray
    split: np.ndarray
    directions: np.ndarray
    example: np.ndarray

    @property
    def solved(self) -> np.ndarray:
        """Worst-case loss ½(ŷ-y)² at most 0.01: right on every input, with room."""
        return np.nan_to_num(self.error, nan=np.inf) ** 2 / 2 <= 0.01


def unit_step(
    n: int,
    *,
    attention: str = "softmax",
    readout: str = "square",
    loss: str = "squared",
) -> float:
    """The step size at which one exact step gives the pair a score of 1 above the rest, up to the
    overlaps of positions: 2/(dα/dscore · signal). A gain multiplies it.

    >>> round(unit_step(100), 6)  # n²/2 for softmax, 1 - 2z² and ½(ŷ-y)²
    5000.0
    """
    first = first_gradient(n, _xor, 2, as_xor_readout(readout), loss)
    return 2 / (score_slope(attention, n) * first.signal)


def default_gain(n: int) -> float:
    """A gain inside the window of softmax for every width that ranks the pair.

    2·ln n silences n positions whose scores stay below half of the pair's; the 6 is for accuracy.
    """
    return 2 * float(np.log(n)) + 6


def usual_width(n: int) -> int:
    """12·ln n: enough to rank the pair in every draw tried."""
    return int(np.ceil(12 * np.log(n)))


def train_xor(
    n: int,
    width: int | None = None,
    *,
    runs: int = 100,
    positions: str = "signs",
    attention: str = "softmax",
    readout: str = "square",
    loss: str = "squared",
    steps: int = 1,
    gain: float | None = None,
    optimiser: str = "sgd",
    start: float = 0.0,
    samples: int | None = None,
    noise: float = 0.0,
    learn_positions: bool = False,
    seed: int = 0,
    first: int = 0,
) -> XorRuns:
    """Train two heads on random hidden pairs, each run with its own positions.

    gain: step size in units of `unit_step` (Adam and others: the plain rate). start: standard
    deviation of a random start's scores. samples: fresh rows per step; exact gradients if None.
    Above n·width = 25 million the exact first step is streamed, with one draw of positions.

    >>> bool(train_xor(64, 60, positions="balanced", runs=20).solved.all())
    True
    """
    _check(n, width, positions, runs, steps, start, noise)
    exact_only_first = samples is None and readout != "square"
    if exact_only_first and (steps > 1 or start > 0):
        raise ValueError(
            'exact gradients away from w = 0 need readout="square"; '
            f'readout="{readout}" needs samples, or steps=1 and start=0'
        )
    gain = default_gain(n) if gain is None else gain
    if positions in WITH_WIDTH and width is not None and n * width > LARGEST_TABLE:
        usual = (attention, readout, steps, optimiser, start, samples, noise, learn_positions)
        return _streamed(n, width, runs, gain, positions, usual, 1_000_003 * seed + first)
    unit = 1.0
    if optimiser in ("sgd", "momentum"):
        unit = unit_step(n, attention=attention, readout=readout, loss=loss)
    keys = jax.vmap(partial(jax.random.fold_in, as_key(seed)))(first + jnp.arange(runs))
    results, examples = [], []
    setting = (n, attention, readout, loss, steps, optimiser, samples, learn_positions)
    for chunk in _chunks(runs, n * (width or 2)):
        with float64():
            pairs, codes, directions = _starts(keys[chunk], n, width, positions, start)
            code, axis = codes
            if exact_only_first:
                end = _closed_first_step(code, pairs, gain * unit, setting, axis)
            else:
                end = _descend_all(
                    code, pairs, directions, keys[chunk], gain * unit, noise, setting, axis
                )
            judged = _judge_all(end[0], pairs, setting)
            results.append([np.asarray(part) for part in (pairs, *judged, end[1])])
            examples.append(np.asarray(end[0][0].mean(axis=0)))
    pairs, ranked, error, risk, split, directions = (
        np.concatenate(column) for column in zip(*results, strict=True)
    )
    return XorRuns(pairs, ranked, error, risk, split, directions, examples[0])


def _streamed(n, width, runs, gain, positions, usual, seed) -> XorRuns:
    """Runs too large for a table of positions each: all share one draw, packed."""
    if usual != ("softmax", "square", 1, "sgd", 0.0, None, 0.0, False) or positions == "sphere":
        raise ValueError(
            f"n·width = {n * width:,} exceeds {LARGEST_TABLE:,}: at this size only the exact first "
            "softmax step from zero without noise, on signs or balanced positions, is offered"
        )
    step = streamed_step(n, width, [gain], pairs=runs, balanced=positions == "balanced", seed=seed)
    unknown = np.full(runs, np.nan)
    return XorRuns(
        step.pairs,
        step.ranked,
        step.error[0],
        unknown,
        np.zeros(runs, bool),
        np.zeros((runs, 0)),
        np.zeros(0),
    )


def as_xor_readout(name: str):
    if name not in XOR_READOUTS:
        raise ValueError(f"readout must be one of {', '.join(XOR_READOUTS)}, got {name!r}")
    return XOR_READOUTS[name]


def _xor(signs) -> float:
    return -signs[0] * signs[1]


def _check(n, width, positions, runs, steps, start, noise) -> None:
    if n < 3:
        raise ValueError(f"the XOR of two bits among others needs n ≥ 3, got n={n}")
    if positions in WITH_WIDTH and width is None:
        raise ValueError(f"{positions} positions need a width, such as {usual_width(n)}")
    if runs < 1 or steps < 1:
        raise ValueError(f"runs and steps must be at least 1, got {runs} and {steps}")
    if start < 0 or not 0 <= noise < 0.5:
        raise ValueError(f"need start ≥ 0 and noise in [0, 0.5), got {start} and {noise}")


def _chunks(runs: int, numbers_per_run: int) -> list[slice]:
    """Blocks of runs whose position tables fit in about 200 MB."""
    size = max(1, min(runs, LARGEST_TABLE // numbers_per_run))
    return [slice(at, min(at + size, runs)) for at in range(0, runs, size)]


def _starts(keys, n, width, positions, start):
    """Hidden pairs, stacked codes and starting directions; everything from the run's own key."""
    pairs = jax.vmap(lambda key: _draw_pair(jax.random.fold_in(key, 0), n))(keys)
    if positions in ("circle", "onehot"):
        shared = (Circle if positions == "circle" else OneHot)(n)
        codes, axis, dimension = shared, None, shared.width
    else:
        drawn = [as_code(positions, n, key=jax.random.fold_in(key, 1), width=width) for key in keys]
        codes, axis = jax.tree.map(lambda *tables: jnp.stack(tables), *drawn), 0
        dimension = width
    draws = jax.vmap(lambda key: jax.random.normal(jax.random.fold_in(key, 2), (2, dimension)))(
        keys
    )
    return pairs, (codes, axis), start * draws


def _draw_pair(key, n: int):
    one, other = jax.random.randint(key, (2,), 0, jnp.array([n, n - 1]))
    return jnp.stack([one, jnp.where(other >= one, other + 1, other)])


def _on_pair(pair, n: int):
    return jnp.any(jnp.arange(n)[None, :] == pair[:, None], axis=0)


@partial(jax.jit, static_argnames=("setting", "axis"))
def _descend_all(code, pairs, directions, keys, rate, noise, setting, axis):
    n, attention, readout, loss, steps, optimiser, samples, learn_positions = setting

    def one(code, pair, directions, key):
        on_pair = _on_pair(pair, n)

        def risk(parameters, step_key):
            moved_code, moved = parameters if learn_positions else (code, parameters)
            weights = TwoHeads(moved, moved_code, attention).weights()
            if samples is None:
                return xor_risk(weights, on_pair, loss, noise)
            gradient = sampled_weight_gradient(
                jax.lax.stop_gradient(weights),
                pair,
                step_key,
                samples,
                readout=readout,
                loss=loss,
                noise=noise,
            )
            return weights @ gradient

        start = (code, directions) if learn_positions else directions
        end = descend(
            risk,
            start,
            as_optimiser(optimiser, rate),
            steps=steps,
            every=steps,
            key=jax.random.fold_in(key, 3),
        )
        code, directions = end.parameters if learn_positions else (code, end.parameters)
        return attend(code.scores(directions), attention), directions

    return jax.vmap(one, in_axes=(axis, 0, 0, 0))(code, pairs, directions, keys)


def _closed_first_step(code, pairs, rate, setting, axis):
    """One exact step from zero for a readout without a closed risk elsewhere."""
    n, attention, readout, loss, *_ = setting
    first = first_gradient(n, _xor, 2, as_xor_readout(readout), loss)
    slope = score_slope(attention, n)

    def one(code, pair):
        forces = jnp.where(_on_pair(pair, n), first.relevant[0], first.other)
        forces = forces - jnp.mean(forces) if attention == "softmax" else forces
        zero = jnp.zeros((1, code.width))
        # Scores are linear in w: their transpose at w = 0 turns forces into the gradient of w.
        (gradient,) = jax.vjp(code.scores, zero)[1](forces[None, :] * slope / 2)
        directions = jnp.repeat(-rate * gradient, 2, axis=0)
        return attend(code.scores(directions), attention), directions

    return jax.vmap(one, in_axes=(axis, 0))(code, pairs)


@partial(jax.jit, static_argnames="setting")
def _judge_all(attention, pairs, setting):
    n, _, readout, *_ = setting

    def one(attention, pair):
        weights, on_pair = jnp.mean(attention, axis=0), _on_pair(pair, n)
        inside = jnp.min(jnp.where(on_pair, weights, jnp.inf))
        outside = jnp.max(jnp.where(on_pair, -jnp.inf, weights))
        alone = attention[:, pair] > 0.9
        split = jnp.all(jnp.any(alone, axis=0))
        error = worst_case(weights, on_pair, as_xor_readout(readout)).error
        risk = xor_risk(weights, on_pair) if readout == "square" else jnp.nan
        return inside > outside, error, risk, split

    return jax.vmap(one)(attention, pairs)


def sampled_weight_gradient(
    weights: Float[Array, " n"],
    pair,
    key,
    samples: int,
    *,
    readout: str = "square",
    loss: str = "squared",
    noise=0.0,
) -> Float[Array, " n"]:
    """∂risk/∂g from `samples` rows as streamed matrix products Xᵀr; one batch is held at a time."""
    n = weights.shape[0]
    size = min(BATCH, samples)
    pointwise, link = as_pointwise(loss), as_xor_readout(readout)
    slope = jax.vmap(jax.grad(lambda z, y: pointwise(y, link(z), 0.0)))

    def batch(total, index):
        bits_key, flip_key = jax.random.split(jax.random.fold_in(key, index))
        signs = draw_signs(bits_key, size, n, weights.dtype)
        flips = jnp.where(jax.random.uniform(flip_key, (size,), jnp.float32) < noise, -1, 1)
        labels = -signs[:, pair[0]] * signs[:, pair[1]] * flips
        forces = slope(signs @ weights, labels)
        kept = jnp.where(index * size + jnp.arange(size) < samples, forces, 0)
        return total + kept @ signs, None

    batches = jnp.arange(-(-samples // size))
    total, _ = jax.lax.scan(batch, jnp.zeros(n, weights.dtype), batches)
    return total / samples


def step_in_precision(kind: str, *, n: int, width: int, gain: float, seed: int) -> float:
    """Worst-case error of one step in float64, float32, bfloat16, or float32 with a softmax that
    does not subtract its maximum ("naive"); the hidden pair is positions 0 and 1."""
    dtype = {"naive": "float32"}.get(kind, kind)
    table = RandomSigns.draw(seed, n, width).table
    with float64():
        rate = jnp.asarray(gain * n * n / 2, dtype)
        weights = _weights_after_step(jnp.asarray(table, dtype), rate, naive=kind == "naive")
        on_pair = jnp.arange(n) < 2
        return float(worst_case(weights.astype("float64"), on_pair, as_xor_readout("square")).error)


@partial(jax.jit, static_argnames="naive")
def _weights_after_step(table, rate, *, naive: bool):
    on_pair = jnp.arange(table.shape[0]) < 2

    def weights(direction):
        scores = table @ direction
        if naive:
            terms = jnp.exp(scores)
            return terms / jnp.sum(terms)
        return attend(scores)

    zero = jnp.zeros(table.shape[1], table.dtype)
    # Two equal heads share the gradient of their common direction.
    gradient = jax.grad(lambda direction: xor_risk(weights(direction), on_pair))(zero) / 2
    return weights(-rate * gradient)
