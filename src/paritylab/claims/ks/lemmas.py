"""Lemmas 8, 9 and 10: parities and samples average out."""

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np

from paritylab.claims import (
    KS,
    Histogram,
    Judged,
    Line,
    Lines,
    Mark,
    Trial,
    claim,
    corrected,
    derived,
    drawn,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning.chain.chain_accuracy import prefix_means
from paritylab.learning.hardness.oracles import mean_label, mean_label_square, mean_label_tail
from paritylab.problem import random_tree
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import fold_keys, seed_of
from paritylab.problem.walsh import largest_means
from paritylab.statistics import Rate
from paritylab.theory.ks import lemma9_kappa, lemma10_bounds

#: Shares of bits in the hidden set at which Lemma 8 is tried, besides all of them.
QUARTERS = ("k = n/4", "k = n/2", "k = 3n/4")


@record(evidence="exact")
class Averages:
    """|E_p p(x)| over uniform x, by size n."""

    n: np.ndarray
    tails: np.ndarray = shown("P(|E_p p(x)| > e^(-n/8)), by size", by="quarters")
    gap: float = shown("mean square over 1/C(n,k), off by")
    whole: np.ndarray = shown(
        "smallest |E_p p(x)| at k = n", by="sizes", predicted="≤ e^(-Ω(n)) at most x"
    )

    @property
    def quarters(self) -> tuple[str, ...]:
        return QUARTERS

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n}" for n in self.n]

    @derived("exponent of the slowest tail in n")
    def slope(self) -> float:
        logs = np.log(np.maximum(self.tails, 1e-300))
        return float(max(np.polyfit(self.n, each, 1)[0] for each in logs))


