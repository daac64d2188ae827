"""Lemmas 8, 9 and 10: parities and samples average out."""

from collections.abc import Iterator, Sequence
from math import comb
from typing import Any

import numpy as np

from paritylab.claims import KS, Histogram, Line, Lines, Mark, Trial, claim
from paritylab.claims.engine.rule import at_most, instead, note, repair
from paritylab.learning.chain.chain_accuracy import prefix_means
from paritylab.learning.hardness.oracles import mean_label, mean_label_square, mean_label_tail
from paritylab.problem import random_tree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import fold_keys, seed_of
from paritylab.problem.walsh import largest_means
from paritylab.statistics import Rate
from paritylab.theory.ks import lemma9_kappa, lemma10_bounds

#: Shares of bits in the hidden set at which Lemma 8 is tried, in quarters, besides all of them.
QUARTERS = {1: "k = n/4", 2: "k = n/2", 3: "k = 3n/4"}
#: The p at which Lemma 9 is tried.
FAILURES = (0.5, 0.2, 0.1)
#: Unlabelled strings of Lemma 10, and its p.
STRINGS, FAILURE = 256, 0.03


@claim(
    "ks-lemma8",
    KS("Lemma 8"),
    certificate="ks-lemma8",
    quick={"sizes": (16, 32, 64)},
    full={"sizes": (16, 32, 64, 128, 256)},
    evidence="exact",
    planted=("a threshold of e^(-2n), which nearly every input exceeds", {"power": 2.0}, "refuted"),
)
def lemma8(
    trial: Trial, sizes: Sequence[int] = (16, 32, 64, 128), *, power: float = 1 / 8
) -> Iterator[Any]:
    """A random parity averages out at almost every input, k = n/4 to n, n = 16 to 128.

    If k = Θ(n), |E_p p(x)| ≤ e^(-Ω(n)) with probability 1 - e^(-Ω(n)) over x. Here e^(-n/8) is
    asked, and P(|E_p p(x)| > e^(-n/8)) must fall exponentially in n; at k = n there is one target.
    """
    tails = {
        name: [mean_label_tail(n, n * part // 4, np.exp(-power * n)) for n in sizes]
        for part, name in QUARTERS.items()
    }
    for n in sizes:
        least = float(np.abs(mean_label(n, n)).min())
        yield at_most(f"smallest |E_p p(x)| over x at n = k = {n}", least, np.exp(-n / 8))
    logs = [np.log(np.maximum(each, 1e-300)) for each in tails.values()]
    slope = float(max(np.polyfit(sizes, each, 1)[0] for each in logs))
    tail = "exponent per bit of the slowest tail, k = n/4, n/2, 3n/4"
    yield repair(at_most(tail, slope, 0))
    gap = max(abs(mean_label_square(n, n // 2) * comb(n, n // 2) - 1) for n in sizes)
    yield note("mean square over 1/C(n,n/2), distance from 1", gap)
    yield instead(
        f"k and n - k of order n: at k = n/4, n/2 and 3n/4 P(|E_p p(x)| > e^(-n/8)) falls like "
        f"e^({slope:.2f}n) or faster. The root mean square is 1/√C(n,k)."
    )
    yield Lines(
        [Line(name, sizes, each) for name, each in tails.items()],
        x="n",
        y="P(|E_p p(x)| > e^(-n/8))",
        log="y",
        caption="Share of inputs at which the mean over all targets is large.",
    )


@claim(
    "ks-lemma9",
    KS("Lemma 9"),
    quick={"cells": ((8, 4, 2000),), "draws": 100},
    full={"cells": ((6, 4, 500), (10, 8, 2000), (12, 8, 8000)), "draws": 2000},
    more="draws",
    planted=("a κ half as large", {"draws": 60, "factor": 0.5}, "refuted"),
)
def lemma9(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((6, 4, 500), (10, 8, 2000)),
    draws: int = 200,
    *,
    factor: float = 1.0,
) -> Iterator[Any]:
    """Nontrivial parities of up to four tokens average out, n = 6 and 10.

    With probability 1 - p every nontrivial parity of at most 4 tokens below m has an empirical mean
    of at most κ = √((2/N)·ln(32n⁴/p)). Here m is the root. The proof of Theorem 5 also contracts
    token m itself, which the printed index set leaves out; draws with it are shown.
    """
    above = []
    for n, k, samples in trial.track(cells):
        tree, seeds = random_tree(trial.seed, n, k), [seed_of(trial.seed, d) for d in range(draws)]
        kappas = factor * np.array([lemma9_kappa(n, samples, p) for p in FAILURES])
        printed = largest_means(tree, samples, seeds, below=n + k - 2)
        whole = largest_means(tree, samples, seeds)
        above.append([each[:, None] > kappas for each in (printed, whole)])
    below_m, with_m = (np.concatenate(both).T for both in zip(*above, strict=True))
    for p, flags, others in zip(FAILURES, below_m, with_m, strict=True):
        yield at_most(f"draws with a mean above κ at p = {p:g}", Rate.of(flags), p)
        yield note(f"the same with token m itself, p = {p:g}", Rate.of(others))
    means = printed / kappas[0]
    n, k, samples = cells[-1]
    yield note(f"median largest mean over κ, n = {n}, k = {k}", float(np.median(means)))
    yield Histogram(
        means,
        x="largest mean of a nontrivial parity, over κ",
        y="draws",
        marks=[Mark(1.0, "κ", axis="x")],
        caption=f"n = {n}, k = {k}, N = {samples}; κ at p = {FAILURES[0]:g}.",
    )


@claim(
    "ks-lemma10",
    KS("Lemma 10"),
    quick={"cells": ((64, 2), (256, 2)), "draws": 100},
    full={"cells": ((64, 2), (64, 32), (256, 2), (256, 128), (1024, 512)), "draws": 1000},
    more="draws",
    planted=("a last line an eighth as large", {"draws": 40, "factor": 1 / 8}, "refuted"),
)
def lemma10(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((64, 2), (64, 32), (256, 2), (256, 128)),
    draws: int = 200,
    *,
    factor: float = 1.0,
) -> Iterator[Any]:
    """Means of the first tokens are small on 256 unlabelled strings, n = 64 and 256.

    With probability 1 - e^(-Ω(√n)) no token is constant on the strings, and the mean of the first
    d_l tokens is O(n^(-1/4)) on all of them, for every level l. The proof's last line is
    2(√2+1)√(ln(2n'/p)/n) for n' = 256 strings; it may fail in a share (log2 k + 1)·p of draws,
    p = 0.03. Its middle line as printed counts the n inputs as k.
    """
    quantiles = []
    for n, k in trial.track(cells):
        keys = fold_keys(as_key(trial.seed), np.arange(draws))
        means = prefix_means(random_tree(trial.seed, n, k), STRINGS, keys)
        middle, last = lemma10_bounds(n, k, STRINGS, FAILURE)
        failed = Rate.of((means.largest > factor * last) | means.constant)
        where = f"n = {n}, k = {k}"
        yield at_most(f"draws that fail the last line, {where}", failed, k.bit_length() * FAILURE)
        yield note(f"draws above the middle line, {where}", Rate.of(means.largest > middle))
        quantiles.append(float(np.quantile(means.largest, 0.95)))
    sizes = np.array([n for n, _ in cells])
    exponent = float(np.polyfit(np.log(sizes), np.log(quantiles), 1)[0])
    yield at_most("exponent in n of the 95 % quantile of the largest mean", exponent, -0.25)
