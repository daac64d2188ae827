"""One teacher-forced step as a streamed matrix product, beside a bare product of the same shape.

python benchmarks/chain.py [--n 1024] [--k 512] [--samples 400000]
"""

import argparse
import resource
import time

import jax
import jax.numpy as jnp

from paritylab.learning.chain import BATCH, pairs_found, teacher_gradient
from paritylab.problem import random_tree


def bare_product(tokens: int, nodes: int, samples: int) -> float:
    """Seconds of XᵀR alone over the same batches, X and R already in memory."""
    x = jnp.ones((BATCH, tokens), jnp.float32)
    r = jnp.ones((BATCH, nodes), jnp.float32)

    @jax.jit
    def run(x, r):
        def add(_, total):
            return total + jnp.matmul(x.T, r + total[0, 0] * 1e-30)

        return jax.lax.fori_loop(0, -(-samples // BATCH), add, jnp.zeros((tokens, nodes)))

    return timed(lambda: run(x, r))


def timed(call) -> float:
    jax.block_until_ready(call())
    start = time.perf_counter()
    jax.block_until_ready(call())
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1024)
    parser.add_argument("--k", type=int, default=512)
    parser.add_argument("--samples", type=int, default=400_000)
    parser.add_argument("--link", default="cos")
    given = parser.parse_args()
    tree = random_tree(0, given.n, given.k)
    flops = 2 * given.samples * tree.size * (given.k - 1)
    step = timed(lambda: teacher_gradient(tree, 1, given.samples, link=given.link))
    found = pairs_found(-teacher_gradient(tree, 1, given.samples, link=given.link), tree)
    bare = bare_product(tree.size, given.k - 1, given.samples)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"n = {given.n}, k = {given.k}, N = {given.samples:,}, {jax.devices()[0].device_kind}")
    print(
        f"one step      {step:8.2f} s  {flops / step / 1e9:8.1f} GFLOP/s  pairs found {found:.3f}"
    )
    print(f"bare product  {bare:8.2f} s  {flops / bare / 1e9:8.1f} GFLOP/s")
    print(f"share of the bare rate {bare / step:.2f}; peak resident memory {peak:.2f} GiB")


if __name__ == "__main__":
    main()
