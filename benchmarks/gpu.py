"""The laboratory on an accelerator: make bench-gpu, which runs wide_chain.py and solvers.py too.

python benchmarks/gpu.py [--only part-of-a-name] [--print]
"""

from cpu import million_positions, series_beside_a_pass
from harness import Race, main

from paritylab import Annealed, Population, learn, random_parities

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


def ten_million_positions() -> Race:
    return series_beside_a_pass(10_000_000)


RACES = [annealed_runs, million_positions, ten_million_positions]


if __name__ == "__main__":
    main(__doc__, RACES, "gpu", COMMAND)
