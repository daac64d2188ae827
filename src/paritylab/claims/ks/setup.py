"""Section 2 and Figures 1 to 3 as they are drawn; the link and what it costs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from paritylab.claims import (
    KS,
    Heatmap,
    Judged,
    Line,
    Lines,
    SideBySide,
    Trial,
    claim,
    corrected,
    holds,
    refuted,
)
from paritylab.learning.chain.levels import filter_levels
from paritylab.models import CosineLink
from paritylab.models.chain import ChainModel, visible_tokens
from paritylab.models.links import SlopedLink
from paritylab.precision import float64
from paritylab.problem import ParityTree
from paritylab.theory.ks import child_signal

#: Figure 1's tree: 16 bits, 8 leaves, the first two on x_1 and x_4; the text names no others.
LEAVES = (0, 3, 6, 7, 9, 11, 12, 15)
#: What a value known exactly may be off by rounding.
ROUNDING = 1e-9


class Drawn(NamedTuple):
    """What the figures show, each as a flag by its name; written: per token of Figure 2 (a) the
    round from which it no longer changes, minus its number m - d."""

    flags: dict[str, bool]
    written: np.ndarray


@claim(
    "ks-figures",
    source=KS("Figures 1, 2 and 3; Section 2"),
    title="The figures: the tree, the generation of tokens, the filter and the masks",
    statement="In Figure 1 node 17 has children 1 and 4, parent 21 and height 1, and x_1 x_4 x_17 "
    "is trivial; in Figure 2 token m is final after m - d rounds, and the filter zeroes what "
    "follows an uninformative level; Figure 3's masks open all earlier tokens or all lower levels.",
    quick={"rows": 64},
    full={"rows": 4096},
    settings={"n": 16, "k": 8, "leaves (1-based)": tuple(leaf + 1 for leaf in LEAVES)},
    seconds=(4, 4, 4),
)
def figures(trial: Trial, rows: int = 256) -> Drawn:
    tree, generator = ParityTree(16, LEAVES), np.random.default_rng(trial.seed)
    signs = generator.choice([-1.0, 1.0], (rows, 16))
    scores = generator.normal(size=(tree.size, tree.k - 1))
    flags = {**_figure1(tree, signs), **_figure2b(tree, signs), **_figure3(tree)}
    return Drawn(flags, _written(ChainModel(scores, 16, CosineLink(), "token"), signs))


def _figure1(tree: ParityTree, signs: np.ndarray) -> dict[str, bool]:
    tokens = np.asarray(tree.tokens(jnp.asarray(signs)))
    return {
        "x_17 = x_1 x_4": tree.children[0].tolist() == [0, 3],
        "parent 21": int(tree.parents[16]) == 20,
        "height 1": int(tree.levels[0]) == 1,
        "levels end at 16, 20, 22, 23": tree.ends == (16, 20, 22, 23),
        "x_1 x_4 x_17 = 1": bool(np.all(tokens[:, 0] * tokens[:, 3] * tokens[:, 16] == 1)),
        "the root is the parity": bool(
            np.all(tokens[:, -1] == signs[:, list(tree.leaves)].prod(axis=1))
        ),
    }


def _figure2b(tree: ParityTree, hints: np.ndarray) -> dict[str, bool]:
    """Levels that pass the filter with 0, 1, 2 and 3 levels solved: the filter looks one below."""
    passed = []
    for solved in range(tree.depth + 1):
        scores = np.zeros((tree.size, tree.k - 1))
        for node, (pair, level) in enumerate(zip(tree.children, tree.levels, strict=True)):
            scores[pair, node] = 30.0 * (level <= solved)
        model = ChainModel(scores, tree.n, CosineLink(), "level")
        passed.append(int(np.sum(filter_levels(model, jnp.asarray(hints[:8]), 1.6))))
    expected = [min(solved + 1, tree.depth) for solved in range(tree.depth + 1)]
    return {"the filter zeroes what follows an uninformative level": passed == expected}


def _figure3(tree: ParityTree) -> dict[str, bool]:
    token, level = (visible_tokens(tree.n, tree.k, mask).sum(axis=0) for mask in ("token", "level"))
    return {
        "left mask: all earlier tokens": token.tolist() == list(range(16, 23)),
        "right mask: all lower levels": level.tolist() == [16] * 4 + [20] * 2 + [22],
    }


def _written(model: ChainModel, signs: np.ndarray) -> np.ndarray:
    """Per generated token, the round after which it stays, minus m - d."""
    with float64():
        final = np.asarray(model.generate(jnp.asarray(signs)))
        tokens = jnp.concatenate([jnp.asarray(signs), jnp.zeros((len(signs), model.k - 1))], axis=1)
        off = []
        for _ in range(model.k - 1):
            tokens = model.iterate(tokens)
            off.append(np.abs(np.asarray(tokens) - final).max(axis=0)[model.n :] > 1e-12)
    last_wrong = np.array(
        [
            max((at + 1 for at, row in enumerate(off) if row[m]), default=0)
            for m in range(model.k - 1)
        ]
    )
    return last_wrong + 1 - np.arange(1, model.k)


@figures.judge
def _figures(d: Drawn) -> Judged:
    wrong = [name for name, right in d.flags.items() if not right]
    late = int(d.written.max())
    text = (
        f"{len(d.flags) - len(wrong)} of {len(d.flags)} statements of the figures are as drawn"
        f"{': not ' + ', '.join(wrong) if wrong else ''}; every token m is final from round "
        f"m - d{f' + {late}' if late > 0 else ''} on."
    )
    shared: dict[str, Any] = {"runs": len(d.flags) + d.written.size, "margin": 1.0}
    if len(wrong) > 0 or late > 0:
        instead = f"Otherwise: {', '.join(wrong) or 'tokens change after round m - d'}."
        return refuted(text, instead=instead, **shared)
    return holds(text, **shared)


@figures.figure
def _figures_figure(d: Drawn) -> SideBySide:
    masks = {"token": "with teacher forcing", "level": "without"}
    return SideBySide(
        [
            Heatmap(visible_tokens(16, 8, mask).T.astype(float), "token", "inner node", title=title)
            for mask, title in masks.items()
        ],
        caption="Figure 3 at n = 16, k = 8: what every inner node sees (positions from 0).",
    )


class Links(NamedTuple):
    """Links of the given largest slopes, quadratic near 0 and ±1 and straight between.

    off: from φ's conditions and from the curve drawn piece by piece, largest. steepest: largest
    |φ'| found. neurons: ReQU neurons each. curvature: c. signal: of a child over 2c/M², M tokens.
    """

    slopes: np.ndarray
    off: np.ndarray
    steepest: np.ndarray
    neurons: list[int]
    curvature: np.ndarray
    signal: np.ndarray
    tokens: int

    @property
    def g(self) -> np.ndarray:
        """log2‖φ'‖∞ + 1/2."""
        return np.log2(self.steepest) + 0.5


