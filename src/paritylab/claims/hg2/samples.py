"""Finite data: rows the first step needs to find the pair, and to be right on every input."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from paritylab.claims import HG2, Line, Lines, Trial, at_least, claim
from paritylab.claims.hg2.two_heads import sign_positions
from paritylab.learning.xor.exact import SOLVED_ERROR, default_gain, usual_width, worst_case
from paritylab.models import Bowl, attend
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs
from paritylab.statistics import Rate, half_point
from paritylab.theory.hg2 import rows_to_be_right, rows_to_rank

#: Rows added to a stream at a time.
ROWS = 64


class SampleCurve(NamedTuple):
    """What the first step gives after N rows, for a grid of N; flags are (grid, runs).

    samples: the grid. onehot, signs: the pair is on top, with one-hot and with balanced random sign
    positions. signs_solved: ½(ŷ-y)² ≤ 0.01 on every input, with sign positions.
    """

    samples: np.ndarray
    onehot: np.ndarray
    signs: np.ndarray
    signs_solved: np.ndarray


def sample_curve(
    n: int,
    width: int,
    samples: Any,
    *,
    runs: int,
    loss: str = "squared",
    noise: float = 0.0,
    seed: int = 0,
) -> SampleCurve:
    """The first softmax step at gain 2 ln n + 6, from growing prefixes of one stream per run.

    At w = 0 the gradient of score l is ∝ Σ_rows r·x_l - mean, with r = (ŷ - y)·(-4z) for
    ½(ŷ-y)² and 4yz for the correlation. Random positions see it through PPᵀ.
    """
    if loss not in ("squared", "correlation"):
        raise ValueError(f"loss must be squared or correlation, got {loss!r}")
    grid = np.unique(np.maximum(1, np.round(np.asarray(samples) / ROWS)).astype(int))
    keys, tables = jax.random.split(as_key(seed), runs), _tables(n, width, runs, seed)
    totals, done, found = jnp.zeros((runs, n), jnp.float32), 0, []
    for blocks in grid:
        totals = _add_rows(totals, keys, done, int(blocks), noise, loss == "squared")
        done = int(blocks)
        # The exact signal, 4/n, becomes a score of one gain.
        force = totals * (-default_gain(n) * n / 4 / (done * ROWS))
        found.append([np.asarray(flags) for flags in _judged(force, tables)])
    return SampleCurve(grid * ROWS, *(np.stack(flags) for flags in zip(*found, strict=True)))


@partial(jax.jit, static_argnames="squared")
def _add_rows(
    totals: Array, keys: Array, first: Any, last: Any, noise: Any, squared: bool
) -> Array:
    """Add blocks first … last - 1 to every run's sum of r·x; the pair is positions 0 and 1."""
    n = totals.shape[1]

    def block(total: Array, key: Array, index: Array) -> Array:
        bits_key, flip_key = jax.random.split(jax.random.fold_in(key, index))
        signs = draw_signs(bits_key, ROWS, n)
        flips = jnp.where(jax.random.uniform(flip_key, (ROWS,), jnp.float32) < noise, -1, 1)
        labels, z = -signs[:, 0] * signs[:, 1] * flips, jnp.mean(signs, axis=1)
        forces = 4 * z * labels - (4 * z * (1 - 2 * z**2) if squared else 0)
        return total + forces @ signs

    def step(index: Array, totals: Array) -> Array:
        return jax.vmap(block, in_axes=(0, 0, None))(totals, keys, index)

    return jax.lax.fori_loop(first, last, step, totals)


@jax.jit
def _judged(forces: Array, tables: Array) -> tuple[Array, ...]:
    """Whether positions 0 and 1 score highest and whether the step is right, for both codes."""

    def one(force: Array, table: Array) -> tuple[Array, ...]:
        seen = table @ (force @ table)
        return _on_top(force), _on_top(seen), _is_right(seen)

    return jax.vmap(one)(forces, tables)


def _tables(n: int, width: int, runs: int, seed: int) -> np.ndarray:
    """Balanced positions of every run."""
    generators = (np.random.default_rng([seed, n, width, run]) for run in range(runs))
    return np.stack([sign_positions(each, n, width) for each in generators]).astype(np.float32)


def _on_top(scores: Array) -> Array:
    return jnp.min(scores[:2]) > jnp.max(scores[2:])


def _is_right(scores: Array) -> Array:
    on_pair = jnp.arange(len(scores)) < 2
    return jnp.asarray(worst_case(attend(scores), on_pair, Bowl()).error) <= SOLVED_ERROR


#: Rows tried at most, in units of n².
MOST = 160


@claim(
    "hg2-samples",
    HG2("Abstract"),
    quick={"sizes": (16, 32)},
    full={"runs": 200},
    more="runs",
    planted=("labels that are fair coins", {"sizes": (16,), "runs": 24, "noise": 0.5}, "refuted"),
)
def samples_claim(
    trial: Trial, sizes: Sequence[int] = (16, 32, 64), runs: int = 48, *, noise: float = 0.0
) -> Iterator[Any]:
    """Polynomially many samples, 160n², suffice for the first step.

    The step learns from finite data, with a bound on the samples. In our reconstruction
    (docs/hg2.md): with 160n² rows more than half of the first steps find the pair and are right on
    every input, ½(ŷ-y)² ≤ 0.01, at every n tried. Squared loss, balanced positions of 12 ln n
    signs, gain 2 ln n + 6.
    """
    curves: list[SampleCurve] = []
    for n in trial.track(sizes):
        grid = np.geomspace(64, MOST * n * n, 14)
        curve = sample_curve(n, usual_width(n), grid, runs=runs, noise=noise, seed=trial.seed)
        cell = f"with {MOST}n² rows, n = {n}"
        yield at_least(f"steps that find the pair {cell}", Rate.of(curve.signs[-1]), 0.5)
        right = Rate.of(curve.signs_solved[-1])
        yield at_least(f"steps right on every input {cell}", right, 0.5)
        curves.append(curve)

    def half(name: str) -> list[float]:
        """Rows with which half of the runs succeed, by n; NaN if outside the grid."""
        return [half_point(curve.samples, getattr(curve, name)) for curve in curves]

    derived = [rows_to_be_right(n, usual_width(n), default_gain(n), SOLVED_ERROR) for n in sizes]
    lines = [
        Line("random positions: right on every input", sizes, half("signs_solved")),
        Line("derived, of order n²·ln n", sizes, derived, style="--"),
        Line("random positions: pair found", sizes, half("signs")),
        Line("one-hot: pair found", sizes, half("onehot")),
        Line("one-hot: derived, n·ln n", sizes, [rows_to_rank(n) for n in sizes], style="--"),
    ]
    yield Lines(lines, x="n", y="rows with which half of the runs succeed", log="xy")
