"""Learning parity with noise: a hidden set of about half of n columns, labels mostly noise.

    python benchmarks/parity_with_noise.py --n 20 22 24 26 --noise 0.49
    python benchmarks/parity_with_noise.py --n 40 --noise 0.3 --rows 200000

The first line takes the Walsh transform, the second one step of reduction. Without --rows there are
as many rows as the largest of 2^n sums of noise calls for, and three standard deviations more; that
is what a transform of all 2^n parities needs, for up to 26 columns.
More columns need more rows, whose pairs are summed. One line for each n and noise.
"""

import argparse
import math
import resource
import sys
import time

import numpy as np

from paritylab.baselines import solve
from paritylab.baselines.walsh import MAX_WALSH_COLUMNS

HEAD = "n | noise | rows | seconds, of the processor | memory, GiB | deviations | method | secret"


def sufficient_rows(n: int, noise: float) -> int:
    """Rows at which the parity's sum beats the largest of 2^n sums of noise, and 3 deviations."""
    return math.ceil(((math.sqrt(2 * n * math.log(2)) + 3) / (1 - 2 * noise)) ** 2)


def measure(n: int, noise: float, rows: int, seed: int) -> str:
    """One line: time, memory and outcome of `solve` on rows with a random secret."""
    generator = np.random.default_rng([seed, n, rows])
    subset = np.flatnonzero(np.random.default_rng([seed, n]).integers(0, 2, n)).tolist() or [0]
    bits = generator.integers(0, 2, (rows, n), dtype=np.uint8)
    flips = generator.random(rows, dtype=np.float32) < noise
    labels = 1 - 2 * (np.bitwise_xor.reduce(bits[:, subset], axis=1) ^ flips).astype(np.int8)
    method = "walsh" if n <= MAX_WALSH_COLUMNS else "auto"
    start, used = time.perf_counter(), time.process_time()
    answer = solve(bits, labels, method=method, budget=3600)
    seconds, busy = time.perf_counter() - start, time.process_time() - used
    unit = 1 << (30 if sys.platform == "darwin" else 20)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    tall = (2 * answer.best.agreeing - rows) / math.sqrt(rows)
    right = "recovered" if answer.subset == tuple(subset) else "NOT recovered"
    return (
        f"{n} | {noise} | {rows:,} | {seconds:.2f}, {busy:.2f} | {peak:.2f}, table included | "
        f"{tall:.1f} | {answer.method} | {right}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--n", type=int, nargs="+", default=[22, 26])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.498])
    parser.add_argument("--rows", type=int, help="by default as many as n and noise call for")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(HEAD)
    for n in options.n:
        for noise in options.noise:
            rows = options.rows or sufficient_rows(n, noise)
            print(measure(n, noise, rows, options.seed), flush=True)


if __name__ == "__main__":
    main()
