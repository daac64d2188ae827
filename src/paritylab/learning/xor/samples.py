"""How many samples the first XOR step needs: one stream, every code and loss read off along it."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from paritylab.problem.sampling import as_key, draw_signs

#: Rows added to a stream at a time.
ROWS = 64


class SampleCurve(NamedTuple):
    """Whether the pair came out on top after N rows, for a grid of N.

    samples: the grid. onehot, signs: flags (grid, runs) for one-hot and for random sign positions.
    """

    samples: np.ndarray
    onehot: np.ndarray
    signs: np.ndarray


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
    """Rank the positions by the first gradient, from growing prefixes of one stream per run.

    At w = 0 the gradient of score l is ∝ Σ_rows r·x_l - mean, with r = (ŷ - y)·(-4z) for
    ½(ŷ-y)² and 4yz for the correlation. Random positions see it through PPᵀ.
    """
    if loss not in ("squared", "correlation"):
        raise ValueError(f"loss must be squared or correlation, got {loss!r}")
    grid = np.unique(np.maximum(1, np.round(np.asarray(samples) / ROWS)).astype(int))
    keys = jax.random.split(as_key(seed), runs)
    totals, done, onehot, signs = jnp.zeros((runs, n), jnp.float32), 0, [], []
    for blocks in grid:
        totals = _add_rows(totals, keys, done, int(blocks), noise, loss == "squared")
        done = int(blocks)
        flat, seen = _ranked(totals, keys, width)
        onehot.append(np.asarray(flat))
        signs.append(np.asarray(seen))
    return SampleCurve(grid * ROWS, np.stack(onehot), np.stack(signs))


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


@partial(jax.jit, static_argnames="width")
def _ranked(totals: Array, keys: Array, width: int) -> tuple[Array, Array]:
    """Whether positions 0 and 1 score highest; totals are gradients, so scores are minus them."""

    def one(total: Array, key: Array) -> tuple[Array, Array]:
        force = -total + jnp.mean(total)
        table = draw_signs(jax.random.fold_in(key, 2**31), total.shape[0], width)
        return _on_top(force), _on_top(table @ (force @ table))

    return jax.vmap(one)(totals, keys)


def _on_top(scores: Array) -> Array:
    return jnp.min(scores[:2]) > jnp.max(scores[2:])
