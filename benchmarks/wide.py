"""Wide chains at k = n/2 on int8 products, with a visible chain and with a hidden one.

    python benchmarks/wide.py [--sizes 4096 16384] [--rows-per-bit 240]
    python benchmarks/wide.py --hidden [--sizes 1024 65536] [--factor 1.3]

Visible: one step, compared with a bare int8 product of the same shapes on random signs. Hidden: a
step per level and one forward pass at the end; the number of rows N is the factor times the
predicted number at which half of the targets are solved.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.chain.step_sizes import usual_step
from paritylab.learning.chain.wide import (
    COLUMNS,
    ROWS,
    Wide,
    whole_product,
    wide_layers,
    wide_step,
)
from paritylab.problem import random_tree
from paritylab.theory.layers import level_tokens, rows_for_hidden_chain

HEAD = "n       k       N            seconds  T/s     of bare  pairs    right    largest error"


def bare_rate(shape: Wide, repeats: int = 20) -> float:
    """Multiply-adds ×2 per second of XᵀR alone on random ±1, the largest block of the step."""
    start, end = shape.blocks[-1] if len(shape.blocks) == 1 else shape.blocks[-2]
    generator = np.random.default_rng(0)
    x = jnp.asarray(generator.choice(np.array([-1, 1], np.int8), (shape.n + end, shape.rows)))
    r = jnp.asarray(generator.integers(-127, 128, (end - start, shape.rows), dtype=np.int8))
    run = jax.jit(lambda total, x, r: total + whole_product(x, r), donate_argnums=0)
    total = run(jnp.zeros((x.shape[0], r.shape[0]), jnp.int32), x, r).block_until_ready()
    clock = time.perf_counter()
    for _ in range(repeats):
        total = run(total, x, r)
    total.block_until_ready()
    return repeats * 2 * x.shape[0] * r.shape[0] * shape.rows / (time.perf_counter() - clock)


def visible(n: int, samples: int, rows: int) -> str:
    """One step with the whole chain in sight, as a line of the table."""
    k = n // 2
    tree, shape = random_tree(0, n, k), Wide(n, k, COLUMNS, rows)
    work = 2 * samples * sum((n + end) * (end - start) for start, end in shape.blocks)
    jax.block_until_ready(wide_step(tree, 9, rows, rows=rows).products)
    clock = time.perf_counter()
    chain = wide_step(tree, 1, samples, rows=rows)
    jax.block_until_ready(chain.products)
    seconds = time.perf_counter() - clock
    bare = f"{work / seconds / bare_rate(shape):.2f}"
    right, largest = chain.accuracy(usual_step(n, k, samples=samples), 2)
    return line(n, samples, seconds, work, bare, chain.pairs_found(), right, largest)


def hidden(n: int, samples: int, rows: int) -> str:
    """A step per level and one forward pass, as a line of the table."""
    k, tree = n // 2, random_tree(0, n, n // 2)
    seen = level_tokens(n, k)
    work = 2 * samples * sum(m * (k >> level) for level, m in enumerate(seen, start=1))
    jax.block_until_ready(wide_layers(tree, 9, rows, rows=rows).products)
    clock = time.perf_counter()
    made = wide_layers(tree, 1, samples, rows=rows)
    jax.block_until_ready(made.products)
    seconds, judged = time.perf_counter() - clock, made.forward(2)
    found = made.pairs_found()
    return line(n, samples, seconds, work, "", found, judged.right, judged.largest_error)


def line(n, samples, seconds, work, bare, pairs, right, largest) -> str:
    return (
        f"{n:<7} {n // 2:<7} {samples:<12,} {seconds:<8.2f} {work / seconds / 1e12:<7.1f} "
        f"{bare:<8} {pairs:<8.5f} {right:<8.4f} {largest:.1e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1024])
    parser.add_argument("--hidden", action="store_true")
    parser.add_argument("--rows-per-bit", type=int, default=240)
    parser.add_argument("--factor", type=float, default=1.3)
    parser.add_argument("--rows", type=int, default=ROWS, help="rows per batch")
    given = parser.parse_args()
    print(f"{jax.devices()[0].device_kind}, rows per batch {given.rows}\n{HEAD}")
    for n in given.sizes:
        if given.hidden:
            samples = int(given.factor * rows_for_hidden_chain(n, n // 2))
            print(hidden(n, samples, given.rows), flush=True)
        else:
            print(visible(n, given.rows_per_bit * n, given.rows), flush=True)


if __name__ == "__main__":
    main()