@claim(
    "ks-link",
    source=KS("Section 2.2; Section 3.3, after Lemma 6"),
    title="Six ReQU neurons make a link of any slope above 2, so g comes close to 1.5",
    statement="‖φ'‖∞ > 2 is needed, and any such value is reached by O(1) ReQU neurons, locally "
    "quadratic around 0 and ±1 and straight between; so g = log2‖φ'‖∞ + 1/2 can be close to 1.5.",
    quick={"slopes": (2.01, 2.2, 4.0)},
    full={"slopes": (2.001, 2.01, 2.05, 2.2, 2.5, 3.0, 4.0)},
    settings={"grid": "20,001 points of [-1, 1]", "M": 256},
    seconds=(1, 1, 2),
)
def link_shape(trial: Trial, slopes: Sequence[float] = (2.01, 2.05, 2.2, 2.5, 3.0, 4.0)) -> Links:
    made = [_link(slope) for slope in trial.track(slopes)]
    columns = (np.array(column) for column in zip(*made, strict=True))
    off, steepest, neurons, curvature, signal = columns
    return Links(
        np.array(slopes), off, steepest, neurons.astype(int).tolist(), curvature, signal, 256
    )


def _link(slope: float) -> tuple[float, float, int, float, float]:
    link, t = SlopedLink(slope), np.linspace(-1, 1, 20_001)
    with float64():
        values, slopes = (
            np.asarray(each) for each in (link(jnp.asarray(t)), link.slope(jnp.asarray(t)))
        )
    c, a, size = link.curvature, link.knee, np.abs(t)
    straight = c * a**2 - 1 + slope * (size - a)
    curve = np.select([size <= a, size <= 1 - a], [c * t**2 - 1, straight], 1 - c * (1 - size) ** 2)
    at = [0, 10_000, 20_000]
    ends = [*(values[at] - [1, -1, 1]), *slopes[at], *(values - values[::-1])]
    off = max(np.abs(values - curve).max(), np.abs(ends).max(), np.abs(values).max() - 1)
    signal = child_signal(256, link) * 256**2 / (2 * c)
    return float(off), float(np.abs(slopes).max()), len(link.neurons), c, signal


@link_shape.judge
def _link_shape(shape: Links) -> Judged:
    text = (
        f"{max(shape.neurons)} ReQU neurons meet every condition on φ to {shape.off.max():.0e} at "
        f"slopes {', '.join(f'{s:g}' for s in shape.slopes)}; g comes down to {shape.g.min():.3f}. "
        f"The price is the curvature, c = {shape.curvature.max():.0f} at slope "
        f"{shape.slopes.min():g} against {shape.curvature.min():.0f} at {shape.slopes.max():g}: "
        f"where the quadratic piece is short, a child's signal at M = {shape.tokens} tokens is "
        f"{shape.signal.min():.0%} of 2c/M² ({shape.signal.max():.0%} at best)."
    )
    excess = float((shape.steepest - shape.slopes).max())
    shared: dict[str, Any] = {
        "evidence": "exact",
        "runs": len(shape.slopes),
        "margin": min(abs(1.6 - float(shape.g.min())), abs(float(shape.steepest.min()) - 2)),
        "predicted": {"g": "> 1.5, arbitrarily close"},
    }
    if shape.off.max() > ROUNDING or shape.steepest.min() <= 2:
        return refuted(text, instead=f"A condition is missed by {shape.off.max():.1e}.", **shared)
    if excess > ROUNDING or shape.g.min() > 1.6 or max(shape.neurons) > 10:
        instead = f"g down to {shape.g.min():.2f} with {max(shape.neurons)} neurons."
        return corrected(text, instead=instead, **shared)
    return holds(text, **shared)


@link_shape.figure
def _link_shape_figure(shape: Links) -> Lines:
    return Lines(
        [
            Line("a child's signal over 2c/M²", shape.g, shape.signal),
            Line("10/c", shape.g, 10 / shape.curvature),
        ],
        x="g",
        y=f"M = {shape.tokens}",
        caption="A smaller exponent g costs curvature and signal.",
    )
