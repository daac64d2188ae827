"""Two loci that decide a label together, without an effect of their own: who finds them?

    python benchmarks/epistasis.py [--tables 20] [--loci 20] [--rows 400] [--null 200]

Random penetrance tables without marginal effects of the heritability asked for, half of the rows
cases. Beside `discover`: the χ² test of all pairs on nine cells at the same level after the same
correction, and `discover` with the median cut of numbers. The last line counts false alarms where
labels are drawn by a coin.
"""

import argparse
import itertools
import math
import time

import numpy as np
from scipy.stats import chi2_contingency

from xorfind import discover
from xorfind.statistics import Rate

ALPHA, BUDGET = 0.01, 1.0
HERITABILITY, FREQUENCY = (0.1, 0.2, 0.3, 0.4), (0.2, 0.4)


def penetrance(generator: np.random.Generator, heritability: float, maf: float) -> np.ndarray:
    """P(case | two genotypes), (3, 3): no effect of either locus alone."""
    weights = np.array([(1 - maf) ** 2, 2 * maf * (1 - maf), maf**2])
    both = np.outer(weights, weights)
    while True:
        effect = generator.normal(size=(3, 3))
        effect -= (effect @ weights)[:, None]
        effect -= weights @ effect
        prevalence = generator.uniform(0.1, 0.5)
        variance = heritability * prevalence * (1 - prevalence)
        table = prevalence + effect * math.sqrt(variance / (both * effect**2).sum())
        if table.min() >= 0 and table.max() <= 1:
            return table


def drawn(
    generator: np.random.Generator, table: np.ndarray, maf: float, loci: int, rows: int
) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Genotypes (rows, loci), labels, and the two loci; half of the rows are cases."""
    pair = tuple(sorted(generator.choice(loci, 2, replace=False).tolist()))
    kept: list[list[np.ndarray]] = [[], []]
    while min(map(len, kept)) < rows // 2:
        genes = generator.binomial(2, maf, loci).astype(np.uint8)
        kept[int(generator.random() < table[genes[pair[0]], genes[pair[1]]])].append(genes)
    genes = np.array([*kept[0][: rows // 2], *kept[1][: rows // 2]])
    labels = np.repeat([0, 1], rows // 2)
    order = generator.permutation(len(labels))
    return genes[order], labels[order], (pair[0], pair[1])


def all_pairs(genes: np.ndarray, labels: np.ndarray) -> tuple[int, int] | None:
    """The pair with the least p-value of plain χ², if it reaches the level after Bonferroni."""
    best, least = None, ALPHA / math.comb(genes.shape[1], 2)
    for pair in itertools.combinations(range(genes.shape[1]), 2):
        cells = genes[:, pair[0]] * 3 + genes[:, pair[1]]
        counts = np.array([np.bincount(cells[labels == side], minlength=9) for side in (0, 1)])
        p_value = chi2_contingency(counts[:, counts.sum(axis=0) > 0], correction=False).pvalue
        if p_value <= least:
            best, least = pair, p_value
    return best


def by_discover(genes: np.ndarray, labels: np.ndarray, **options: object) -> tuple[str, ...]:
    """Columns that `discover` names: of a parity, or of a pair."""
    table = {f"g{at}": column for at, column in enumerate(genes.T)} | {"y": labels}
    rule = discover(table, "y", alpha=ALPHA, budget=BUDGET, **options)  # type: ignore[call-overload]
    pair = rule.pair.get("pair")
    named = {term.column for term in rule.terms}
    return tuple(pair["columns"]) if pair else tuple(sorted(named))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("tables", 20), ("loci", 20), ("rows", 400), ("null", 200), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args()
    print("heritability, frequency | discover | all pairs χ² | discover, median cut | seconds each")
    for heritability, maf in itertools.product(HERITABILITY, FREQUENCY):
        found, seconds = np.zeros(3, int), 0.0
        for seed in range(asked.tables):
            generator = np.random.default_rng([asked.seed, seed, int(100 * maf)])
            table = penetrance(generator, heritability, maf)
            genes, labels, pair = drawn(generator, table, maf, asked.loci, asked.rows)
            names, start = tuple(sorted(f"g{at}" for at in pair)), time.perf_counter()
            found[0] += tuple(sorted(by_discover(genes, labels))) == names
            seconds += time.perf_counter() - start
            found[1] += all_pairs(genes, labels) == pair
            found[2] += by_discover(genes, labels, threshold=float(np.median(genes))) == names
        told = " | ".join(str(Rate(int(each), asked.tables)) for each in found)
        print(f"{heritability}, {maf} | {told} | {seconds / asked.tables:.2f}", flush=True)
    alarms, generator = 0, np.random.default_rng([asked.seed, 7])
    for _ in range(asked.null):
        maf = generator.choice(FREQUENCY)
        genes = generator.binomial(2, maf, (asked.rows, asked.loci)).astype(np.uint8)
        alarms += bool(by_discover(genes, generator.integers(0, 2, asked.rows)))
    print(f"labels by a coin: {Rate(alarms, asked.null)} false alarms at level {ALPHA}")


if __name__ == "__main__":
    main()
