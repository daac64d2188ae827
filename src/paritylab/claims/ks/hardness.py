"""Without a chain, all inputs: how little a gradient says about the target (Proposition 3, 1)."""

from collections.abc import Callable, Sequence

import numpy as np

from paritylab.claims import (
    KS,
    Judged,
    Line,
    Lines,
    Trial,
    claim,
    corrected,
    derived,
    holds,
    record,
    refuted,
    shown,
)
from paritylab.claims.ks.gradient_spread import (
    all_signs,
    direct_model,
    every_subset,
    gradient_spread,
    linear_variance,
    target_values,
)
from paritylab.claims.ks.queries import (
    ask,
    decode_in_one_query,
    mean_descent,
)

#: Of a bound that is met exactly, rounding in float32 may leave this much.
ROUNDING = 1e-5
#: C in the oracle's error C·e^(-n/3) that a decoding query stands.
CONSTANT = 8.0
#: d ln(share)/dn of the targets that a query tells apart in the limit, 1/ε² of about 2^n.
LIMIT = 2 / 3 - float(np.log(2))


def printed_error(n: int) -> float:
    """The error of Theorem 1's oracle."""
    return CONSTANT * float(np.exp(-n / 3))


@record(evidence="exact")
class Variances:
    """Variance of the gradient of E(h - f)² over all targets, in units of E‖∇f‖²/|H|.

    zero, random: of the chain's last token. features: of f = Σ_p θ_p·p over all six pairs of four
    bits at θ = 0. doubled: the same with targets ±2.
    """

    n: np.ndarray
    k: np.ndarray
    zero: np.ndarray = shown("variance over F²/|H|, chain at W = 0", by="sizes", predicted="≤ 1")
    random: np.ndarray = shown(
        "variance over F²/|H|, chain at random W", by="sizes", predicted="≤ 1"
    )
    features: float = shown("variance over F²/|H|, six features", predicted="≤ 1")
    doubled: float = shown("variance over F²/|H|, six features and targets ±2")

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n}, k = {k}" for n, k in zip(self.n, self.k, strict=True)]

    @property
    def largest(self) -> float:
        """Over targets bounded by 1."""
        return float(max(self.zero.max(), self.random.max(), self.features))


@claim(
    "ks-prop3-variance",
    certificate="ks-prop3-variance",
    source=KS("Proposition 3"),
    title="The gradient hardly varies over targets: at most F²/|H|",
    statement="For orthogonal bounded targets and the loss E(h - f)² the variance of the gradient "
    "over the random target is at most F²/|H|, where F² bounds E‖∇f‖².",
    quick={"cells": ((8, 4),)},
    full={"cells": ((8, 4), (10, 4), (12, 8), (14, 8))},
    settings={"model": "last token of the chain, level mask", "inputs and targets": "all"},
    seconds=(1, 2, 30),
)
def prop3(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((8, 4), (10, 4), (12, 8)),
    *,
    loss: float = 1.0,
    bound: float = 2.0,
) -> Variances:
    shares: dict[float, list[float]] = {0.0: [], 1.0: []}
    for n, k in trial.track(cells):
        for scale, found in shares.items():
            model = direct_model(n, k, scale, trial.seed)
            spread = gradient_spread(model, all_signs(n), every_subset(n, k))
            found.append(4 * loss**2 * spread.variance * spread.targets / spread.mean_gradient)
    pairs = target_values(all_signs(4), every_subset(4, 2))
    factors = []
    for size in (1.0, bound):
        variance, printed = linear_variance(pairs, size * pairs)
        factors.append(loss**2 * variance / printed)
    n, k = np.array(cells).T
    return Variances(n, k, np.array(shares[0.0]), np.array(shares[1.0]), *factors)


