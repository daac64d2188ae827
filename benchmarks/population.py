"""The exact engine beside enumeration, beside a plain pass over memory, and in bulk.

Run: python benchmarks/population.py [--quick]. Every ratio comes from this one run.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

from paritylab import LOSSES, HeadAttention, Parity, population_gradient, random_parity
from paritylab.models import WeightedReadout, Zigzag
from paritylab.precision import float64
from paritylab.risk.enumerated import enumerated_gradient
from paritylab.risk.routes.half_sums import half_sum_mean, half_sum_value_and_gradient
from paritylab.risk.routes.kinked import kinked_gradient
from paritylab.risk.routes.pieces import pieces_of
from paritylab.risk.routes.plan import kinked_plan
from paritylab.risk.routes.targets import target_of

K = 3


def seconds(function, least: float = 0.4) -> float:
    """Best of three timed loops, each at least `least`/3 seconds long; the first call is free."""
    jax.block_until_ready(function())
    start = time.perf_counter()
    jax.block_until_ready(function())
    once = max(time.perf_counter() - start, 1e-6)
    count = max(1, int(least / 3 / once))
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(count):
            result = function()
        jax.block_until_ready(result)
        best = min(best, (time.perf_counter() - start) / count)
    return best


def attention_of(n: int, seed: int = 3) -> np.ndarray:
    model = HeadAttention.random(seed, Parity(n, range(K)), tau=1 / n)
    return np.asarray(model.attention())


def against_enumeration(sizes) -> None:
    print("value and gradient, squared hinge, k = 3, tau = 1/n; both exact to rounding")
    header = ("n", "enumeration", "half-sums", "ratio", "front door", "difference")
    print("{:>4} {:>12} {:>12} {:>8} {:>12}  {}".format(*header))
    pieces = pieces_of(Zigzag(K), LOSSES["squared_hinge"], K)
    crossover = None
    for n in sizes:
        problem, attention = random_parity(1, n, K), attention_of(n)
        weights = attention.sum(axis=0)
        model = WeightedReadout(weights, Zigzag(K))
        arguments = jax.device_put((weights, target_of(problem), pieces))
        slow = seconds(lambda m=model, p=problem: enumerated_gradient(m, p).gradient)
        fast = seconds(lambda a=arguments: half_sum_value_and_gradient(*a))
        door = seconds(lambda a=attention, p=problem: population_gradient(a, p).gradient)
        gap = abs(
            enumerated_gradient(model, problem).risk.value
            - float(half_sum_value_and_gradient(*arguments)[0])
        )
        if fast < slow and crossover is None:
            crossover = n
        print(
            f"{n:>4} {slow * 1e3:>10.2f}ms {fast * 1e3:>10.3f}ms {slow / fast:>7.0f}x "
            f"{door * 1e3:>10.2f}ms  {gap:.0e}"
        )
    print(f"half-sums are faster from n = {crossover} (smallest size tried: {sizes[0]})\n")


def growth(sizes) -> None:
    print("value and gradient by the series, k = 3, tau = 1/n; plain pass: sum of a (3, n) array")
    print(f"{'n':>8} {'compiled':>11} {'front door':>11} {'plain pass':>11} {'ratio':>7}  error")
    logs, total = [], jax.jit(jnp.sum)
    for n in sizes:
        problem, attention = random_parity(1, n, K), attention_of(n)
        weights = attention.sum(axis=0)
        pieces = pieces_of(Zigzag(K), LOSSES["squared_hinge"], K)
        plan, _ = kinked_plan(weights, problem, pieces, 1e-6)
        arguments = jax.device_put((weights, target_of(problem), pieces, plan))
        inner = seconds(lambda a=arguments: kinked_gradient(*a, fair=True))
        door = seconds(lambda a=attention, p=problem: population_gradient(a, p).gradient)
        rows = jnp.asarray(attention)
        plain = seconds(lambda r=rows: total(r))
        risk = population_gradient(attention, problem).risk
        logs.append((np.log(n), np.log(door)))
        print(
            f"{n:>8} {inner * 1e3:>9.2f}ms {door * 1e3:>9.2f}ms {plain * 1e3:>9.3f}ms "
            f"{inner / plain:>6.1f}x  {risk.error:.0e}"
        )
    x, y = np.array(logs[1:]).T
    print(f"front door grows like n^{np.polyfit(x, y, 1)[0]:.2f} from n = {sizes[1]}\n")


def in_bulk(count: int, n: int) -> None:
    generator = np.random.default_rng(0)
    weights = generator.dirichlet(np.ones(n), count) * K
    problem = random_parity(1, n, K)
    pieces = pieces_of(Zigzag(K), LOSSES["squared_hinge"], K)
    constants = (target_of(problem), pieces)
    one = jax.value_and_grad(half_sum_mean)
    many = jax.jit(lambda w: jax.lax.map(lambda g: one(g, *constants), w, batch_size=8))
    batch = jnp.asarray(weights)
    bulk = seconds(lambda: many(batch))
    single = seconds(lambda: half_sum_value_and_gradient(batch[0], *constants))
    print(f"{count} attention matrices at once, n = {n}: {bulk * 1e3:.0f} ms")
    print(f"{bulk / count * 1e3:.3f} ms each, {single / (bulk / count):.1f}x the single rate")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    quick = parser.parse_args().quick
    with float64():
        against_enumeration((4, 8, 12, 16, 20) if quick else (4, 6, 8, 12, 16, 20, 24))
        growth((1000, 10_000, 100_000) if quick else (1000, 10_000, 100_000, 1_000_000))
        in_bulk(100 if quick else 1000, 20)


if __name__ == "__main__":
    main()
