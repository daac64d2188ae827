"""Lemmas 4, 6, 8, 9 and 10: bounds on gradients, and means of tokens and of parities."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import KS, Comparison, Trial, at_most, claim, instead, note, repair
from paritylab.experiments.ks_lemmas import (
    FAILURE,
    STRINGS,
    measure_prefix_means,
    search_largest_norm,
)
from paritylab.models import LINKS
from paritylab.problem import random_tree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import fold_keys, seed_of
from paritylab.problem.tree import largest_means
from paritylab.statistics import Rate
from paritylab.theory.ks import lemma4_bound, lemma6_squares, lemma9_kappa, lemma10_bounds
from paritylab.theory.ks_hardness import mean_label, mean_label_tail

#: What a number may be off by rounding.
ROUNDING = 1e-9
Cells = Sequence[tuple[int, int]]
CELLS, SOME_LINKS = ((6, 4), (10, 8)), ("quadratic", "gentle")
#: The norm over its power of n may grow by this factor from the first size to the last.
GROWTH = 1.5


def _ascents(
    trial: Trial, cells: Cells, links: Sequence[str], forced: bool, constant: float, **search: int
) -> Iterator[Comparison]:
    """Every link at every size: the largest norm over the bound of Lemma 4 (forced) or 6.

    Then how the norm grows from the first size to the last, over the power of n that the lemma
    names: n^½, or n^g with g = log2‖φ'‖∞ + 1/2. An order of growth needs two sizes.
    """
    lemma = "Lemma 4" if forced else "Lemma 6"
    scaled: dict[str, list[float]] = {name: [] for name in links}
    for n, k, name in trial.track([(n, k, name) for n, k in cells for name in links]):
        link = LINKS[name]
        norm = search_largest_norm(n, k, link, forced, seed=trial.seed, **search)
        bound = lemma4_bound(k, link) if forced else np.sqrt(lemma6_squares(k, link)[2])
        label = f"largest norm over the bound of {lemma}, n = {n}, k = {k}, link {name}"
        yield at_most(label, norm / bound / constant, 1 + ROUNDING)
        scaled[name].append(norm / n ** (0.5 if forced else np.log2(link.steepest) + 0.5))
    growth = max(norms[-1] / norms[0] for norms in scaled.values())
    order = "√n" if forced else "n^g"
    ends = f"n = {cells[0][0]} to {cells[-1][0]}"
    yield at_most(f"largest growth of the norm over {order}, {ends}", growth, GROWTH)


@claim(
    "ks-lemma4",
    KS("Lemmas 4 and 6"),
    quick={"links": ("gentle",), "starts": 12, "steps": 60},
    full={"cells": (*CELLS, (20, 16)), "links": tuple(LINKS), "starts": 64, "steps": 500},
    evidence="numerical",
    planted=(
        ("a twentieth of Lemma 4's bound", {"constants": (0.05, 1.0)}, "refuted"),
        ("a twentieth of Lemma 6's bound", {"constants": (1.0, 0.05)}, "refuted"),
    ),
)
def lemma4(
    trial: Trial,
    cells: Cells = CELLS,
    links: Sequence[str] = SOME_LINKS,
    starts: int = 24,
    steps: int = 150,
    *,
    constants: tuple[float, float] = (1.0, 1.0),
) -> Iterator[Any]:
    """Gradients are of order √n under teacher forcing, n^g without, searched at n = 6 and 10.

    Under teacher forcing ‖∇_W f°(x; W)‖ = O(√n) for all x and W (Lemma 4); the proof's bound is
    2‖φ'‖∞·√(k-1). For the self-generated chain ‖∇_W f×‖ = O(n^g), g = log2‖φ'‖∞ + 1/2 (Lemma 6).
    The bound is the square root of 4κ⁴/((κ²-2)(2κ²-1))·(2κ²)^v, κ = ‖φ'‖∞, v = log2 k, which is of
    order n^g. The proof's last line prints κ² for κ⁴ and falls below the line before it; the order
    does not change. Adam ascends the norms over W from random W and x.
    """
    for forced, constant in zip((True, False), constants, strict=True):
        yield from _ascents(trial, cells, links, forced, constant, starts=starts, steps=steps)
    squares = [lemma6_squares(k, LINKS[name]) for _, k in cells for name in links]
    slip = max(last / before for before, last, _ in squares)
    yield note("Lemma 6, the proof's last line over the line before it, largest", slip)


#: Shares of bits in the hidden set at which Lemma 8 is tried, in quarters, besides all of them.
QUARTERS = {1: "k = n/4", 2: "k = n/2", 3: "k = 3n/4"}
#: The p at which Lemma 9 is tried.
FAILURES = (0.5, 0.2, 0.1)


@claim(
    "ks-lemma8",
    KS("Lemma 8"),
    certificates=("ks-lemma8",),
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
    yield instead(
        f"k and n - k of order n: at k = n/4, n/2 and 3n/4 P(|E_p p(x)| > e^(-n/8)) falls like "
        f"e^({slope:.2f}n) or faster. The root mean square is 1/√C(n,k)."
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
    where = f"n = {' and '.join(str(n) for n, *_ in cells)}"
    for p, flags, others in zip(FAILURES, below_m, with_m, strict=True):
        yield at_most(f"draws with a mean above κ at p = {p:g}, {where}", Rate.of(flags), p)
        yield note(f"the same with token m itself, p = {p:g}", Rate.of(others))


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
        largest, constant = measure_prefix_means(random_tree(trial.seed, n, k), keys)
        middle, last = lemma10_bounds(n, k, STRINGS, FAILURE)
        failed = Rate.of((largest > factor * last) | constant)
        where = f"n = {n}, k = {k}"
        label = f"draws of strings whose means exceed the proof's bound, {where}"
        yield at_most(label, failed, k.bit_length() * FAILURE)
        yield note(f"draws above the middle line, {where}", Rate.of(largest > middle))
        quantiles.append(float(np.quantile(largest, 0.95)))
    sizes = np.array([n for n, _ in cells])
    exponent = float(np.polyfit(np.log(sizes), np.log(quantiles), 1)[0])
    yield at_most("exponent in n of the 95 % quantile of the largest mean", exponent, -0.25)
