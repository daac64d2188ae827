"""Trained numbers: a few for two heads, an edge to every position for a feed-forward network."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG2, Trial, at_most, claim, note
from paritylab.learning.xor.exact import default_gain, usual_width
from paritylab.learning.xor.stream import smallest_xor_width
from paritylab.statistics import power_law

#: A width that grows like this power of n, or faster, is not taken for polylogarithmic.
SMALLEST_POWER = 0.25


def _widths(trial: Trial, sizes: Sequence[int], draws: int, search: Callable[..., int]) -> Any:
    """The least width that is right on every input, by n: balanced positions, gain 4 ln n + 12."""
    given = {"draws": draws, "pairs": 10, "balanced": True, "seed": trial.seed}
    widths = [search(n, "every", gain=2 * default_gain(n), **given) for n in trial.track(sizes)]
    return np.array(widths)


@claim(
    "hg2-params",
    HG2("Abstract"),
    quick={"sizes": (64, 256, 1024, 4096, 16_384)},
    full={"draws": 20},
    planted=(
        "widths that grow like √n",
        {"search": lambda n, *given, **more: round(4 * n**0.5)},
        "refuted",
    ),
)
def params_claim(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024, 4096, 16_384, 65_536),
    draws: int = 10,
    *,
    search: Callable[..., int] = smallest_xor_width,
) -> Iterator[Any]:
    """polylog(n) trainable numbers are enough for one step.

    O(polylog n) trainable parameters suffice. In our reconstruction (docs/hg2.md): 2m numbers, with
    m the width of the positions; the least m that is right on every input, ½(ŷ-y)² ≤ 0.01, grows
    slower than n^¼. m is searched on a grid of ratio 2^¼ with 10 pairs a draw, balanced positions
    and gain 4 ln n + 12.
    """
    every = _widths(trial, sizes, draws, search)
    power, label = power_law(sizes, every), "power of n of the least width right on every input"
    yield at_most(label, power, SMALLEST_POWER)
    yield note("the same as a power of ln n", power_law(np.log(sizes), every))
    for n, width in zip(sizes, every, strict=True):
        yield note(f"trained numbers right on every input, n = {n:,}", 2 * width)
    last, given = sizes[-1], {"draws": draws, "pairs": 10, "seed": trial.seed}
    ranks = search(last, "rank", gain=2 * default_gain(last), **given)
    yield note(f"trained numbers that rank every pair, n = {last:,}", 2 * ranks)


@claim(
    "hg2-ffnn-bottleneck",
    HG2("Abstract"),
    quick={"sizes": (64, 256, 1024, 4096)},
    full={"draws": 20},
    planted=(
        "heads whose width is n",
        {"sizes": (64, 256, 1024), "search": lambda n, *given, **more: n},
        "refuted",
    ),
)
def ffnn_claim(
    trial: Trial,
    sizes: Sequence[int] = (64, 256, 1024, 4096, 16_384),
    draws: int = 10,
    *,
    search: Callable[..., int] = smallest_xor_width,
) -> Iterator[Any]:
    """Feed-forward networks need Ω(n) trained numbers for the same task, two heads do not.

    Feed-forward networks need Ω(n) parameters to learn sparse XOR, which transformers avoid.
    Compared are trained numbers: a network that serves every pair has an edge to at least n - 1
    positions, since blind to two it misses their pair. In our reconstruction (docs/hg2.md) two
    heads have twice the least width that is right on every input, with balanced positions and gain
    4 ln n + 12; they also read n positions of that width, which are not trained.
    """
    heads, last = 2 * _widths(trial, sizes, draws, search), f"n = {sizes[-1]:,}"
    yield at_most("power of n of the heads' trained numbers", power_law(sizes, heads), 1)
    label = f"trained numbers of two heads, fewer than the n - 1 edges, {last}"
    yield at_most(label, heads[-1], sizes[-1] - 2)
    yield note(f"fixed numbers in the heads' positions, {last}", sizes[-1] * heads[-1] // 2)
    usual = next(n for n in range(4, 10**6) if 2 * usual_width(n) < n - 1)
    yield note("least n at which heads of width 12 ln n have fewer", usual)
