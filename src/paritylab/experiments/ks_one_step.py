"""Theorem 5: one teacher-forced step, errors that its gradient tolerates, its own schedule."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from paritylab.learning import (
    AdversarialError,
    Chain,
    RandomSignError,
    Sample,
    SplitPairError,
    learn,
)
from paritylab.learning.chain.evaluation import judge_chain, pairs_found
from paritylab.learning.chain.oracles import Oracle, Query
from paritylab.learning.chain.teacher import teacher_gradient
from paritylab.models import CosineLink
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.problem import ParityTree, random_trees
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import seed_of
from paritylab.statistics import Estimate, Mean, Rate, half_point
from paritylab.theory.ks import child_signal, row_law, tolerated_error

#: Where the error sits, in the order of `survive_errors`.
ADVERSARIES = ("one pair", "every pair")


def error_patterns(
    gradient: Float[np.ndarray, "tokens nodes"], tree: ParityTree
) -> Float[np.ndarray, "adversaries tokens nodes"]:
    """An error of 1 per entry for every adversary.

    "one pair" tips the two children of the node that sampling has tipped most, further in the same
    direction; "every pair" does so at every node.
    """
    children, at = tree.children.T, np.arange(gradient.shape[1])
    tilt = gradient[children[0], at] - gradient[children[1], at]
    every = np.zeros_like(gradient)
    every[children[0], at] = towards = np.where(tilt >= 0, 1.0, -1.0)
    every[children[1], at] = -towards
    return np.stack([every * (at == np.abs(tilt).argmax()), every])


def survive_errors(
    trees: Sequence[ParityTree], samples: int, errors: Any, *, eta: float, seed: int = 0
) -> Bool[np.ndarray, "adversaries errors runs"]:
    """Whether a step of size η is right on 300 fresh inputs with each entry wrong by an error.

    Every run has one gradient, from its own samples.
    """
    right = np.zeros((len(ADVERSARIES), len(errors), len(trees)), bool)
    for run, tree in enumerate(trees):
        own = seed_of(seed, run)
        gradient = np.asarray(teacher_gradient(tree, own, samples))
        for who, pattern in enumerate(error_patterns(gradient, tree)):
            for at, error in enumerate(errors):
                model = ChainModel(-eta * (gradient + error * pattern), tree.n)
                right[who, at, run] = judge_chain(model, tree, own + 1, 300) == 1
    return right


def step_under_error(
    tree: ParityTree, samples: int, epsilon: float, key: int = 0, above: float = 5.0
) -> dict[str, bool]:
    """Whether one teacher-forced step is still right if its gradient is wrong by epsilon.

    adversarial: an error of norm epsilon straight against the gradient. random: the same norm over
    all entries at random. split: two entries, those of the pair of children that differ most, moved
    further apart by epsilon each, which is the worst for the balance that a node needs. Right means
    every pair found and the sign of the answer on 2,000 fresh inputs. The step gives the children
    of the root ln M + above.
    """
    gradient, tokens = teacher_gradient(tree, key, samples), tree.n + tree.k - 2
    eta = (np.log(tokens) + above) / child_signal(tokens, LINK)
    oracles: dict[str, Oracle] = {
        "adversarial": AdversarialError(epsilon),
        "random": RandomSignError(epsilon / float(np.sqrt(gradient.size))),
        "split": SplitPairError(epsilon),
    }
    outcomes, query = {}, Query(as_key(key), tree.children)
    for name, oracle in oracles.items():
        model = ChainModel(-eta * oracle.answer(gradient, query).gradient, tree.n)
        found = float(pairs_found(model.scores, np.asarray(tree.leaves))) == 1
        outcomes[name] = found and judge_chain(model, tree, key + 1, 2000) == 1
    return outcomes


LINK = CosineLink()
#: Errors per entry that are tried, times n².
ERRORS = np.geomspace(0.02, 0.6, 8)


def rows_of_theorem5(n: int) -> int:
    """Rows of the one step: 1000n below n = 128 and 400n from there."""
    return 1000 * n if n < 128 else 400 * n


def measure_tolerated_errors(n: int, runs: int, seed: int) -> list[float]:
    """The error per entry at which half of the runs fail, over its formula, by adversary.

    On one pair of children the formula is 0.4·signal/s, on every pair signal/(2cs).
    """
    k, score = n // 2, float(np.log(1.5 * n - 2)) + 3
    eta = score / child_signal(n + k - 2, LINK)
    trees = random_trees(n, k, runs, key=seed)
    right = survive_errors(trees, rows_of_theorem5(n), ERRORS / n**2, eta=eta, seed=seed)
    halves = [half_point(ERRORS, ~flags) / n**2 for flags in right]
    formulas = tolerated_error(n, k, score, LINK)
    return [half / formula for half, formula in zip(halves, formulas, strict=True)]


#: ε of N = n^(2+ε) and η = PACE·n^(2+ε/16).
EPSILON, PACE = 0.5, 1.6
#: The constant of the promised error O(n^(-ε/8)): ½ at n = 80, where every answer has its sign.
PROMISE = 2 / 3


class ScheduledRuns(NamedTuple):
    """Runs of the theorem's schedule at one size.

    errors: the largest |ŷ - y| of every run. balance: median of the children's largest distance
    from ½. leak: median of the largest share of a node's attention off its children. tilt: root
    mean square of the difference of two children's scores over its formula.
    """

    n: int
    errors: np.ndarray
    balance: float
    leak: float
    tilt: float

    @property
    def failed(self) -> Rate:
        """Runs with an error above the promise."""
        return Rate.of(self.errors > PROMISE * self.n ** (-EPSILON / 8))


def train_on_schedule(n: int, k: int, runs: int, seed: int, rows: float) -> ScheduledRuns:
    """Train one step on N = n^(2+ε) rows with η of order n^(2+ε/16); rows: multiplies N."""
    samples = round(rows * n ** (2 + EPSILON))
    eta = PACE * n ** (2 + EPSILON / 16)
    trees = random_trees(n, k, runs, key=seed)
    done = learn(Chain.theorem5(eta=eta), Sample(trees, samples), key=seed)
    scores = np.array([model.scores for model in done.models], dtype=np.float64)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True)) * visible_tokens(n, k, "token")
    shares /= shares.sum(axis=1, keepdims=True)
    nodes = np.arange(k - 1)
    pairs, lifted = (
        np.array([a[tree.children.T, nodes] for a, tree in zip(each, trees, strict=True)])
        for each in (shares, scores)
    )
    tilt = eta * row_law(n + nodes, LINK).tilt / np.sqrt(samples)
    return ScheduledRuns(
        n,
        done.stats["largest_error"],
        float(np.median(np.abs(pairs - 0.5).max(axis=(1, 2)))),
        float(np.median((1 - pairs.sum(axis=1)).max(axis=1))),
        float(np.sqrt(np.mean(((lifted[:, 0] - lifted[:, 1]) / tilt) ** 2))),
    )


def error_exponent(made: Sequence[ScheduledRuns]) -> Estimate:
    """Exponent in n of the largest error between the first and the last size, over geometric means
    of the runs."""
    small, large = (Mean.of(np.log(np.maximum(made[at].errors, 1e-12))) for at in (0, -1))
    log_n = np.log(made[-1].n / made[0].n)
    half = float(np.hypot(large.high - large.value, small.high - small.value) / log_n)
    exponent = float((large.value - small.value) / log_n)
    return Estimate(exponent, exponent - half, exponent + half, small.runs + large.runs)
