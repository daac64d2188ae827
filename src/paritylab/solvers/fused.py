"""A product of two lists of signs whose sums never leave the chip: only their largest does.

XLA writes a product to memory before it reduces it, four bytes for every subset. The kernel keeps a
block of sums in registers, takes the largest size under the staircase and writes that one number.
"""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

#: Sums held by one program, rows and columns, and rows of the table per step of its loop.
HIGH, BROAD, INNER = 128, 128, 128
#: Warps of a program, and steps that it loads ahead.
WARPS, STAGES = 8, 3


def largest_sum(left: Any, right: Any, inside: Any, interpret: bool = False) -> Any:
    """max |left·rightᵀ| over places (i, j) with j < inside[i], -1 if there are none, as int32.

    left: ±1 or 0 in int8, (a, N). right: (b, N). inside: int32, (a,). a, b and N are multiples of
    HIGH, BROAD and INNER. interpret: run the kernel as plain operations, for tests.
    """
    (rows, inner), columns = left.shape, right.shape[0]
    if rows % HIGH or columns % BROAD or inner % INNER:
        raise ValueError(
            f"a tile must be multiples of {HIGH}, {BROAD}, {INNER}; got {rows}, {columns}, {inner}"
        )
    grid = (columns // BROAD, rows // HIGH)
    made = pl.pallas_call(
        _kernel,
        grid=grid,
        in_specs=[
            pl.BlockSpec((HIGH, inner), lambda j, i: (i, 0)),
            pl.BlockSpec((BROAD, inner), lambda j, i: (j, 0)),
            pl.BlockSpec((HIGH,), lambda j, i: (i,)),
        ],
        out_specs=pl.BlockSpec((1, 1), lambda j, i: (j, i)),
        out_shape=jax.ShapeDtypeStruct(grid, jnp.int32),  # type: ignore[no-untyped-call]
        interpret=interpret,
        **({} if interpret else {"compiler_params": _parameters()}),
    )(left, right, inside)
    return jnp.max(made)


def _kernel(left: Any, right: Any, inside: Any, out: Any) -> None:
    first = pl.program_id(0) * BROAD
    limits = inside[:] - first
    out[0, 0] = jnp.int32(-1)

    @pl.when(jnp.max(limits) > 0)
    def _compute() -> None:
        def step(at: Any, sums: Any) -> Any:
            part = pl.ds(at * INNER, INNER)
            return sums + jax.lax.dot_general(
                left[:, part],
                right[:, part],
                (((1,), (1,)), ((), ())),
                preferred_element_type=jnp.int32,
            )

        zeros = jnp.zeros((HIGH, BROAD), jnp.int32)
        sums = jax.lax.fori_loop(0, left.shape[1] // INNER, step, zeros)
        places = jax.lax.broadcasted_iota(jnp.int32, (HIGH, BROAD), 1)
        out[0, 0] = jnp.max(jnp.where(places < limits[:, None], jnp.abs(sums), -1))


def _parameters() -> Any:
    from jax.experimental.pallas import triton

    return triton.CompilerParams(num_warps=WARPS, num_stages=STAGES)


@lru_cache(maxsize=1)
def works() -> bool:
    """Whether the kernel compiles here and gives what a plain product gives."""
    if jax.default_backend() != "gpu":
        return False
    generator = np.random.default_rng(0)
    left, right = (
        jnp.asarray(generator.choice([-1, 1], (size, 2 * INNER)).astype(np.int8))
        for size in (2 * HIGH, 2 * BROAD)
    )
    inside = np.sort(generator.integers(0, 2 * BROAD, 2 * HIGH))[::-1].astype(np.int32)
    try:
        found = int(jax.jit(largest_sum)(left, right, jnp.asarray(inside)))
    except Exception:  # whatever a compiler may raise: the plain route needs none of it
        return False
    return found == plain_largest(left, right, inside)


def plain_largest(left: Any, right: Any, inside: Any) -> int:
    """`largest_sum` by numpy: float32 is exact up to 2^24 rows."""
    sums = np.abs(np.asarray(left, np.float32) @ np.asarray(right, np.float32).T)
    within = np.arange(sums.shape[1])[None, :] < np.asarray(inside)[:, None]
    return int(np.where(within, sums, -1).max())
