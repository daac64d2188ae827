"""The laboratory on an accelerator: make bench-gpu, which runs wide.py too.

python benchmarks/gpu.py [--only part-of-a-name] [--print]
"""

from functools import partial

from cpu import K, series_and_a_pass
from harness import Race, main

from paritylab import Heads, Population, learn, random_parities


def annealed_runs() -> Race:
    """100,000 runs of annealed heads at n = 20."""
    data = Population(random_parities(20, K, 100_000))
    rate = str(learn(Heads.annealed(), data).rate())
    return Race(lambda: learn(Heads.annealed(), data).risk, error=f"solved {rate}")


RACES = {
    "100,000 annealed runs, n = 20": annealed_runs,
    "population gradient, n = 1,000,000": partial(series_and_a_pass, 1_000_000),
    "population gradient, n = 10,000,000": partial(series_and_a_pass, 10_000_000),
}


if __name__ == "__main__":
    main(__doc__, RACES, "gpu", "make bench-gpu")
