"""A hidden chain at k = n/2: one int8 product per level, one forward pass, every fresh input.

python benchmarks/layers.py [--sizes 1024 4096 16384 65536] [--factor 1.3] [--device gpu]

N is the factor times the predicted number of rows at which half of the targets are solved.
"""

import argparse
import sys
import time

import jax

from paritylab.learning.chain.wide import ROWS, WideLayers, wide_layers
from paritylab.problem import random_tree
from paritylab.theory.layers import level_tokens, rows_for_hidden_chain

HEAD = (
    "n       k       layers  N            N/n   predicted  seconds  T/s     pairs    "
    "inputs  right    hidden right  largest error"
)


def row(n: int, factor: float, rows: int, seed: int) -> str:
    """One size, as a line of the table."""
    k = n // 2
    half = rows_for_hidden_chain(n, k)
    samples, tree = int(factor * half), random_tree(seed, n, k)
    jax.block_until_ready(wide_layers(tree, 9, rows, rows=rows).products)
    clock = time.perf_counter()
    made: WideLayers = wide_layers(tree, 1, samples, rows=rows)
    jax.block_until_ready(made.products)
    seconds = time.perf_counter() - clock
    seen = level_tokens(n, k, "prev")
    work = 2 * samples * sum(m * (k >> level) for level, m in enumerate(seen, start=1))
    pairs, judged = made.pairs_found(), made.forward(2)
    return (
        f"{n:<7} {k:<7} {len(seen):<7} {samples:<12,} {samples / n:<5.0f} {half / n:<10.0f} "
        f"{seconds:<8.2f} {work / seconds / 1e12:<7.2f} {pairs:<8.5f} {judged.inputs:<7,} "
        f"{judged.right:<8.4f} {judged.hidden_right:<13.6f} {judged.largest_error:.1e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 1024])
    parser.add_argument("--factor", type=float, default=1.3)
    parser.add_argument("--rows", type=int, default=ROWS, help="rows per batch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=("cpu", "gpu"), help="the default one if absent")
    given = parser.parse_args()
    device = jax.devices(given.device)[0] if given.device else jax.devices()[0]
    lines = []
    with jax.default_device(device):
        for n in given.sizes:
            start = time.perf_counter()
            lines.append(row(n, given.factor, given.rows, given.seed))
            print(f"n = {n}: {time.perf_counter() - start:.1f} s in all", file=sys.stderr)
    print(f"{device.device_kind}, rows per batch {given.rows}")
    print("\n".join([HEAD, *lines]))


if __name__ == "__main__":
    main()
