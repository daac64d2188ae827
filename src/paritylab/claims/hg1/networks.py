"""Feed-forward learners beside the heads: parameters, missing edges, fixed features."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import jax
import numpy as np

from paritylab.claims import (
    HG1,
    Judged,
    Line,
    Lines,
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
from paritylab.learning import AllInputs, Annealed, FeedForwardNet, Population, learn
from paritylab.learning.hardness.frozen import every_input, parity_of
from paritylab.learning.hardness.networks import random_features, worst_shares
from paritylab.models import HeadAttention, Zigzag, tied_network
from paritylab.precision import float64
from paritylab.problem import Parity, random_parities, random_parity
from paritylab.problem.sampling import seed_of
from paritylab.risk import population_risk
from paritylab.statistics import Rate
from paritylab.theory import hg1

#: Below this a difference that is 0 on paper is 0 but for rounding.
ROUNDING = 1e-9


@record()
class Counts:
    """Trained numbers and edges of k heads and of the FFNN-1 (one hidden layer) that they are.

    rate: with the paper's readout. difference: over all inputs and random draws of the heads. bits:
    after the point, by n.
    """

    n: int
    k: int
    rate: Rate = shown("runs that reach risk 0.05")
    difference: float = shown("largest difference between heads and their FFNN-1")
    numbers: int = shown("trained numbers", predicted="O(k)")
    edges: int = shown("edges of that FFNN-1", predicted="≥ n")
    draws: int
    bits: dict[int, int] = shown("bits that each number needs, by n")
    cited: float = shown("n·k⁷·log k")


@claim(
    "hg1-remark9",
    source=HG1("Remark 9"),
    title="k heads need O(k) parameters, feed-forward nets Ω(n)",
    statement="Transformers learn k-parity with O(k) parameters, significantly fewer than the "
    "lower bound Ω(n) for feed-forward nets (best known upper bound O(nk⁷ log k)).",
    quick={"n": 12, "k": 2, "runs": 40},
    full={"runs": 400, "draws": 100},
    settings={
        "learner": "heads with falling temperature, cos readout, 600 steps; then zigzag",
        "compared at": "n = 10",
    },
    seconds=(10, 3, 60),
)
def remark9(
    trial: Trial,
    n: int = 20,
    k: int = 3,
    runs: int = 60,
    draws: int = 20,
    *,
    steps: int = 600,
) -> Counts:
    targets = random_parities(n, k, runs, key=trial.seed)
    trained = learn(Annealed(steps=steps), Population(targets), key=trial.seed)
    risks = [
        _zigzag_risk(model, target) for model, target in zip(trained.models, targets, strict=True)
    ]
    problem = random_parity(trial.seed, 10, k)
    bits, difference = every_input(10), 0.0
    with float64():
        for draw in trial.track(range(draws)):
            heads = HeadAttention.random(
                seed_of(trial.seed, draw), problem, readout=Zigzag(k, 1e-2), tau=0.3
            )
            net = tied_network(heads)
            gap = jax.vmap(heads)(bits) - jax.vmap(net)(bits)
            difference = max(difference, float(abs(gap).max()))
    own = HeadAttention.random(0, Parity(n, tuple(range(k))))
    return Counts(
        n=n,
        k=k,
        rate=Rate.of(np.array(risks) < 0.05),
        difference=difference,
        numbers=own.count().trainable,
        edges=int(tied_network(own).edges.sum()),
        draws=draws,
        bits={size: hg1.bits_per_direction(size) for size in (16, 256, 4096)},
        cited=hg1.feedforward_upper_bound(n, k),
    )


def _zigzag_risk(heads: HeadAttention, problem: Parity) -> float:
    """Risk of trained heads under the paper's readout, with which they are an FFNN-1."""
    zigzag = HeadAttention(heads.directions, heads.code, problem.k, Zigzag(problem.k), heads.tau)
    return population_risk(zigzag, problem).value


