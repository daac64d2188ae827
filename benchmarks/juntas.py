"""Juntas at any n: what a table of 2^k values costs beside a parity of the same size.

python benchmarks/juntas.py [--quick]
"""

import argparse
import time
from functools import partial

import numpy as np

from paritylab.models import HeadAttention, PiecewiseLinear
from paritylab.precision import float64
from paritylab.problem import Junta, Parity, random_junta, random_parity
from paritylab.risk import population_gradient, population_risk

REPEATS = 5


def seconds(call) -> float:
    """The quickest of a few calls after one that compiles."""
    call()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def attention_of(n: int, k: int) -> np.ndarray:
    model = HeadAttention.random(3, Parity(n, range(k)), tau=1 / n)
    return np.asarray(model.attention())


def beside_a_parity(sizes, ks) -> None:
    print("front door, squared hinge, piecewise linear readout; the quickest of 5 calls")
    header = ("n", "k", "parity", "junta", "ratio", "gradient", "ratio", "error")
    print("{:>8} {:>3} {:>10} {:>10} {:>6} {:>10} {:>6}  {}".format(*header))
    for n in sizes:
        for k in ks:
            attention = attention_of(n, k)
            corners = np.where(np.arange(k + 1) % 2 == 0, 1.0, -1.0)
            readout = PiecewiseLinear(tuple(range(k + 1)), tuple(corners))
            parity, junta = random_parity(1, n, k), random_junta(1, n, k)
            row = []
            for call in (population_risk, population_gradient):
                times = [
                    seconds(partial(call, attention, p, readout=readout)) for p in (parity, junta)
                ]
                row.append(times)
            (plain, table), (slope, table_slope) = row
            error = population_risk(attention, junta, readout=readout).error
            print(
                f"{n:>8} {k:>3} {plain:>9.3f}s {table:>9.3f}s {table / plain:>5.2f}x "
                f"{table_slope:>9.3f}s {table_slope / slope:>5.2f}x  {error:.0e}",
                flush=True,
            )


def agreement(sizes) -> None:
    """A parity written as a table against the parity itself."""
    print("\nthe parity as a table of 2^5 values: difference of risks beside both errors")
    for n in sizes:
        parity = random_parity(1, n, 5)
        table = Junta.from_parities(n, {parity.subset: 1.0})
        attention = attention_of(n, 5)
        one, two = (population_risk(attention, each, readout="zigzag") for each in (parity, table))
        print(f"{n:>8} {abs(one.value - two.value):.1e}  {one.error:.0e} {two.error:.0e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    quick = parser.parse_args().quick
    with float64():
        beside_a_parity((10_000,) if quick else (10_000, 1_000_000), (5,) if quick else (2, 5, 8))
        agreement((10_000,) if quick else (10_000, 1_000_000))


if __name__ == "__main__":
    main()
