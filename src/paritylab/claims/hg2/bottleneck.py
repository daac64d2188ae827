"""Trained numbers: a few for two heads, an edge to every position for a feed-forward network."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG2, Trial, at_most, claim, note
from paritylab.learning.xor.parts import default_gain, usual_width
from paritylab.learning.xor.stream import smallest_xor_width
from paritylab.statistics import power_law

#: A width that grows like this power of n, or faster, is not taken for polylogarithmic.
SMALLEST_POWER = 0.25


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
    """polylog(n) trainable numbers are enough for one step; feed-forward networks need Ω(n).

    O(polylog n) trainable parameters suffice, where feed-forward networks need Ω(n). In our
    reconstruction (docs/hg2.md): 2m numbers, with m the width of the positions; the least m that is
    right on every input, ½(ŷ-y)² ≤ 0.01, grows slower than n^¼. m is searched on a grid of ratio
    2^¼ with 10 pairs a draw, balanced positions and gain 4 ln n + 12. A network that serves every
    pair has an edge to at least n - 1 positions, since blind to two it misses their pair; at the
    largest n two heads have fewer trained numbers than that. They also read n positions of width m,
    which are not trained.
    """
    given: dict[str, Any] = {"draws": draws, "pairs": 10, "seed": trial.seed}
    every = np.array(
        [
            search(n, "every", gain=2 * default_gain(n), balanced=True, **given)
            for n in trial.track(sizes)
        ]
    )
    power, label = power_law(sizes, every), "power of n of the least width right on every input"
    yield at_most(label, power, SMALLEST_POWER)
    yield note("the same as a power of ln n", power_law(np.log(sizes), every))
    for n, width in zip(sizes, every, strict=True):
        yield note(f"trained numbers right on every input, n = {n:,}", 2 * width)
    last = sizes[-1]
    label = f"trained numbers of two heads, fewer than the n - 1 edges, n = {last:,}"
    yield at_most(label, 2 * every[-1], last - 2)
    yield note(f"fixed numbers in the heads' positions, n = {last:,}", last * every[-1])
    usual = next(n for n in range(4, 10**6) if 2 * usual_width(n) < n - 1)
    yield note("least n at which heads of width 12 ln n have fewer", usual)
    ranks = search(last, "rank", gain=2 * default_gain(last), **given)
    yield note(f"trained numbers that rank every pair, n = {last:,}", 2 * ranks)
