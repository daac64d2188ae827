"""Section 2 and Figures 1 to 3 as they are drawn; the link and what it costs."""

from collections.abc import Sequence

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
    derived,
    holds,
    record,
    refuted,
    shown,
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
#: The filter's ε₀, and the largest mean of the first tokens that its strings may have. Lemma 10
#: promises small means and no constant token; a few strings drawn at random may break both.
EPSILON, SMALL = 1.6, 0.5
#: What a value known exactly may be off by rounding.
ROUNDING = 1e-9
#: Tokens at which a child's signal is compared with its limit.
TOKENS = 256


@record(evidence="exact")
class Drawn:
    """What the figures show; late: per token m of Figure 2 (a) the round from which it no longer
    changes, minus m - d."""

    flags: dict[str, bool] = shown("as drawn")
    late: np.ndarray = shown("rounds after m - d in which token m still changes", predicted="≤ 0")


@claim(
    "ks-figures",
    source=KS("Figures 1, 2 and 3; Section 2"),
    title="The figures: the tree, the generation of tokens, the filter and the masks",
    statement="In Figure 1 node 17 has children 1 and 4, parent 21 and height 1, and x_1 x_4 x_17 "
    "is trivial; in Figure 2 token m is final after m - d rounds, and the filter zeroes what "
    "follows an uninformative level; Figure 3's masks open all earlier tokens or all lower levels.",
    quick={"rows": 64},
    full={"rows": 4096},
    settings={
        "n": 16,
        "k": 8,
        "leaves (1-based)": tuple(leaf + 1 for leaf in LEAVES),
        "filter": f"ε₀ = {EPSILON:g}, strings whose first tokens have means of at most {SMALL:g}",
    },
    seconds=(4, 4, 4),
    counted=False,
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
    tokens = np.asarray(tree.tokens(jnp.asarray(hints)))
    means = np.stack([tokens[:, :end].mean(axis=1) for end in tree.ends[:-1]])
    kept, passed = jnp.asarray(hints[np.abs(means).max(axis=0) <= SMALL]), []
    for solved in range(tree.depth + 1):
        scores = np.zeros((tree.size, tree.k - 1))
        for node, (pair, level) in enumerate(zip(tree.children, tree.levels, strict=True)):
            scores[pair, node] = 30.0 * (level <= solved)
        model = ChainModel(scores, tree.n, CosineLink(), "level")
        passed.append(int(np.sum(filter_levels(model, kept, EPSILON))))
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
    late = int(d.late.max())
    text = (
        f"{len(d.flags) - len(wrong)} of {len(d.flags)} statements of the figures are as drawn"
        f"{': not ' + ', '.join(wrong) if wrong else ''}; every token m is final from round "
        f"m - d{f' + {late}' if late > 0 else ''} on."
    )
    if len(wrong) > 0 or late > 0:
        instead = f"Otherwise: {', '.join(wrong) or 'tokens change after round m - d'}."
        return refuted(text, instead=instead)
    return holds(text)


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


@record()
class LinkShape:
    """A link of a given largest slope, quadratic near 0 and ±1 and straight between.

    off: from φ's conditions and from the curve drawn piece by piece, largest. steepest: largest
    |φ'| found. neurons: ReQU neurons. curvature: c. signal: of a child over 2c/M², M tokens.
    """

    slope: float
    off: float = shown("missed conditions on φ, by at most")
    steepest: float = shown("largest |φ'|", against="slope")
    neurons: int = shown("ReQU neurons", predicted="O(1)")
    curvature: float = shown("curvature c")
    signal: float = shown("a child's signal over 2c/M²")

    def __str__(self) -> str:
        return f"slope {self.slope:g}"

    @derived("g", predicted="> 1.5, arbitrarily close")
    def g(self) -> float:
        """log2‖φ'‖∞ + 1/2."""
        return float(np.log2(self.steepest) + 0.5)


@record(evidence="exact")
class Links:
    links: list[LinkShape]
    tokens: int


@claim(
    "ks-link",
    source=KS("Section 2.2; Section 3.3, after Lemma 6"),
    title="Six ReQU neurons make a link of any slope above 2, so g comes close to 1.5",
    statement="‖φ'‖∞ > 2 is needed, and any such value is reached by O(1) ReQU neurons, locally "
    "quadratic around 0 and ±1 and straight between; so g = log2‖φ'‖∞ + 1/2 can be close to 1.5.",
    quick={"slopes": (2.01, 2.2, 4.0)},
    full={"slopes": (2.001, 2.01, 2.05, 2.2, 2.5, 3.0, 4.0)},
    settings={"grid": "20,001 points of [-1, 1]", "M": TOKENS},
    seconds=(1, 1, 2),
    counted=False,
)
def link_shape(trial: Trial, slopes: Sequence[float] = (2.01, 2.05, 2.2, 2.5, 3.0, 4.0)) -> Links:
    return Links([_link(slope) for slope in trial.track(slopes)], TOKENS)


def _link(slope: float) -> LinkShape:
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
    signal = child_signal(TOKENS, link) * TOKENS**2 / (2 * c)
    return LinkShape(slope, float(off), np.abs(slopes).max(), len(link.neurons), c, signal)


@link_shape.judge
def _link_shape(made: Links) -> Judged:
    flattest, steepest = (end(made.links, key=lambda link: link.slope) for end in (min, max))
    off, neurons = max(link.off for link in made.links), max(link.neurons for link in made.links)
    signals = [link.signal for link in made.links]
    text = (
        f"{neurons} ReQU neurons meet every condition on φ to {off:.0e} at slopes "
        f"{', '.join(f'{link.slope:g}' for link in made.links)}; g comes down to "
        f"{flattest.g:.3f}. The price is the curvature, c = {flattest.curvature:.0f} at "
        f"{flattest} against {steepest.curvature:.0f} at {steepest}: where the quadratic piece is "
        f"short, a child's signal at M = {made.tokens} tokens is {min(signals):.2f} times 2c/M² "
        f"({max(signals):.2f} at best)."
    )
    excess = max(link.steepest - link.slope for link in made.links)
    margin = min(abs(1.6 - flattest.g), abs(flattest.steepest - 2))
    if off > ROUNDING or flattest.steepest <= 2:
        return refuted(text, instead=f"A condition is missed by {off:.1e}.", margin=margin)
    if excess > ROUNDING or flattest.g > 1.6 or neurons > 10:
        instead = f"g down to {flattest.g:.2f} with {neurons} neurons."
        return corrected(text, instead=instead, margin=margin)
    return holds(text, margin=margin)


@link_shape.figure
def _link_shape_figure(made: Links) -> Lines:
    g = [link.g for link in made.links]
    return Lines(
        [
            Line("a child's signal over 2c/M²", g, [link.signal for link in made.links]),
            Line("10/c", g, [10 / link.curvature for link in made.links]),
        ],
        x="g",
        y=f"M = {made.tokens}",
        caption="A smaller exponent g costs curvature and signal.",
    )
