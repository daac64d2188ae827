"""Theorem 7's integer weights: what (11) says of them, and rounding weights or updates."""

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from scipy.stats import norm

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
    drawn,
    holds,
    record,
    refuted,
    shown,
    undecided,
)
from paritylab.learning.chain.levels import Stream, level_step, loss_and_gradient
from paritylab.learning.chain.teacher import teacher_gradient
from paritylab.models import CosineLink
from paritylab.models.chain import ChainModel
from paritylab.precision import float64
from paritylab.problem import ParityTree, random_tree
from paritylab.problem.keys import as_key
from paritylab.problem.tree import level_ends
from paritylab.theory.ks import row_law
from paritylab.theory.ks_gradient import TokenKind, level_gradient

LINK = CosineLink()
#: Leaves, the size at which errors and trained weights are looked at, rows of a sampled step, and
#: how many such steps there are.
K, AT, SAMPLES, STEPS = 8, 64, 2**18, 3
#: Weights of the children whose error is measured.
WEIGHTS = (8, 10, 12, 14, 16)
#: What falls faster than this power of n counts as falling faster than every power.
STEEP = -20.0


@record()
class Exact:
    """Weights by level after one exact step, before rounding."""

    n: int
    children: list[float] = shown("weight of a child before rounding, by level")
    others: float = shown("irrelevant weight farthest from 0 before rounding", predicted=0)

    def __str__(self) -> str:
        return f"n = {self.n}"


@record()
class RoundedStep:
    """Irrelevant weights of the first level after STEPS steps from SAMPLES rows: share that rounds
    to -1 or beyond, measured and as a Gaussian around the exact value says; number of weights."""

    n: int
    share: float = shown("irrelevant weights that round to -1 (share)", against="predicted")
    predicted: float
    weights: int = drawn()

    def __str__(self) -> str:
        return f"n = {self.n}, {SAMPLES:,} rows"


@record()
class Weights:
    """errors: |ŷ - y| at n = AT for children's WEIGHTS, all others 0. moved: η|∂L/∂w| once every
    level is trained. beyond: at the middle of WEIGHTS. zero_from: the least power of two n from
    which, by formula, less than one of the irrelevant weights misses 0 when N = n^2.5."""

    exact: list[Exact]
    sampled: list[RoundedStep]
    errors: np.ndarray = shown("largest error", by="weights")
    moved: float = shown("trained weights move by at most", predicted="below ½")
    beyond: float = shown("largest error with irrelevant weights at -1 over that with 0")
    zero_from: float = shown("irrelevant weights all 0 from n (formula)")

    @property
    def weights(self) -> list[str]:
        return [f"children at {weight}" for weight in WEIGHTS]

    @derived("power of n of an irrelevant weight over a child's", predicted="below -ε/16, every ε")
    def power(self) -> float:
        """Between the last two sizes; -∞ if irrelevant weights are 0."""
        ends = self.exact[-2:]
        if ends[-1].others == 0:
            return float("-inf")
        shares = [abs(each.others) / max(each.children) for each in ends]
        return float(np.log(shares[1] / shares[0]) / np.log(ends[1].n / ends[0].n))

    @derived("d ln(error)/dw in the children's weight w", predicted="below 0")
    def slope(self) -> float:
        return float(np.polyfit(WEIGHTS, np.log(np.maximum(self.errors, 1e-300)), 1)[0])


