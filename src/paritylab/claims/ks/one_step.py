"""Theorem 5: one teacher-forced step, its window of step sizes, how wrong its gradient may be."""

from collections.abc import Iterator, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import brentq

from paritylab.claims import KS, Heatmap, Line, Lines, SideBySide, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, note
from paritylab.learning import Sample, TeacherStep, learn
from paritylab.learning.chain.chain_accuracy import answers, draw_tokens, over_runs, tree_children
from paritylab.learning.chain.teacher import BATCH, teacher_gradient
from paritylab.models import CosineLink
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import AbstractLink, as_link
from paritylab.problem import ParityTree, random_trees
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import each_key, fold_keys
from paritylab.statistics import Rate, half_point
from paritylab.theory.ks import child_signal, tolerated_error

#: Where the error sits, in the order of `survived`.
ADVERSARIES = ("one pair", "every pair", "every entry at random")


def error_patterns(
    gradient: Float[Array, "tokens nodes"], leaves: Any, key: Any
) -> Float[Array, "adversaries tokens nodes"]:
    """An error of 1 per entry for every adversary.

    "one pair" tips the two children of the node that sampling has tipped most, further in the same
    direction; "every pair" does so at every node; the last moves all entries up or down at random.
    """
    tokens, nodes = gradient.shape
    children, at = tree_children(leaves, tokens - nodes).T, jnp.arange(nodes)
    tilt = gradient[children[0], at] - gradient[children[1], at]
    towards = jnp.where(tilt >= 0, 1.0, -1.0)
    every = jnp.zeros_like(gradient).at[children[0], at].set(towards)
    every = every.at[children[1], at].set(-towards)
    one = every * (at == jnp.argmax(jnp.abs(tilt)))[None, :]
    seen = visible_tokens(tokens - nodes, nodes + 1, "token")
    signs = jax.random.rademacher(key, gradient.shape, gradient.dtype)
    return jnp.stack([one, every, jnp.where(seen, signs, 0)])


def survived(
    trees: tuple[ParityTree, ...],
    samples: int,
    errors: Any,
    *,
    eta: float,
    link: Any = "cos",
    key: Any = 0,
    inputs: int = 500,
) -> np.ndarray:
    """Whether a step of size η is right on fresh inputs although each entry is wrong by an error.

    Flags (adversaries, errors, runs); every run uses one gradient from its own samples.
    """
    keys = fold_keys(as_key(key), np.arange(len(trees)))
    rule, n = as_link(link), trees[0].n
    gradients = [
        teacher_gradient(tree, jax.random.fold_in(each, 1), samples, link=rule, batch=BATCH)
        for tree, each in zip(trees, each_key(keys), strict=True)
    ]
    leaves = np.array([tree.leaves for tree in trees], dtype=np.int32)
    sizes = np.asarray(errors, np.float32)
    with jax.default_matmul_precision("highest"):
        right = _right(rule, np.float32(eta), jnp.stack(gradients), leaves, keys, sizes, n, inputs)
    return np.moveaxis(np.asarray(right), 0, -1)


@eqx.filter_jit
def _right(
    link: AbstractLink,
    eta: Any,
    gradients: Any,
    leaves: Any,
    keys: Any,
    errors: Any,
    n: int,
    inputs: int,
) -> Any:
    def one(gradient: Any, leaves: Any, key: Any) -> Any:
        tokens = draw_tokens(jax.random.fold_in(key, 2), leaves, n, inputs)

        def right(pattern: Any, error: Any) -> Any:
            scores = -eta * (gradient + error * pattern)
            return answers(ChainModel(scores, n, link), tokens).wrong == 0

        patterns = error_patterns(gradient, leaves, jax.random.fold_in(key, 3))
        return jax.lax.map(lambda p: jax.lax.map(lambda e: right(p, e), errors), patterns)

    return over_runs(one, gradients, leaves, keys)