@claim(
    "ks-lemma8",
    certificate="ks-lemma8",
    source=KS("Lemma 8"),
    title="A random parity averages out at almost every input",
    statement="If k = Θ(n), |E_p p(x)| ≤ e^(-Ω(n)) with probability 1 - e^(-Ω(n)) over x.",
    quick={"sizes": (16, 32, 64)},
    full={"sizes": (16, 32, 64, 128, 256)},
    settings={"threshold": "e^(-n/8)", "k": (*QUARTERS, "k = n")},
    seconds=(1, 1, 5),
)
def lemma8(
    trial: Trial, sizes: Sequence[int] = (16, 32, 64, 128), *, power: float = 1 / 8
) -> Averages:
    tails = [
        [mean_label_tail(n, n * part // 4, np.exp(-power * n)) for n in sizes] for part in (1, 2, 3)
    ]
    gap = max(abs(mean_label_square(n, n // 2) * comb(n, n // 2) - 1) for n in sizes)
    whole = [np.abs(mean_label(n, n)).min() for n in sizes]
    return Averages(np.array(sizes), np.array(tails), gap, np.array(whole))


@lemma8.judge
def _lemma8(a: Averages) -> Judged:
    inner = (
        f"at k = n/4, n/2 and 3n/4 P(|E_p p(x)| > e^(-n/8)) falls like e^({a.slope:.2f}n) or "
        f"faster up to n = {a.n[-1]}"
    )
    above = float((a.whole / np.exp(-a.n / 8)).max())
    margin = min(abs(a.slope), abs(float(a.whole[-1]) - float(np.exp(-a.n[-1] / 8))))
    if a.slope >= 0:
        instead = f"Only the mean square is as small as 1/C(n,k) (to {a.gap:.0e}); {inner}."
        return refuted(f"The tail does not fall: {inner}.", instead=instead, margin=margin)
    if above <= 1:
        return holds(f"Also at k = n; {inner}.", margin=margin)
    return corrected(
        f"k = n is k = Θ(n), and |E_p p(x)| is {a.whole[-1]:.2g} at every x "
        f"(n = {a.n[-1]}); {inner}.",
        instead=f"k and n - k of order n: {inner}. The root mean square is 1/√C(n,k) (to "
        f"{a.gap:.0e}).",
        margin=margin,
        counterexample=True,
    )


@lemma8.planted("a threshold of e^(-2n), which nearly every input exceeds", turns="refuted")
def _(trial: Trial) -> Any:
    return lemma8.measure(trial, (16, 32, 64), power=2.0)


@record()
class Concentration:
    """Largest |empirical mean| of nontrivial products of at most four tokens, over draws.

    failures: the p that were tried. exceeded, with_m: draws above κ(p), for tokens below m as
    printed and with m itself, as the proof of Theorem 5 uses it; m is the root. means: of the
    printed set in the last cell, in units of κ at the largest p.
    """

    cells: list[tuple[int, int, int]]
    failures: list[float]
    exceeded: list[Rate] = shown(
        "draws above κ", by="levels", predicted="at most a share p", counts=False
    )
    with_m: list[Rate] = shown("the same with token m", by="levels", counts=False)
    draws: int = drawn()
    means: np.ndarray

    @property
    def levels(self) -> list[str]:
        return [f"p = {p:g}" for p in self.failures]

    @derived("median largest mean over κ")
    def median(self) -> float:
        return float(np.median(self.means))


@claim(
    "ks-lemma9",
    source=KS("Lemma 9"),
    title="Nontrivial parities of up to four tokens average out",
    statement="With probability 1 - p every nontrivial parity of at most 4 tokens below m has an "
    "empirical mean of at most κ = √((2/N)·ln(32n⁴/p)).",
    quick={"cells": ((8, 4, 2000),), "draws": 100},
    full={"cells": ((6, 4, 500), (10, 8, 2000), (12, 8, 8000)), "draws": 2000},
    settings={"p": (0.5, 0.2, 0.1), "m": "root"},
    seconds=(1, 1, 60),
)
def lemma9(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((6, 4, 500), (10, 8, 2000)),
    draws: int = 200,
    *,
    factor: float = 1.0,
) -> Concentration:
    failures, above = [0.5, 0.2, 0.1], []
    for n, k, samples in trial.track(cells):
        tree, seeds = random_tree(trial.seed, n, k), [seed_of(trial.seed, d) for d in range(draws)]
        kappas = factor * np.array([lemma9_kappa(n, samples, p) for p in failures])
        printed = largest_means(tree, samples, seeds, below=n + k - 2)
        whole = largest_means(tree, samples, seeds)
        above.append([each[:, None] > kappas for each in (printed, whole)])
    exceeded, with_m = (
        [Rate.of(flags) for flags in np.concatenate(both).T] for both in zip(*above, strict=True)
    )
    means = printed / kappas[0]
    return Concentration(list(cells), failures, exceeded, with_m, draws * len(cells), means)


@lemma9.judge
def _lemma9(c: Concentration) -> Judged:
    pairs = list(zip(c.exceeded, c.failures, strict=True))
    low, high = max(rate.low - p for rate, p in pairs), max(rate.high - p for rate, p in pairs)
    told = "; ".join(f"{rate} at p = {p:g}" for rate, p in pairs)
    margin, interval = min(abs(low), abs(high)), c.exceeded[-1]
    if low > 0:
        instead = f"The median largest mean is {c.median:.2f}κ; above κ are {told}."
        text = f"κ is exceeded too often: {told}."
        return refuted(text, instead=instead, margin=margin, interval=interval)
    if high > 0:
        return undecided(f"Too few draws: above κ are {told}.", margin=margin, interval=interval)
    return holds(
        f"Draws above κ: {told}; the median largest mean is {c.median:.2f}κ. The "
        "proof of Theorem 5 also contracts token m itself, which the printed index set leaves out; "
        f"with it: {'; '.join(map(str, c.with_m))}.",
        margin=margin,
        interval=interval,
    )


@lemma9.planted("a κ half as large", turns="refuted")
def _(trial: Trial) -> Any:
    return lemma9.measure(trial, ((8, 4, 2000),), draws=60, factor=0.5)


@lemma9.figure
def _lemma9_figure(c: Concentration) -> Histogram:
    n, k, samples = c.cells[-1]
    return Histogram(
        c.means,
        x="largest mean of a nontrivial parity, over κ",
        y="draws",
        marks=[Mark(1.0, "κ", axis="x")],
        caption=f"n = {n}, k = {k}, N = {samples}; κ at p = {c.failures[0]:g}.",
    )


@record()
class PrefixCell:
    """Means of the first d_l tokens on unlabelled strings.

    exceeded: draws in which the largest mean exceeds 2(√2+1)√(ln(2n'/p)/n), or a token is constant.
    allowed: (log2 k + 1)·p. middle: draws above the proof's middle line as printed.
    """

    n: int
    k: int
    exceeded: Rate = shown("draws that fail", against="allowed")
    allowed: float
    middle: Rate = shown("draws above the printed middle line", counts=False)
    largest: float = shown("95 % quantile of the largest mean")

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"


@record()
class Prefixes:
    """strings: n', the unlabelled strings of a draw."""

    cells: list[PrefixCell]
    strings: int

    @derived("exponent of the largest mean in n", predicted="≤ -1/4")
    def exponent(self) -> float:
        n, largest = zip(*((cell.n, cell.largest) for cell in self.cells), strict=True)
        return float(np.polyfit(np.log(n), np.log(largest), 1)[0])


@claim(
    "ks-lemma10",
    source=KS("Lemma 10"),
    title="Means of the first tokens are small on the unlabelled strings",
    statement="With probability 1 - e^(-Ω(√n)) no token is constant on the strings, and the mean "
    "of the first d_l tokens is O(n^(-1/4)) on all of them, for every level l.",
    quick={"cells": ((64, 2), (256, 2)), "draws": 100},
    full={"cells": ((64, 2), (64, 32), (256, 2), (256, 128), (1024, 512)), "draws": 1000},
    settings={"strings": 256, "p": 0.03},
    seconds=(2, 2, 30),
)
def lemma10(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((64, 2), (64, 32), (256, 2), (256, 128)),
    draws: int = 200,
    *,
    factor: float = 1.0,
) -> Prefixes:
    strings, failure, made = 256, 0.03, []
    for n, k in trial.track(cells):
        keys = fold_keys(as_key(trial.seed), np.arange(draws))
        means = prefix_means(random_tree(trial.seed, n, k), strings, keys)
        middle, last = lemma10_bounds(n, k, strings, failure)
        exceeded = Rate.of((means.largest > factor * last) | means.constant)
        above, quantile = Rate.of(means.largest > middle), float(np.quantile(means.largest, 0.95))
        made.append(PrefixCell(n, k, exceeded, k.bit_length() * failure, above, quantile))
    return Prefixes(made, strings)


@lemma10.judge
def _lemma10(p: Prefixes) -> Judged:
    low = max(cell.exceeded.low - cell.allowed for cell in p.cells)
    high = max(cell.exceeded.high - cell.allowed for cell in p.cells)
    told = "; ".join(f"{c.exceeded} at {c} (allowed {100 * c.allowed:.0f} %)" for c in p.cells)
    law = f"The largest mean falls like n^{p.exponent:.2f}"
    worst = max(p.cells, key=lambda cell: cell.middle.low - cell.allowed)
    slip = (
        f" The proof's middle line as printed is exceeded in {worst.middle} draws at {worst}: the "
        "n inputs are counted as k; its last line stands."
        if worst.middle.low > worst.allowed
        else ""
    )
    margin, interval = min(abs(low), abs(high), abs(p.exponent + 0.25)), p.cells[0].exceeded
    if low > 0:
        instead = f"{law}, with a larger constant than 2(√2+1)√ln(2n'/p)."
        text = f"The last line fails: {told}."
        return refuted(text, instead=instead, margin=margin, interval=interval)
    if p.exponent > -0.25:
        text = f"{law}; {told}."
        return refuted(text, instead=f"{law}.", margin=margin, interval=interval)
    if high > 0:
        return undecided(f"Too few draws: {told}.", margin=margin, interval=interval)
    text = f"{law}. Draws that fail its last line with the constant: {told}.{slip}"
    return holds(text, margin=margin, interval=interval)


@lemma10.planted("a last line an eighth as large", turns="refuted")
def _(trial: Trial) -> Any:
    return lemma10.measure(trial, ((64, 2), (256, 2)), draws=40, factor=1 / 8)


@lemma10.figure
def _lemma10_figure(p: Prefixes) -> Lines:
    cells = sorted(p.cells, key=lambda cell: cell.n)
    n, measured = (np.array([getattr(cell, name) for cell in cells]) for name in ("n", "largest"))
    guide = measured[0] * (n / n[0]) ** -0.25
    return Lines(
        [Line("95 % quantile", n, measured), Line("n^(-1/4)", n, guide, style="--")],
        x="n",
        y="largest mean of the first tokens",
        log="xy",
        caption=f"Over levels and {p.strings} strings.",
    )