@claim(
    "ks-weights",
    source=KS("Theorem 7; Appendix C, weights (11)"),
    title="Integer weights: equal on children, 0 elsewhere, and an exponentially small error",
    statement="After its step every node of Theorem 7 weighs its two children by the same integer "
    "r[C·n^(ε/16)] and everything else by 0; trained weights stay, and the largest error at the "
    "end is exponentially small in those weights, exp(-Ω(n^(ε/16))); for every ε > 0.",
    quick={"sizes": (32, 128), "sampled": (32,)},
    full={"sizes": (32, 64, 128, 256, 512), "sampled": (32, 64, 128, 256)},
    settings={"link": "-cos(πt)", "k": K, "η": "level_step", "rows of a sampled step": SAMPLES},
    seconds=(7, 10, 30),
)
def weights(
    trial: Trial,
    sizes: Sequence[int] = (32, 64, 128, 256),
    sampled: Sequence[int] = (32, 64),
    *,
    law: Callable[..., tuple[TokenKind, ...]] = level_gradient,
) -> Weights:
    exact = [_exact(n, law) for n in trial.track(sizes)]
    tree = random_tree(trial.seed, AT, K)
    middle = [float(WEIGHTS[len(WEIGHTS) // 2])] * 3
    taken, left = (
        _largest_error(_model(tree, middle, others), tree, trial.seed) for others in (-1.0, 0.0)
    )
    return Weights(
        exact,
        [_rounded(n, trial.seed) for n in sampled],
        np.array([_largest_error(_model(tree, [w] * 3), tree, trial.seed) for w in WEIGHTS]),
        _moved(tree, trial.seed),
        taken / left,
        _zero_from(),
    )


def _exact(n: int, law: Callable[..., tuple[TokenKind, ...]] = level_gradient) -> Exact:
    eta = level_step(n, K, LINK)
    kinds = [law(n, K, level, LINK) for level in range(1, K.bit_length())]
    others = [-eta * kind.gradient for each in kinds for kind in each[1:]]
    return Exact(n, [-eta * each[0].gradient for each in kinds], min(others, key=lambda w: -abs(w)))


def _rounded(n: int, seed: int) -> RoundedStep:
    tree, eta = random_tree(seed, n, K), level_step(n, K, LINK)
    gradients = np.array(
        [
            teacher_gradient(tree, STEPS * seed + step, SAMPLES, mask="level")[:n, : K // 2]
            for step in range(STEPS)
        ]
    )
    first = np.ones((n, K // 2), dtype=bool)
    first[tree.children[: K // 2].T, np.arange(K // 2)] = False
    moved = np.round(-eta * gradients[:, first])
    law, kinds = row_law(np.array([n, n + 1]), LINK), level_gradient(n, K, 1, LINK)
    noise = eta * law.noise[0] / np.sqrt(SAMPLES)
    return RoundedStep(
        n,
        float(np.mean(moved <= -1)),
        float(norm.cdf((-0.5 + eta * kinds[1].gradient) / noise)),
        moved.size,
    )


def _model(tree: ParityTree, by_level: Sequence[float], others: float = 0.0) -> ChainModel:
    """Every node's children at the weight of its level, all other weights the same."""
    scores = np.full((tree.size, tree.k - 1), others)
    for node, (pair, level) in enumerate(zip(tree.children, tree.levels, strict=True)):
        scores[pair, node] = by_level[level - 1]
    return ChainModel(scores, tree.n, LINK, "level")


def _largest_error(model: ChainModel, tree: ParityTree, seed: int) -> float:
    signs = np.random.default_rng([seed, 5]).choice([-1.0, 1.0], (2048, tree.n))
    with float64():
        root = np.asarray(model.generate(jnp.asarray(signs)))[:, -1]
    return float(np.abs(root - signs[:, list(tree.leaves)].prod(axis=1)).max())


def _moved(tree: ParityTree, seed: int) -> float:
    """Largest η|∂L/∂w| of the whole chain at weights (11), all levels trained."""
    eta = level_step(tree.n, tree.k, LINK)
    rounded = [round(each) for each in _exact(tree.n).children]
    model = _model(tree, rounded)
    model = model.with_parameters(model.scores.astype(np.float32))
    rows = Stream(np.asarray(tree.leaves, np.int32), as_key(seed), np.int32(4096), 4096)
    _, gradient = loss_and_gradient(model, jnp.ones(tree.depth), rows, "full")
    return float(eta * jnp.abs(gradient).max())


def _zero_from() -> float:
    """With k = n/2, root score ln M + 3 and N = n^2.5, to leading order: the irrelevant weights lie
    around -2s/M with a standard deviation s√(2M/N)."""
    for power in range(5, 40):
        n = 2.0**power
        ends = np.array(level_ends(int(n), int(n) // 2)[:-1], dtype=float)
        scores = (np.log(1.5 * n) + 3) * (1.5 * n / ends) ** 2
        spread = scores * np.sqrt(2 * ends / n**2.5)
        nodes = n / 2 / 2.0 ** np.arange(1, len(ends) + 1)
        missed = nodes * ends * 2 * norm.sf((0.5 - 2 * scores / ends) / spread)
        if missed.sum() < 1:
            return n
    return float("inf")


@weights.judge
def _weights(w: Weights) -> Judged:
    apart = max(abs(step.share - step.predicted) for step in w.sampled)
    first, last = w.exact[0], w.exact[-1]
    counted = "; ".join(
        f"{s.share:.1%} of {s.weights} at n = {s.n} ({s.predicted:.1%} by formula)"
        for s in w.sampled
    )
    text = (
        f"Exactly, children get {', '.join(f'{c:.1f}' for c in last.children)} by level at "
        f"n = {last.n}, and the irrelevant weight farthest from 0 is {first.others:.2f} at "
        f"n = {first.n} and {last.others:.2f} at n = {last.n}: it rounds to 0 once n is large. "
        f"From {SAMPLES:,} rows these round to -1 or beyond on the first level: {counted}. At "
        f"weights (11), n = {AT}, trained weights move by at most {w.moved:.0e}, and the largest "
        f"error falls like e^({w.slope:.2f}w) in the children's weight w, from {w.errors[0]:.1e} "
        f"to {w.errors[-1]:.1e}. By formula less than one irrelevant weight misses 0 from "
        f"n = {w.zero_from:.0f} on with N = n^2.5, k = n/2. But an irrelevant weight is "
        f"n^{w.power:.2f} of a child's n^(ε/16), whatever N."
    )
    margin = min(abs(0.5 - abs(last.others)), abs(0.5 - w.moved), abs(w.slope + 0.5))
    if apart > 0.1:
        return undecided(f"Formula and samples differ by {apart:.0%}. {text}")
    if abs(last.others) > 0.5 or abs(last.others) > abs(first.others):
        instead = f"Irrelevant weights go to {round(last.others)}, not to 0."
        return refuted(text, instead=instead, margin=margin)
    if w.slope > -0.5:
        instead = f"The error falls like e^({w.slope:.2f}w) only."
        return refuted(text, instead=instead, margin=margin)
    if w.moved > 0.5 or not np.isfinite(w.zero_from) or w.beyond >= 1:
        instead = "Trained weights move on, or irrelevant ones do harm, as measured."
        return refuted(text, instead=instead, margin=margin)
    if w.power > STEEP:
        return corrected(
            text,
            instead="(11) holds for ε < 16: in expectation an irrelevant weight is -2/M of a "
            "child's, of order n^(ε/16 - 1). For larger ε it rounds to a negative integer. The "
            "error is exponentially small all the same: with irrelevant weights at -1 it is "
            f"{w.beyond:.2f} of that with 0.",
            margin=margin,
            counterexample=True,
        )
    return holds(text, margin=margin)


@weights.planted("a law whose gradient is exactly 0 off the children", turns="holds")
def _no_rest(trial: Trial) -> Weights:
    def alone(*given: object) -> tuple[TokenKind, ...]:
        child, *others = level_gradient(*given)  # type: ignore[arg-type]
        return child, *(kind._replace(gradient=0.0) for kind in others)

    return weights.measure(trial, **weights.quick, law=alone)


@weights.figure
def _weights_figure(w: Weights) -> SideBySide:
    n = [each.n for each in w.exact]
    return SideBySide(
        [
            Lines([Line("exact", n, [-each.others for each in w.exact])], "n", "-w, irrelevant"),
            Lines([Line("n = 64", WEIGHTS, w.errors)], "w of the children", "|ŷ - y|", log="y"),
        ],
        caption="The irrelevant weight farthest from 0 before rounding; the largest error.",
    )


@record(evidence="exact")
class Quantised:
    """Rounding the new weight against adding the rounded update, from integer weights."""

    apart: float = shown("random updates for which the two differ (share)", predicted=0)
    halves_even: float = shown("updates on a half for which they do, halves to even (share)")
    halves_up: float = shown("updates on a half for which they do, halves upwards (share)")
    updates: int = drawn()


@claim(
    "ks-quantised",
    source=KS("Section 3.3, quantisation"),
    title="Rounding the weights is the same as rounding the updates",
    statement="Rounding every weight to the nearest integer after an update is equivalent to "
    "rounding the update itself.",
    quick={"updates": 10_000},
    full={"updates": 10_000_000},
    settings={"weights": "integers from -20 to 20", "updates": "uniform from -10 to 10"},
    seconds=(1, 1, 1),
    counted=False,
)
def quantised(trial: Trial, updates: int = 100_000) -> Quantised:
    generator = np.random.default_rng(trial.seed)
    old, moves = generator.integers(-20, 21, updates), generator.uniform(-10, 10, updates)
    halves = np.floor(moves) + 0.5

    def differ(by: np.ndarray, up: bool = False) -> float:
        def rounded(x: np.ndarray) -> np.ndarray:
            return np.floor(x + 0.5) if up else np.round(x)

        return float(np.mean(rounded(old + by) != old + rounded(by)))

    return Quantised(differ(moves), differ(halves), differ(halves, up=True), updates)


@quantised.judge
def _quantised(q: Quantised) -> Judged:
    text = (
        f"From integer weights the two ways differ for {q.apart:.2%} of {q.updates:,} random "
        f"updates. Where an update ends on a half they differ in {q.halves_even:.0%} of cases if "
        f"halves are rounded to even, as arrays do, and in {q.halves_up:.0%} if they are rounded "
        "up; the proof's choice of η leaves no such updates."
    )
    margin = q.apart if q.apart > 0 else 1.0
    if q.apart > 0.01:
        return refuted(text, instead="The two ways of rounding are different.", margin=margin)
    if q.apart > 0 or q.halves_up > 0:
        instead = f"The same for all but {max(q.apart, q.halves_up):.1%} of updates."
        return corrected(text, instead=instead, margin=margin)
    return holds(text, margin=margin)
