"""Without a chain: how little a gradient says about the target, and what an oracle hides."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import KS, Trial, at_least, at_most, claim
from paritylab.claims.engine.rule import control, finding, instead, note, repair
from paritylab.experiments.ks_one_step import step_under_error
from paritylab.experiments.ks_queries import (
    all_signs,
    ask,
    decode_in_one_query,
    direct_model,
    every_subset,
    gradient_spread,
    identify_in_one_query,
    linear_variance,
    random_signs,
    read_through_oracle,
    target_values,
)
from paritylab.figures import Line, Lines
from paritylab.problem import random_trees
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Rate, difference, share_text
from paritylab.theory.ks_hardness import (
    mean_label_square,
    separation_exponent,
    theorem2_exponent,
)

#: Of a bound that is met exactly, rounding in float32 may leave this much.
ROUNDING = 1e-5
#: C in the error C·e^(-n/3) of an oracle that a decoding query withstands.
CONSTANT = 8.0
#: The same C for the query of random features, and its features over n.
NAMED_CONSTANT, FEATURES = 4.0, 32
#: Nearly all targets, and hardly any.
NEARLY_ALL, FEW = 0.95, 0.05


def printed_error(n: int) -> float:
    """The error of Theorem 1's oracle."""
    return CONSTANT * float(np.exp(-n / 3))


@claim(
    "ks-prop3-variance",
    KS("Proposition 3"),
    certificates=("ks-prop3-variance",),
    quick={"cells": ((8, 4),)},
    full={"cells": ((8, 4), (10, 4), (12, 8), (14, 8))},
    evidence="exact",
    planted=("half the loss and targets bounded by 1", {"loss": 0.5, "bound": 1.0}, "holds"),
)
def prop3(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((8, 4), (10, 4), (12, 8)),
    *,
    loss: float = 1.0,
    bound: float = 2.0,
) -> Iterator[Any]:
    """The gradient hardly varies over targets: at most F²/|H|, n = 8 to 12.

    For orthogonal bounded targets and the loss E(h - f)² the variance of the gradient over the
    random target is at most F²/|H|, where F² bounds E‖∇f‖² and |H| is the number of targets. Here,
    over all inputs and targets: the last token of the chain with the level mask, and
    f = Σ_p θ_p·p over the six pairs p of four bits at θ = 0, also with targets ±2.
    """
    met = []
    for n, k in trial.track(cells):
        for scale, where in ((0.0, "W = 0"), (1.0, "random W")):
            model = direct_model(n, k, scale, trial.seed)
            spread = gradient_spread(model, all_signs(n), every_subset(n, k))
            met.append(4 * loss**2 * spread.variance * spread.targets / spread.mean_gradient)
            label = f"variance over F²/|H|, chain at {where}, n = {n}, k = {k}"
            yield at_most(label, met[-1], 1 + ROUNDING)
    pairs = target_values(all_signs(4), every_subset(4, 2))
    factors = []
    for size in (1.0, bound):
        variance, printed = linear_variance(pairs, size * pairs)
        factors.append(loss**2 * variance / printed)
    yield at_most("variance over F²/|H|, six features of four bits", factors[0], 1 + ROUNDING)
    yield at_most(
        f"variance over F²/|H|, six features of four bits, targets ±{bound:g}",
        factors[1],
        1 + ROUNDING,
    )
    largest = max(*met, factors[0])
    yield repair(at_most("largest variance over F²/|H| with targets ±1", largest, 4 + ROUNDING))
    yield instead(
        "The variance is at most 4F²/|H| if targets are bounded by 1 (F²/|H| for half the loss): "
        f"the largest met is {largest:.2f} times F²/|H|."
    )


