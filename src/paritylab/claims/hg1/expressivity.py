"""Propositions 3 and 4: what can be written down, and what cannot be learned without an edge."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import optax

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control, instead, note, repair
from paritylab.learning import AllInputs, Descent, learn
from paritylab.learning.hardness.frozen import smallest_pair_loss
from paritylab.models import FeedForward, FullFormAttention, parity_network, parity_transformer
from paritylab.problem import Parity
from paritylab.risk import enumerated_risk
from paritylab.theory import hg1

#: Below this a difference that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-9


def _with_first_threshold_1(problem: Parity) -> FeedForward:
    """The construction with its first threshold at 1 instead of 1/2, for a planted case."""
    network = parity_network(problem)
    first = np.arange(problem.k) == 0
    return replace(network, thresholds=np.asarray(network.thresholds) - 0.5 * first)


@claim(
    "hg1-prop3-ffnn",
    HG1("Proposition 3"),
    quick={"n": 6, "largest_k": 64},
    full={"n": 10, "largest_k": 1024},
    evidence="exact",
    planted=(
        "a net whose first threshold is 1 instead of 1/2",
        {"n": 5, "largest_k": 8, "construct": _with_first_threshold_1},
        "refuted",
    ),
)
def prop3_ffnn(
    trial: Trial,
    n: int = 8,
    largest_k: int = 256,
    *,
    construct: Callable[[Parity], FeedForward] = parity_network,
) -> Iterator[Any]:
    """A feed-forward net with k neurons expresses the parity of k bits, k up to 256.

    For every set B of size k there is a one-hidden-layer ReLU net with k neurons and 2k + 2
    distinct numbers whose risk is zero. A weight that many edges share counts once.
    """
    sets = [subset for k in range(1, n + 1) for subset in combinations(range(n), k)]
    risks, counts = [], set()
    for subset in trial.track(sets):
        network = construct(Parity(n, subset))
        risks.append(enumerated_risk(network, Parity(n, subset)).value)
        neurons = network.output.shape[0]
        counts.add((len(subset), network.distinct_numbers(), neurons, network.edge_numbers()))
    k, distinct, neurons, edges = np.transpose(sorted(counts))
    # The value at s involves only the first s neurons, so the largest k speaks for all smaller.
    off = max(abs(hg1.zigzag_at_integer(largest_k, s) - (-1) ** s) for s in range(largest_k + 1))
    says = [hg1.network_parameters(int(each)) for each in k]
    yield at_most(f"largest risk over all {len(sets)} sets B, n = {n}", max(risks), 0)
    yield at_most(f"largest error of the net at a whole sum, k = {largest_k}", off, 0)
    upto = f"k = 1 to {n}"
    off_says, off_k = np.abs(distinct - says).max(), np.abs(neurons - k).max()
    yield at_most(f"largest distance of the distinct numbers from 2k + 2, {upto}", off_says, 0)
    yield at_most(f"largest distance of the neurons from k, {upto}", off_k, 0)
    yield note(f"numbers of the net if each edge has its own, k = {n}", edges[-1])


#: A softmax risk of at most this counts as zero.
SMALL = 1e-3


@claim(
    "hg1-prop3-transformer",
    HG1("Proposition 3"),
    counted_with="hg1-temperature",
    quick={"sizes": (8, 12), "sets": 4},
    full={"sets": 32},
    evidence="exact",
    planted=("a temperature of 1/n³ in place of 1/n", {"sets": 1, "power": 3}, "holds"),
)
def prop3_transformer(
    trial: Trial, sizes: Sequence[int] = (8, 12, 16), sets: int = 8, *, power: int = 1
) -> Iterator[Any]:
    """k heads on B at temperature 1/n express the parity of k bits, k to 4, n = 8 to 16.

    k heads of unit norm that point at B, with the frozen head on top, have 18k + 2 numbers in all
    and risk zero. Tried for k = 1 to 4 with the squared hinge and softmax at the temperature
    tau = 1/n, where a risk up to 0.001 counts as zero.
    """
    ks, span = (1, 2, 3, 4), f"n = {min(sizes)} to {max(sizes)}"
    generator, hard, sharp = np.random.default_rng(trial.seed), 0.0, 0.0
    for k in trial.track(ks):
        for _ in range(sets):
            n = int(generator.choice(sizes))
            problem = Parity(n, tuple(generator.choice(n, k, replace=False).tolist()))
            hard = max(hard, enumerated_risk(parity_transformer(problem, hard=True), problem).value)
        soft = 0.0
        for n in sizes:
            problem = Parity(n, tuple(range(0, 2 * k, 2)))
            at_one, at_two = (
                enumerated_risk(parity_transformer(problem, tau=tau), problem).value
                for tau in (1 / n**power, 2 / n**2)
            )
            soft, sharp = max(soft, at_one), max(sharp, at_two)
        yield at_most(f"largest softmax risk at tau = 1/n, k = {k}, {span}", soft, SMALL)
    numbers = [abs(_numbers(k) - hg1.transformer_parameters(k)) for k in ks]
    yield at_most("largest distance of the numbers from 18k + 2, k = 1 to 4", max(numbers), 0)
    tried = f"{sets * len(ks)} sets B"
    yield repair(at_most(f"largest risk with hard attention, b = 0, {tried}", hard, 0))
    yield repair(at_most(f"largest softmax risk at tau = 2/n², k = 1 to 4, {span}", sharp, SMALL))
    yield instead(
        "With hard attention and b = 0 the risk is 0. With softmax it is at most "
        f"{sharp:.0e} at tau = 2/n², k = 1 to 4, {span}."
    )


def _numbers(k: int) -> int:
    """Numbers of k full attention matrices and the head on top, shared ones counted once."""
    problem = Parity(8, tuple(range(k)))
    full = FullFormAttention.embed(parity_transformer(problem))
    return int(full.matrices.size + parity_network(problem).distinct_numbers())


@claim(
    "hg1-prop4",
    HG1("Proposition 4"),
    quick={"widths": (16,), "starts": 4},
    full={"widths": (1, 4, 16, 64), "starts": 16},
    evidence="exact",
    planted=("the edges of a bit outside B are removed instead", {"missing": 0}, "refuted"),
)
def prop4(
    trial: Trial, widths: Sequence[int] = (4, 16), starts: int = 6, *, missing: int = 1
) -> Iterator[Any]:
    """A feed-forward net without an edge to a bit of B has risk 1 at every step, n = 8, k = 3.

    Feed-forward nets need Ω(n) parameters, one per edge, to learn k-parity by gradient descent: a
    net without an edge from some bit of B has risk 1 at every step t. Tried with 100 steps of
    L-BFGS on all inputs, B = {1, 4, 6}, smoothing b = 0.01. Edges count, as in Section 3;
    Proposition 3 counts distinct numbers, and numbers that edges share may be fewer (hg1-remark9).
    """
    problem = Parity(8, (1, 4, 6))
    start, end, pairs, whole = [], [], [], []
    for width in trial.track(widths):
        for absent in ((missing,), ()):
            model = partial(FeedForward.random, n=8, width=width, missing=absent, b=1e-2)
            learner = Descent(model, optimiser=optax.lbfgs(), steps=100)
            runs = learn(learner, AllInputs(problem), runs=starts, key=trial.seed, trace=100)
            if not absent:
                whole += runs.risk.tolist()
                continue
            start += runs.trace["risk"][:, 0].tolist()
            end += runs.risk.tolist()
            pairs += [smallest_pair_loss(model, problem, missing) for model in runs.models]
    bound = hg1.risk_without_edge()
    count, largest = f"{len(end)} nets, n = 8", max(*start, *end)
    yield at_most(f"largest risk without one bit of B, start or end, {count}", largest, 1)
    least = f"smallest risk after training without one bit of B, {count}"
    yield repair(at_least(least, min(end), bound - ROUNDING))
    label = "smallest summed loss of two inputs that differ in that bit"
    yield repair(at_least(label, min(pairs), 2 * bound - ROUNDING))
    yield control(at_most("smallest risk of the same nets with all edges", min(whole), 0.05))
    yield instead(
        "The risk is at least 1 at every step, since two inputs that differ in that bit get one "
        "answer and opposite labels. So every bit needs an edge, and Ω(n) edges are needed."
    )