@prop3.judge
def _prop3(v: Variances) -> Judged:
    share = float(max(v.zero.max(), v.random.max()))
    chain = (
        f"for the chain's last token at zero and at random W, n = {', '.join(map(str, v.n))}, it "
        f"is at most {share:.2g} times F²/|H|"
    )
    plain = (
        f"f = Σ θ_p·p over the six pairs of four bits has a variance of {v.features:.2f} times "
        f"F²/|H| at θ = 0, and {v.doubled:.2f} times if targets are ±2"
    )
    margin = min(abs(v.features - 1), abs(4 - v.largest))
    if v.largest > 4 + ROUNDING:
        instead = f"No constant up to 4 saves the bound: the largest variance is {v.largest:.2f}."
        return refuted(f"{plain}; {chain}.", instead=instead, margin=margin)
    if max(v.largest, v.doubled) <= 1 + ROUNDING:
        return holds(f"The bound is kept: {plain}; {chain}.", margin=margin)
    return corrected(
        f"The constant is missing: {plain}; {chain}.",
        instead=f"At most 4F²/|H| if targets are bounded by 1 (F²/|H| for half the loss): the "
        f"largest variance met is {v.largest:.2f} times F²/|H|.",
        margin=margin,
        counterexample=True,
    )


@prop3.planted("half the loss and targets bounded by 1", turns="holds")
def _half_the_loss(trial: Trial) -> Variances:
    return prop3.measure(trial, **prop3.quick, loss=0.5, bound=1.0)


@prop3.figure
def _prop3_figure(v: Variances) -> Lines:
    lines = [Line("W = 0", v.n, v.zero), Line("random W", v.n, v.random)]
    bound = Line("4F²/|H|", v.n, np.full(len(v.n), 4.0), style="--")
    return Lines(
        [*lines, bound],
        x="n",
        y="variance over F²/|H|",
        log="y",
        caption="Exact variance of the gradient of E(h - f)² over all targets.",
    )


@record(evidence="exact")
class Hiding:
    """Queries at one size, for every target and input.

    fixed, descent: share revealed over 4F²T/(|P|ε²), largest over all errors ε, for queries at zero
    and random W and for gradient descent.
    """

    n: int
    k: int
    queries: int = shown("queries")
    printed: float = shown("share revealed at error e^(-n/3)", against="allowed")
    fixed: float
    descent: float

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"

    @property
    def allowed(self) -> float:
        return float(np.exp(-self.n / 3))

    @derived("share of the repaired bound used", predicted="≤ 1")
    def used(self) -> float:
        return max(self.fixed, self.descent)


@record(evidence="exact")
class Rates:
    """What one query gets from an oracle of error C·e^(-n/3), k = n/2, by size n; features and
    gradient: of its model."""

    n: np.ndarray
    decoded: np.ndarray = shown("share of targets identified by one query", by="sizes")
    features: np.ndarray = shown("features of that query's model", by="sizes")
    gradient: np.ndarray = shown("largest ‖∇f‖² of that model", by="sizes")

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n}" for n in self.n]

    @derived("exponent of the share identified, sizes tried", predicted="≤ -1/3")
    def share(self) -> float:
        """d ln(share)/dn."""
        return float(np.polyfit(self.n, np.log(np.maximum(self.decoded, 1e-300)), 1)[0])


@record(evidence="exact")
class Oracle:
    """cells: what queries reveal. rates: how it falls with n."""

    cells: list[Hiding]
    rates: Rates