@remark9.judge
def _remark9(c: Counts) -> Judged:
    learnt = (
        f"Heads of {c.numbers} trained numbers reach risk 0.05 in {c.rate.count} runs, "
        f"{c.rate.percent} (n = {c.n}, k = {c.k})"
    )
    bits = ", ".join(f"{b} (n = {n})" for n, b in c.bits.items())
    margin = min(abs(c.rate.low - 0.5), abs(c.rate.high - 0.5))
    if not c.rate.decides(0.5) or c.rate.high - c.rate.low > 0.25:
        return undecided(f"{learnt}, which does not decide.", interval=c.rate)
    if c.rate.high < 0.5:
        instead = f"Heads of {c.numbers} numbers do not learn: {c.rate}."
        return refuted(f"{learnt}.", instead=instead, margin=margin, interval=c.rate)
    if c.difference > ROUNDING:
        text = f"{learnt}; their FFNN-1 does something else (difference {c.difference:.1g})."
        return holds(text, margin=margin, interval=c.rate)
    return corrected(
        f"{learnt}. The same heads are an FFNN-1: over {c.draws} random heads and all inputs the "
        f"largest difference is {c.difference:.0e}. One count is of trained numbers, the other of "
        "edges.",
        instead=f"Ω(n) is a bound on edges with a number of their own. The FFNN-1 that the heads "
        f"are has {c.edges} edges tied to {c.numbers} numbers, and learns when they do: "
        f"the ties are what saves. Each number needs bits after the point: "
        f"{bits}.",
        margin=margin,
        interval=c.rate,
        counterexample=True,
    )


@remark9.planted("heads after a single step", turns="refuted")
def _untrained(trial: Trial) -> Counts:
    return remark9.measure(trial, 12, 2, 40, 2, steps=1)


@record()
class Edges:
    """A net with and without an edge, and linear classifiers on features that are not trained.

    cut: over `cut_runs` runs. half: random ReLU features from which on the parity of no k-set has
    squared loss above ½, one entry per cell. floor: ½·C(n, k). products: over all pairs B, by n.
    """

    whole: Rate = shown("runs solved with all edges")
    cut: float = shown("smallest risk without the edges of one bit", predicted="≥ 1")
    n: np.ndarray
    k: np.ndarray
    half: np.ndarray = shown("random features for squared loss ½ at every B", by="cells")
    floor: np.ndarray
    products: dict[int, float] = shown("largest squared loss on products of two bits, k = 2, by n")
    cut_runs: int = drawn()

    @property
    def cells(self) -> list[str]:
        return [f"n = {n}, k = {k}" for n, k in zip(self.n, self.k, strict=True)]

    @derived("growth of their number per bit at k = n/2")
    def per_bit(self) -> float:
        at = np.flatnonzero(2 * self.k == self.n)
        first, last = at[0], at[-1]
        factor = self.half[last] / self.half[first]
        return float(factor ** (1 / (self.n[last] - self.n[first])))


