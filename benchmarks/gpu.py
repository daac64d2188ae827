"""The laboratory on an accelerator: make bench-gpu, which runs wide_chain.py and solvers.py too.

python benchmarks/gpu.py [--only part-of-a-name] [--print]
"""

import argparse

import jax
import jax.numpy as jnp
from cpu import attention_of
from harness import Race, machine, publish, run_all, table

from paritylab import LOSSES, Annealed, Population, learn, random_parities, random_parity
from paritylab.models import Zigzag
from paritylab.precision import float64
from paritylab.risk.routes.kinked import kinked_gradient
from paritylab.risk.routes.pieces import pieces_of
from paritylab.risk.routes.plan import kinked_plan
from paritylab.risk.routes.targets import target_of

COMMAND = "make bench-gpu"
K = 3


def annealed_runs() -> Race:
    """100,000 runs of annealed heads at n = 20."""
    data = Population(random_parities(20, K, 100_000))
    rate = str(learn(Annealed(), data).rate())
    return Race(
        "100,000 annealed runs, n = 20",
        lambda: learn(Annealed(), data).risk,
        error=f"solved {rate}",
    )


def series_beside_bandwidth(n: int) -> Race:
    """Value and gradient by the series beside one pass over the attention it reads."""
    problem, attention = random_parity(1, n, K), attention_of(n)
    weights, pieces = attention.sum(axis=0), pieces_of(Zigzag(K), LOSSES["squared_hinge"], K)
    with float64():
        plan, _ = kinked_plan(weights, problem, pieces, 1e-6)
        given = jax.device_put((weights, target_of(problem), pieces, plan))
        rows, total = jnp.asarray(attention), jax.jit(jnp.sum)

    def ours() -> jax.Array:
        with float64():
            return kinked_gradient(*given, fair=True)

    def floor() -> jax.Array:
        with float64():
            return total(rows)

    return Race(
        f"population gradient, n = {n:,}", ours, floor=("a pass over (3, n) doubles", floor)
    )


def million_positions() -> Race:
    return series_beside_bandwidth(1_000_000)


def ten_million_positions() -> Race:
    return series_beside_bandwidth(10_000_000)


RACES = [annealed_runs, million_positions, ten_million_positions]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="races whose name holds this")
    parser.add_argument("--print", action="store_true", help="print, write nothing")
    given = parser.parse_args()
    rows = run_all(RACES, given.only)
    if given.print or given.only:
        print(table(rows, machine(), COMMAND))
    else:
        publish(rows, "gpu", COMMAND)


if __name__ == "__main__":
    main()