@claim(
    "ks-thm1",
    certificate="ks-thm1",
    source=KS("Theorem 1 (Wies et al., Theorem 4); Section 3.1, end"),
    title="An oracle of error e^(-n/3) hides almost every target",
    statement="Some gradient oracle with error O(e^(-n/3)) keeps every algorithm with polynomially "
    "many queries at a zero-one loss of at least ½ - O(e^(-n)), for all but a share O(e^(-n/3)) of "
    "targets; read, as Section 3.1 does, for algorithms that answer with a parity, whose loss is ½ "
    "unless it is the target.",
    quick={"queries": 4, "sizes": (8, 10, 12, 14)},
    full={
        "cells": ((8, 4), (10, 4), (12, 8), (14, 8)),
        "queries": 100,
        "sizes": (8, 10, 12, 14, 16, 18, 20),
    },
    settings={"inputs and targets": "all", "C": CONSTANT, "k of the rates": "n/2"},
    seconds=(9, 7, 120),
)
def thm1(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((8, 4), (12, 8)),
    queries: int = 10,
    sizes: Sequence[int] = (8, 10, 12, 14, 16),
    *,
    error: Callable[[int], float] = printed_error,
) -> Oracle:
    hidden = [_hiding(n, k, queries, trial.seed) for n, k in trial.track(cells)]
    decoded = [decode_in_one_query(n, n // 2, error(n), trial.seed) for n in sizes]
    columns = (np.array(column) for column in zip(*decoded, strict=True))
    return Oracle(hidden, Rates(np.array(sizes), *columns))


def _hiding(n: int, k: int, queries: int, seed: int) -> Hiding:
    signs, subsets = all_signs(n), every_subset(n, k)
    models = (direct_model(n, k, float(q > 0), seed + q) for q in range(queries))
    fixed = ask(models, signs, subsets)
    path = mean_descent(direct_model(n, k, 1.0, seed), signs, eta=1.0, steps=queries)
    descent = ask(path, signs, subsets)
    revealed = fixed.revealed(np.exp(-n / 3))
    return Hiding(n, k, queries, revealed, fixed.use_of_bound(), descent.use_of_bound())


@thm1.judge
def _thm1(o: Oracle) -> Judged:
    rates, used = o.rates, max(cell.used for cell in o.cells)
    listed = "; ".join(
        f"{c}: {c.queries} fixed queries use {c.fixed:.1%} of the bound, as many of a descent "
        f"{c.descent:.1%}"
        for c in o.cells
    )
    ends = (
        f"{rates.decoded[0]:.1%} at n = {rates.n[0]} to {rates.decoded[-1]:.1%} at "
        f"n = {rates.n[-1]}, where e^(-n/3) is {np.exp(-rates.n[-1] / 3):.1%}"
    )
    margin = min(abs(1 - used), abs(rates.share + 1 / 3))
    if used > 1 + ROUNDING:
        instead = f"Not even Chebyshev's share is kept: {listed}."
        return refuted(f"The oracle reveals too much: {ends}.", instead=instead, margin=margin)
    if rates.share <= -1 / 3:
        return holds(f"{listed}. One query identifies a share of {ends}.", margin=margin)
    return corrected(
        f"The share is too good: against every oracle of error {CONSTANT:g}e^(-n/3) one query "
        f"identifies {ends}. It tells about 3/ε² of C(n,n/2) targets apart, which in the limit "
        f"falls like e^({LIMIT:.3f}n) only, but for powers of n.",
        instead="With F² = sup E‖∇f‖² and T queries an oracle of error ε hides all but a share "
        "4F²T/(|P|ε²) of targets. Since |P| ≤ 2^n, error and share can fall together like "
        f"2^(-n/3), not like e^(-n/3). {listed}.",
        margin=margin,
        counterexample=True,
    )


@thm1.planted("an oracle whose error stays at ½ and hides nearly all", turns="holds")
def _large_error(trial: Trial) -> Oracle:
    return thm1.measure(trial, ((8, 4),), queries=2, sizes=(8, 10, 12), error=lambda n: 0.5)


@thm1.figure
def _thm1_figure(o: Oracle) -> Lines:
    rates = o.rates
    return Lines(
        [
            Line("identified by one query", rates.n, rates.decoded),
            Line("e^(-n/3)", rates.n, np.exp(-rates.n / 3), style="--"),
        ],
        x="n",
        y="share of targets",
        log="y",
        caption=f"Against every oracle of error {CONSTANT:g}e^(-n/3), k = n/2.",
    )
