"""Without a chain, all inputs: how little a gradient says about the target (Proposition 3, 1)."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from paritylab.claims import (
    KS,
    Judged,
    Line,
    Lines,
    SideBySide,
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
    every_subset,
    gradient_spread,
    linear_variance,
    target_values,
)
from paritylab.claims.ks.queries import (
    ask,
    decode_in_one_query,
    fixed_random_answer,
    mean_descent,
    use_of_parseval,
)
from paritylab.models import LINKS, ChainModel

#: Of a bound that is met exactly, rounding in float32 may leave this much.
ROUNDING = 1e-5
#: C in the oracle's error C·e^(-n/3) that a decoding query stands.
CONSTANT = 8.0


def direct_model(n: int, k: int, scale: float, seed: int) -> ChainModel:
    """The chain model at random scores, asked for its last token only."""
    scores = scale * np.random.default_rng([seed, n]).normal(size=(n + k - 1, k - 1))
    return ChainModel(scores.astype(np.float32), n, LINKS["quadratic"], "level")


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
def prop3(trial: Trial, cells: Sequence[tuple[int, int]] = ((8, 4), (10, 4), (12, 8))) -> Variances:
    shares: dict[float, list[float]] = {0.0: [], 1.0: []}
    for n, k in trial.track(cells):
        for scale, found in shares.items():
            model = direct_model(n, k, scale, trial.seed)
            spread = gradient_spread(model, all_signs(n), every_subset(n, k))
            found.append(4 * spread.variance * spread.targets / spread.mean_gradient)
    pairs = target_values(all_signs(4), every_subset(4, 2))
    factors = []
    for size in (1, 2):
        variance, bound = linear_variance(pairs, size * pairs)
        factors.append(variance / bound)
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
    and random W and for gradient descent. beaten: share on which the end of the descent beats ½ by
    g, over 1/(4g²|P|), largest over all g.
    """

    n: int
    k: int
    queries: int = shown("queries")
    printed: float = shown("share revealed at error e^(-n/3)", against="allowed")
    fixed: float
    descent: float
    beaten: float

    def __str__(self) -> str:
        return f"n = {self.n}, k = {self.k}"

    @property
    def allowed(self) -> float:
        return float(np.exp(-self.n / 3))

    @derived("share of the repaired bounds used", predicted="≤ 1")
    def used(self) -> float:
        return max(self.fixed, self.descent, self.beaten)


@record(evidence="exact")
class Rates:
    """What a learner gets from an oracle of error C·e^(-n/3), k = n/2, by size n.

    decoded: by one query, with a model of so many features and such a gradient. advantage: half of
    the targets on which a fixed answer is better than chance beat ½ by this much.
    """

    n: np.ndarray
    decoded: np.ndarray = shown("share of targets identified by one query", by="sizes")
    features: np.ndarray = shown("features of that query's model", by="sizes")
    gradient: np.ndarray = shown("largest ‖∇f‖² of that model", by="sizes")
    better: np.ndarray = shown("share on which a fixed answer beats ½ - e^(-n)", by="sizes")
    advantage: np.ndarray

    @property
    def sizes(self) -> list[str]:
        return [f"n = {n}" for n in self.n]

    @derived("exponent of the share identified", predicted="≤ -1/3")
    def share(self) -> float:
        return self._slope(self.decoded)

    @derived("exponent of the advantage of a fixed answer", predicted="≤ -1")
    def luck(self) -> float:
        return self._slope(self.advantage)

    def _slope(self, values: np.ndarray) -> float:
        """d ln(values)/dn."""
        return float(np.polyfit(self.n, np.log(np.maximum(values, 1e-300)), 1)[0])


@record(evidence="exact")
class Oracle:
    """cells: what queries reveal. rates: how it falls with n."""

    cells: list[Hiding]
    rates: Rates