LINK = CosineLink()
#: Errors per entry that are tried, times n².
ERRORS = np.geomspace(0.02, 0.6, 8)
#: What the one step must reach to count, and how far the tolerated error may be from its formula.
OFTEN, FACTOR = 0.7, 2.0
#: Step sizes over n² of the window.
WINDOW = (0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


@claim(
    "ks-thm5",
    KS("Theorem 5"),
    quick={"cells": ((64, 12),), "oracle_runs": 4},
    full={"cells": ((64, 20), (128, 20), (256, 20), (512, 20), (1024, 12)), "oracle_runs": 20},
    planted=(
        "a step a thousand times too short",
        {"cells": ((32, 12),), "oracle_runs": 2, "learner": TeacherStep(eta=1.0)},
        "refuted",
    ),
)
def thm5(
    trial: Trial,
    cells: Sequence[tuple[int, int]] = ((64, 12), (128, 12), (256, 12)),
    oracle_runs: int = 6,
    *,
    learner: TeacherStep | None = None,
) -> Iterator[Any]:
    """One step with teacher forcing learns the whole chain, k = n/2, n = 64 to 256.

    From W = 0, one gradient step of size of order n^(2+ε/16) on teacher-forced chains, seen through
    any oracle with an error O(n^(-2-ε/8)), makes the generated answer right on fresh inputs, with
    an error that falls with n. Here: the link -cos(πt), N = 1000n rows below n = 128 and 400n from
    there; a run is solved if it is right on 10,000 fresh inputs and every pair is found. Errors of
    the gradient tip one pair of children, every pair, or every entry at random, at a score
    s = ln M + 3 of the root's children. Half of the runs must tolerate at least half of what
    formulas of order n^(-2)/ln n say, which is above n^(-2-ε/8) for every ε once n is large.
    """
    medians = []
    for n, runs in trial.track(cells):
        data = Sample(random_trees(n, n // 2, runs, key=trial.seed), _samples(n))
        done = learn(learner or TeacherStep(), data, key=trial.seed)
        yield at_least(f"runs solved after one step, n = {n}", done.rate("solved"), OFTEN)
        medians.append(float(np.median(done.stats["largest_error"])))
        *on_pairs, at_random = _tolerated_errors(n, oracle_runs, trial.seed)
        for name, part in zip(ADVERSARIES, on_pairs, strict=False):
            label = f"tolerated error on {name} over its formula, n = {n}"
            yield at_least(label, part, 1 / FACTOR)
        yield note(f"tolerated error at random over 0.4·signal/s, n = {n}", at_random)
    sizes = [n for n, _ in cells]
    if len(sizes) > 1:
        label = f"median largest error, n = {sizes[-1]} over n = {sizes[0]}"
        yield at_most(label, medians[-1] / medians[0], 1)
    from_n = "n from which n^(-2-ε/8) itself is tolerated, ε = 1 (formula)"
    yield note(from_n, _constant_one_from())
    yield SideBySide(
        [
            Lines([Line("median", sizes, medians)], "n", "largest |ŷ - y|", log="xy"),
            _window_figure(sizes[0], trial.seed),
            _attention_figure(trial.seed),
        ],
        caption="Error after one step; the window of step sizes; attention of every inner node "
        "at n = 32, k = 8, rings on the true children.",
    )


def _samples(n: int) -> int:
    return 1000 * n if n < 128 else 400 * n


def _tolerated_errors(n: int, runs: int, seed: int) -> list[float]:
    """The error per entry at which half of the runs fail, over its formula, by adversary.

    On one pair of children the formula is 0.4·signal/s, on every pair signal/(2cs). Errors at
    random have none and are compared with the first.
    """
    k, score = n // 2, float(np.log(1.5 * n - 2)) + 3
    eta = score / child_signal(n + k - 2, LINK)
    trees = random_trees(n, k, runs, key=seed)
    right = survived(trees, _samples(n), ERRORS / n**2, eta=eta, key=seed, inputs=300)
    one, every = tolerated_error(n, k, score, LINK)
    halves = [half_point(ERRORS, ~flags) / n**2 for flags in right]
    return [half / formula for half, formula in zip(halves, (one, every, one), strict=True)]


def _constant_one_from() -> float:
    """n at which n^(-1/8) meets n² times the formula for one pair, with the limit of the signal."""

    def excess(log_n: float) -> float:
        signal = 2 * LINK.curvature / 1.5**2
        return float(log_n / 8 + np.log(0.4 * signal / (log_n + np.log(1.5) + 3)))

    return float(np.exp(brentq(excess, 1, 100)))


def _window_figure(n: int, seed: int) -> Lines:
    """Runs right on every input by η/n², 3 targets each."""
    data = Sample(random_trees(n, n // 2, 3, key=seed), _samples(n))
    rates = [
        Rate.of(learn(TeacherStep(eta=factor * n * n), data, key=seed).stats["accuracy"] == 1)
        for factor in WINDOW
    ]
    lines = [Line.of_rates("3 targets each", WINDOW, rates)]
    return Lines(lines, "η/n²", f"share of runs right, n = {n}", log="x")


def _attention_figure(seed: int) -> Heatmap:
    tree = random_trees(32, 8, 1, key=seed)[0]
    model = learn(TeacherStep(), Sample(tree, 64_000), key=seed).model(0)
    points = [(int(token), node) for node, pair in enumerate(tree.children) for token in pair]
    values = np.asarray(model.attention()).T
    return Heatmap(values, "token", "inner node", title="after one step", points=points)
