"""One int8 step of the chain at k = n/2, beside a bare int8 product of the same shapes.

python benchmarks/wide_chain.py [--sizes 4096 16384] [--rows-per-bit 240]
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.chain.teacher import usual_step
from paritylab.learning.chain.wide import COLUMNS, ROWS, Wide, whole_product, wide_step
from paritylab.problem import random_tree


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1024])
    parser.add_argument("--rows-per-bit", type=int, default=240)
    parser.add_argument("--rows", type=int, default=ROWS)
    given = parser.parse_args()
    print(f"{jax.devices()[0].device_kind}, rows per batch {given.rows}")
    print("n       k       N            seconds  T/s     of bare  pairs    right    largest error")
    for n in given.sizes:
        k, samples = n // 2, given.rows_per_bit * n
        tree, shape = random_tree(0, n, k), Wide(n, k, COLUMNS, given.rows)
        work = 2 * samples * sum((n + end) * (end - start) for start, end in shape.blocks)
        jax.block_until_ready(wide_step(tree, 9, given.rows, rows=given.rows).products)
        clock = time.perf_counter()
        chain = wide_step(tree, 1, samples, rows=given.rows)
        jax.block_until_ready(chain.products)
        seconds = time.perf_counter() - clock
        bare = bare_rate(shape)
        right, largest = chain.accuracy(usual_step(n, k, samples=samples), 2)
        rate = work / seconds
        print(
            f"{n:<7} {k:<7} {samples:<12,} {seconds:<8.2f} {rate / 1e12:<7.1f} {rate / bare:<8.2f} "
            f"{chain.pairs_found():<8.5f} {right:<8.4f} {largest:.1e}",
            flush=True,
        )
        del chain


if __name__ == "__main__":
    main()