@claim(
    "ks-thm1",
    KS("Theorem 1 (Wies et al., Theorem 4); Section 3.1, end"),
    quick={"queries": 4, "sizes": (8, 10, 12, 14)},
    full={
        "cells": ((8, 4), (10, 4), (12, 8), (14, 8)),
        "queries": 100,
        "sizes": (8, 10, 12, 14, 16, 18, 20),
    },
    evidence="exact",
    planted=(
        "an oracle whose error stays at ½ and hides nearly all",
        {"cells": ((8, 4),), "queries": 2, "sizes": (8, 10, 12), "error": lambda n: 0.5},
        "holds",
    ),
)
def thm1(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((8, 4), (12, 8)),
    queries: int = 10,
    sizes: Sequence[int] = (8, 10, 12, 14, 16),
    *,
    error: Callable[[int], float] = printed_error,
) -> Iterator[Any]:
    """An oracle of error e^(-n/3) hides almost every target, k = n/2, n = 8 to 16.

    Some gradient oracle with error O(e^(-n/3)) keeps every algorithm with polynomially many queries
    at a zero-one loss of at least ½ - O(e^(-n)), for all but a share O(e^(-n/3)) of targets; read,
    as Section 3.1 does, for algorithms that answer with a parity, whose loss is ½ unless it is the
    target. Here, over all inputs and targets: one query that is made to identify targets against
    every oracle of error 8e^(-n/3), and queries at zero and random W, whose share of revealed
    targets is compared with 4F²T/(|P|ε²) at every error ε.
    """
    for n, k in trial.track(cells):
        models = (direct_model(n, k, float(q > 0), trial.seed + q) for q in range(queries))
        used = ask(models, all_signs(n), every_subset(n, k)).use_of_bound()
        label = f"use of 4F²T/(|P|ε²) by {queries} queries, n = {n}, k = {k}"
        yield repair(at_most(label, used, 1 + ROUNDING))
    shares = [decode_in_one_query(n, n // 2, error(n), trial.seed).share for n in sizes]
    rate = float(np.polyfit(sizes, np.log(np.maximum(shares, 1e-300)), 1)[0])
    label = f"share of targets that one query identifies, as e^(c·n): c, n ≤ {sizes[-1]}"
    yield at_most(label, rate, -1 / 3)
    # One query tells about 3/ε² of C(n, n/2) targets apart.
    limit = 2 / 3 - float(np.log(2))
    yield instead(
        "With F² = sup E‖∇f‖² and T queries an oracle of error ε hides all but a share 4F²T/(|P|ε²)"
        " of targets. Since |P| ≤ 2^n, error and share can fall together like 2^(-n/3), not like "
        "e^(-n/3): the share that one query identifies at error 8e^(-n/3) falls like "
        f"e^({limit:.3f}n) in the limit, but for powers of n."
    )
    guide = Line("e^(-n/3)", sizes, np.exp(-np.array(sizes) / 3), style="--")
    lines = [Line("identified by one query", sizes, shares), guide]
    caption = f"Against every oracle of error {CONSTANT:g}e^(-n/3), k = n/2."
    yield Lines(lines, "n", "share of targets", log="y", caption=caption)


@claim(
    "ks-thm1-footnote",
    KS("Theorem 1, footnote 2"),
    full={"sizes": (8, 10, 12, 14)},
    planted=("a query of n features, where most errors hide", {"features": 1}, "refuted"),
)
def thm1_footnote(
    trial: Trial, sizes: Sequence[int] = (8, 10, 12), *, features: int = FEATURES
) -> Iterator[Any]:
    """Theorem 1 is about particular oracles, not about every error of that size, n = 8 to 12.

    That approximate gradients hide the target holds for certain adversarial errors of size
    O(e^(-n/3)) only, not for every approximation. Here: one query against oracles of error
    4e^(-n/3), k = n/2, of a model that is linear in 32n random features of all bits with ‖∇f‖ = 1.
    The shares are over all targets: an exact oracle, an error in a random direction, answers
    rounded to a grid, and the oracle that hides.
    """
    found = []
    for n in trial.track(sizes):
        error = NAMED_CONSTANT * np.exp(-n / 3)
        named = identify_in_one_query(n, n // 2, error, features * n, trial.seed)
        found.append(named)
        yield at_least(
            f"share of targets identified from exact answers, n = {n}", named.exact, NEARLY_ALL
        )
        yield at_least(
            f"share of targets identified under a random error, n = {n}", named.random, NEARLY_ALL
        )
        yield note(f"share of targets identified from rounded answers, n = {n}", named.rounded)
        yield control(
            at_most(
                f"share of targets identified from the hiding oracle, n = {n}", named.hiding, FEW
            )
        )
    identified, hidden = min(each.random for each in found), max(each.hiding for each in found)
    yield finding(
        f"One query names at least {share_text(identified, 1)} of targets under a random error "
        f"of 4e^(-n/3), at most {share_text(hidden, 1)} if the oracle hides, n ≤ {sizes[-1]}.",
        "holds",
    )


#: Share of targets that must be hidden before anything is said about hidden targets.
MOST = 0.75
#: A loss E(p - f)² below this is not near 1.
NEAR_ONE = 0.95
#: Bits, leaves and the error of the oracle.
N, K, ERROR = 16, 8, 0.01
#: ν₁ … ν₄ of a chain's own bounds (Lemma 4, Theorem 5) at ε = 1, for a loss that stays above ½.
EXPONENTS = (0.5, 2.125, 0.25, 0.0)


@claim(
    "ks-thm2",
    KS("Theorem 2"),
    counted_with="ks-lemma8",
    quick={"rows": (256, 4096, 16_384), "targets": 200},
    full={"rows": (256, 1024, 4096, 16_384, 32_768), "targets": 2000},
    more="targets",
    planted=(
        ("k = 3n/4 as the largest k, with many targets", {"largest": 3 * N // 4}, "holds"),
        ("an exact oracle, which hides nothing", {"error": 0.0}, "undecided"),
    ),
)
def thm2(
    trial: Trial,
    rows: Sequence[int] = (256, 1024, 4096, 16_384),
    targets: int = 400,
    *,
    largest: int = N,
    error: float = ERROR,
) -> Iterator[Any]:
    """From finite samples an oracle hides the target from one query without a chain, n = 16.

    If k = Θ(n), an oracle with exponentially small error (e^Ω(n) samples) or polynomial error (n^ν
    samples) hides the target from every learner without a chain, which is left at E(p - f)² of at
    least 1 - e^(-Ω(n)), or 1 - O(n^(-ν₄)). Here: one query at W = 0 of the chain's last token with
    the level mask, n = 16, k = 8 and an error of 0.01. A target is hidden if its gradient is within
    the error of the mean over all targets. By Parseval the best answer to hidden targets is their
    mean, with the loss 1 - 1/C(n,k).
    """
    generator = np.random.default_rng(trial.seed)
    subsets = [tuple(generator.choice(N, K, replace=False)) for _ in range(targets)]
    hidden: dict[int, Rate] = {}
    for size in trial.track(rows):
        signs = random_signs(generator, size, N)
        spread = gradient_spread(direct_model(N, K, 0.0, 0), signs, subsets)
        hidden[size] = Rate.of(spread.distances <= error)
        allowed = 2 * max(mean_label_square(N, K), np.sqrt(4 * N / size)) * spread.largest_gradient
        variance = spread.variance / allowed
        yield repair(at_most(f"variance over the proof's bound on it, N = {size:,}", variance, 1))
    few, *between, many = rows
    more = difference(hidden[many], hidden[few])
    yield control(at_least(f"targets hidden at N = {many:,}", hidden[many], MOST))
    yield control(at_least(f"targets hidden at N = {many:,} less those at N = {few:,}", more, 0))
    for size in (few, *between):
        yield note(f"targets hidden at N = {size:,}", hidden[size])
    half, whole = (1 - mean_label_square(N, k) for k in (N // 2, largest))
    best = f"E(p - f)² of the best fixed answer, n = {N}"
    yield at_least(f"{best}, k = {largest}", whole, NEAR_ONE)
    yield repair(at_least(f"{best}, k = {N // 2}", half, NEAR_ONE))
    printed, ours = theorem2_exponent(*EXPONENTS), separation_exponent(*EXPONENTS)
    yield instead(
        "n - k must be of order n as well: k = Θ(n) allows k = n, which has one target only, and a "
        f"fixed answer reaches 1 - 1/C(n,k). Then N = n^ν rows suffice with ν = {ours:g} where the "
        f"printed formula has {printed:g} (ν₁ … ν₄ = ½, 2⅛, ¼, 0; lab-separation)."
    )


#: The error of the oracle, times n²: one step of the chain tolerates it wherever it is put.
LITTLE = 0.2
#: The step gives a pair the score ln M + this.
ABOVE = 2.5


@claim(
    "ks-separation",
    KS("Sections 3.1 and 3.2"),
    quick={"runs": 24, "queries": 4},
    full={"cells": ((24, 8, 2**17), (32, 16, 2**18), (64, 32, 2**21)), "queries": 20, "runs": 60},
    more="runs",
    planted=(
        ("an error of 20n⁻², which drowns the chain's signal too", {"error": 20.0}, "refuted"),
        ("an exact oracle, which hides nothing", {"error": 0.0}, "refuted"),
    ),
)
def separation(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = ((32, 16, 2**18),),
    queries: int = 8,
    runs: int = 40,
    *,
    error: float = LITTLE,
) -> Iterator[Any]:
    """Through one approximate oracle a chain learns and a reader of rows does not, n = 32, k = 16.

    An oracle of error O(n^(-2-ε/8)) lets one query with a chain learn, and hides the target from
    few queries without one once there are enough rows: a strict separation. Here the error is
    0.2n⁻² and both sides get N rows, N far below the number of inputs and of targets. With a chain
    one step (link cos, a score of ln M + 2.5) must be right on 2,000 fresh inputs although its
    gradient is wrong by that error in the worst of three ways. The learner without a chain reads
    rows and labels off its gradient, 1.5n of them in each query, and eliminates: one exact answer
    is enough for it, so the separation is one of precision. Through the oracle it must get the mean
    over all targets at every query. That needs N of about 6n³ rows. Only this learner is tried,
    where KS speaks of all.
    """
    for n, k, rows in trial.track(cells):
        trees, size = random_trees(n, k, runs, key=trial.seed), error / n**2
        seeds = [seed_of(trial.seed, at) for at in range(runs)]
        right = [
            all(step_under_error(tree, rows, size, seed, ABOVE).values())
            for tree, seed in zip(trees, seeds, strict=True)
        ]
        read = [
            read_through_oracle(n, k, rows, error=size, queries=queries, seed=seed)
            for seed in seeds
        ]
        where = f"n = {n}, N = {rows:,}"
        yield at_least(f"runs right with a chain after one query, {where}", Rate.of(right), MOST)
        hidden = Rate.of([each.hidden for each in read])
        yield at_least(f"runs hidden in {queries} queries without a chain, {where}", hidden, MOST)
        named = Rate.of([each.named for each in read])
        yield at_most(f"targets named without a chain, {where}", named, 1 - MOST)
        learns = Rate.of([each.exact for each in read])
        label = f"targets named without a chain if the oracle is exact, {where}"
        yield control(at_least(label, learns, MOST))