@claim(
    "hg1-ffnn-edge",
    source=HG1("Proposition 4, Section 2.1"),
    title="Removing one input edge stops a feed-forward learner",
    statement="A net without an edge to one bit of B stays at chance however it is trained; linear "
    "classifiers on q fixed features keep a non-trivial risk for some B unless q or the weights "
    "grow exponentially with n.",
    quick={"sizes": (6, 8), "runs": 12, "steps": 600},
    full={"sizes": (6, 8, 10, 12), "runs": 64, "steps": 5000},
    settings={"net": "n = 10, B = {1, 4, 8}, width 64, signs, adam 0.01", "features": "k = 2, n/2"},
    seconds=(8, 10, 300),
)
def ffnn_edge(
    trial: Trial,
    sizes: Sequence[int] = (6, 8, 10),
    runs: int = 16,
    steps: int = 1000,
    *,
    removed: tuple[int, ...] = (4,),
) -> Edges:
    problem = Parity(10, (1, 4, 8))
    whole, cut = (
        learn(
            FeedForwardNet(64, missing=missing, inputs="signs", batch=256, steps=steps),
            AllInputs(problem),
            runs=runs,
            key=trial.seed,
        )
        for missing in ((), removed)
    )
    cells = [(size, 2) for size in sizes] + [(size, size // 2) for size in sizes]
    half = [_half(n, k, trial.seed) for n, k in trial.track(cells)]
    n, k = (np.array(column) for column in zip(*cells, strict=True))
    floor = np.array([comb(*cell) / 2 for cell in cells])
    products = {size: _products(size) for size in sizes}
    least = float(cut.risk.min())
    return Edges(whole.rate(), least, n, k, np.array(half), floor, products, len(cut))


def _half(n: int, k: int, seed: int) -> int:
    """Random features that leave no k-set's parity a squared loss above ½."""
    shares = worst_shares(random_features(n, 2**n, seed=seed), list(combinations(range(n), k)))
    return int(np.searchsorted(shares, 0.5)) + 1


def _products(n: int) -> float:
    """Largest squared loss over all pairs B, linear on the C(n, 2) products of two bits."""
    bits, pairs = every_input(n), list(combinations(range(n), 2))
    features = np.stack([parity_of(bits, pair) for pair in pairs], axis=1)
    return float(1 - worst_shares(features, pairs)[-1])


@ffnn_edge.judge
def _ffnn_edge(e: Edges) -> Judged:
    edge = f"without the edges of one bit of B the smallest risk is {e.cut:.6f}, with them "
    edge += f"{e.whole} runs are solved"
    cells = "; ".join(f"{q} ({cell})" for q, cell in zip(e.half, e.cells, strict=True))
    worst = max(e.products.values())
    few = ", ".join(f"{comb(n, 2)} (n = {n})" for n in sorted(e.products))
    margin = min(abs(e.whole.low - 0.5), abs(0.5 - worst), abs(e.per_bit - 1.5))
    if e.cut < 1 - ROUNDING:
        instead = f"A missing edge leaves risk {e.cut:.4f}, not 1."
        return refuted(f"A net learns without the edge: {edge}.", instead=instead, margin=1 - e.cut)
    if e.whole.low <= 0.5 or e.whole.high - e.whole.low > 0.25 or e.per_bit < 1.5:
        text = f"No control or no growth to judge by: {edge}; {cells}."
        return undecided(text, interval=e.whole)
    if np.any(e.half < e.floor):
        text, instead = f"Few fixed features serve every B: {cells}.", f"The first half: {edge}."
        return corrected(text, instead=instead, margin=margin, interval=e.whole)
    if worst > 0.5:
        text = f"{edge}; random features needed: {cells}.".capitalize()
        return holds(text, margin=margin, interval=e.whole)
    enough = f"products of two bits, {few} of them, leave {worst:.0e} at k = 2"
    return corrected(
        f"The edge: {edge}. Fixed features: {enough}, with one weight of 1, so neither their "
        "number nor the weights need grow exponentially when k is fixed.",
        instead="For some B of size k the squared loss on q fixed features is at least 1 - q/C(n, "
        "k), exponential in n for k of order n. Random ReLU features that bring it to ½ for every "
        f"B: {cells}; at least {np.min(e.half / e.floor):.1f} times ½·C(n, k), and "
        f"{e.per_bit:.2f} times as many per bit at k = n/2.",
        margin=margin,
        interval=e.whole,
        counterexample=True,
    )


@ffnn_edge.planted("the edges of a bit outside B are removed instead", turns="refuted")
def _other_bit(trial: Trial) -> Edges:
    return ffnn_edge.measure(trial, (6, 8), 4, 600, removed=(0,))


@ffnn_edge.figure
def _ffnn_edge_figure(e: Edges) -> Lines:
    pair, middle = e.k == 2, 2 * e.k == e.n
    return Lines(
        [
            Line("k = 2", e.n[pair], e.half[pair]),
            Line("k = n/2", e.n[middle], e.half[middle]),
            Line("½·C(n, 2)", e.n[pair], e.floor[pair], style="--"),
            Line("½·C(n, n/2)", e.n[middle], e.floor[middle], style="--"),
        ],
        x="n",
        y="random features for squared loss ½ at every B",
        log="y",
        caption="Linear classifiers on features that are not trained: polynomially many serve a "
        "fixed k, exponentially many k = n/2.",
    )