@claim(
    "ks-thm1",
    certificate="ks-thm1",
    source=KS("Theorem 1 (Wies et al., Theorem 4)"),
    title="An oracle of error e^(-n/3) hides almost every target",
    statement="Some gradient oracle with error O(e^(-n/3)) keeps every algorithm with polynomially "
    "many queries at a zero-one loss of at least ½ - O(e^(-n)), for all but a share O(e^(-n/3)) of "
    "targets.",
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
) -> Oracle:
    hidden = [_hiding(n, k, queries, trial.seed) for n, k in trial.track(cells)]
    decoded = [decode_in_one_query(n, n // 2, CONSTANT * np.exp(-n / 3), trial.seed) for n in sizes]
    lucky = [fixed_random_answer(n, n // 2, trial.seed) for n in sizes]
    columns = (np.array(column) for rows in (decoded, lucky) for column in zip(*rows, strict=True))
    return Oracle(hidden, Rates(np.array(sizes), *columns))


def _hiding(n: int, k: int, queries: int, seed: int) -> Hiding:
    signs, subsets = all_signs(n), every_subset(n, k)
    models = (direct_model(n, k, float(q > 0), seed + q) for q in range(queries))
    fixed = ask(models, signs, subsets)
    path = mean_descent(direct_model(n, k, 1.0, seed), signs, eta=1.0, steps=queries)
    descent = ask(path, signs, subsets)
    return Hiding(
        n,
        k,
        queries,
        fixed.revealed(np.exp(-n / 3)),
        fixed.use_of_bound(),
        descent.use_of_bound(),
        use_of_parseval(_answers(descent.last, signs), signs, subsets),
    )


def _answers(model: ChainModel, signs: np.ndarray) -> np.ndarray:
    return np.asarray(model.generate(jnp.asarray(signs)))[:, -1]


@thm1.judge
def _thm1(o: Oracle) -> Judged:
    rates = o.rates
    share, loss = rates.share, rates.luck
    used = max(cell.used for cell in o.cells)
    listed = "; ".join(
        f"n = {c.n}, k = {c.k}: {c.queries} fixed queries use {c.fixed:.1%} of the first bound, as "
        f"many of a descent {c.descent:.1%}, its end {c.beaten:.1%} of the second"
        for c in o.cells
    )
    ends = (
        f"from {rates.decoded[0]:.1%} at n = {rates.n[0]} to {rates.decoded[-1]:.1%} at "
        f"n = {rates.n[-1]} (e^({share:.2f}n), where e^(-n/3) is allowed)"
    )
    luck = (
        f"a fixed random answer beats ½ - e^(-n) on {rates.better[-1]:.0%} of targets at "
        f"n = {rates.n[-1]}, on half of them by {rates.advantage[-1]:.2g} = "
        f"{rates.advantage[-1] * 2 ** (rates.n[-1] / 2):.2f}·2^(-n/2)"
    )
    margin = min(abs(1 - used), abs(share + 1 / 3), abs(loss + 1))
    if used > 1 + ROUNDING:
        instead, seen = f"Not even Chebyshev's share is kept: {listed}.", f"{ends}; {luck}"
        return refuted(f"The oracle reveals too much: {seen}.", instead=instead, margin=margin)
    if share <= -1 / 3 and loss <= -1:
        return holds(f"{listed}. One query identifies a share {ends}; {luck}.", margin=margin)
    return corrected(
        f"The rates are too good: against every oracle of error {CONSTANT:g}e^(-n/3) one query "
        f"identifies a share {ends}; {luck}.",
        instead="With F² = sup E‖∇f‖² and T queries an oracle of error ε hides all but a share "
        "4F²T/(|P|ε²) of targets, and a fixed answer beats ½ by g on at most a share 1/(4g²|P|); "
        "since |P| ≤ 2^n, error and share can fall together like 2^(-n/3), not like e^(-n/3). "
        f"{listed}.",
        margin=margin,
        counterexample=True,
    )


@thm1.figure
def _thm1_figure(o: Oracle) -> SideBySide:
    rates = o.rates
    shares = Lines(
        [
            Line("identified by one query", rates.n, rates.decoded),
            Line("e^(-n/3)", rates.n, np.exp(-rates.n / 3), style="--"),
        ],
        x="n",
        y="share of targets",
        log="y",
    )
    gains = Lines(
        [
            Line("fixed random answer, median gain", rates.n, rates.advantage),
            Line("e^(-n)", rates.n, np.exp(-1.0 * rates.n), style="--"),
        ],
        x="n",
        y="½ minus zero-one loss",
        log="y",
    )
    return SideBySide([shares, gains], f"Against an oracle of error {CONSTANT:g}e^(-n/3), k = n/2.")
