"""One teacher-forced step and one full-batch step, beside bare matrix products.

python benchmarks/chain.py [--n 1024] [--k 512] [--samples 400000]
"""

import argparse
import resource
import time

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.chain.judge import draw_tokens, pairs_found
from paritylab.learning.chain.published import ROWS, teacher_step
from paritylab.learning.chain.teacher import BATCH, teacher_gradient
from paritylab.models import ChainModel
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


def full_batch(n: int = 64, k: int = 32, rows: int = 100_000) -> None:
    """One step of teacher-full at the published size: rate and memory of two routes."""
    tree = random_tree(0, n, k)
    tokens = draw_tokens(jax.random.key(0), np.asarray(tree.leaves), n, rows)
    model = ChainModel.untrained(n, k, "quadratic", "level")
    model = model.with_parameters(np.zeros(model.scores.shape, np.float32))

    def automatic(model, tokens):
        def loss(scores):
            z = tokens @ model.with_parameters(scores).attention()
            return jnp.mean((model.link(z) - tokens[:, n:]) ** 2) / 2

        return jax.value_and_grad(loss)(model.scores)

    def bare(model, tokens):
        def block(total, part):
            return total + part.T @ (part @ model.scores + total[0, 0] * 1e-30), None

        parts = tokens.reshape(-1, ROWS, tokens.shape[1])
        return jax.lax.scan(block, jnp.zeros_like(model.scores), parts)[0]

    times, memory = {}, {}
    for name, call in (("closed form", teacher_step), ("autodiff", automatic), ("bare", bare)):
        compiled = jax.jit(call).lower(model, tokens).compile()
        memory[name] = compiled.memory_analysis().temp_size_in_bytes / 2**20
        times[name] = min(timed(lambda run=compiled: run(model, tokens)) for _ in range(10))
    print(f"step of teacher-full, n = {n}, k = {k}, N = {rows:,}")
    for name, seconds in times.items():
        share = times["bare"] / seconds
        print(
            f"{name:12} {1000 * seconds:8.2f} ms  {share:.2f} of bare  {memory[name]:8.1f} MiB temp"
        )


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
    scores = -teacher_gradient(tree, 1, given.samples, link=given.link)
    found = float(pairs_found(scores, np.asarray(tree.leaves)))
    bare = bare_product(tree.size, given.k - 1, given.samples)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"n = {given.n}, k = {given.k}, N = {given.samples:,}, {jax.devices()[0].device_kind}")
    print(
        f"one step      {step:8.2f} s  {flops / step / 1e9:8.1f} GFLOP/s  pairs found {found:.3f}"
    )
    print(f"bare product  {bare:8.2f} s  {flops / bare / 1e9:8.1f} GFLOP/s")
    print(f"share of the bare rate {bare / step:.2f}; peak resident memory {peak:.2f} GiB")
    full_batch()


if __name__ == "__main__":
    main()
