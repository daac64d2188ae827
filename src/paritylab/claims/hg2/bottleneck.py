"""Trained numbers: an edge to every position for a feed-forward network, a few for two heads."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG2, Trial, at_most, claim, note
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.learning.xor.stream import smallest_xor_width
from paritylab.statistics import power_law


@claim(
    "hg2-ffnn-bottleneck",
    HG2("Abstract"),
    quick={"sizes": (64, 256, 1024, 4096)},
    full={"sizes": (64, 256, 1024, 4096, 16_384, 65_536), "draws": 20},
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
    given = {"draws": draws, "pairs": 10, "balanced": True, "seed": trial.seed}
    widths = [search(n, "every", gain=2 * default_gain(n), **given) for n in trial.track(sizes)]
    heads, edges = 2 * np.asarray(widths), np.asarray(sizes) - 1
    last = f"n = {sizes[-1]:,}"
    yield at_most("power of n of the heads' trained numbers", power_law(sizes, heads), 1)
    yield at_most(
        f"trained numbers of two heads, fewer than edges, {last}", heads[-1], edges[-1] - 1
    )
    yield note(f"fixed numbers in the heads' positions, {last}", sizes[-1] * widths[-1])
    usual = next(n for n in range(4, 10**6) if 2 * usual_width(n) < n - 1)
    yield note("least n at which heads of width 12 ln n have fewer", usual)
