"""What an ordinary transformer has to look for: unknown parents, and where its attention goes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from paritylab.claims import OURS, Trial, at_least, at_most, claim, control, finding, note
from paritylab.claims.lab.transformers import LINE
from paritylab.experiments.transformers import (
    measure_attention_on,
    median_rows,
    train_on_fresh_rows,
)
from paritylab.figures import Bars
from paritylab.learning import Runs
from paritylab.models.transformer import Decoder
from paritylab.statistics import Mean

#: Chains by their names in `learning.transformer.chains`, and what each is; "gap" is a line with
#: every second token.
SHOWN = {
    "line": "line",
    "again": "tree, a child written again",
    "tree": "tree",
    "filler": "line with fillers",
    "post-order": "tree in post-order",
    "gap": "line of every second token",
}
#: Chains with tokens of two unknown parents; in "line" and "again" every token has one.
TWO_UNKNOWN = ("tree", "filler", "post-order", "gap")


@claim(
    "lab-unknown-parents",
    OURS,
    quick={"chains": ("tree", "again"), "size": (28, 2), "runs": 6, "steps": 160},
    full={"size": (32, 16), "steps": 8000},
    more="runs",
    planted=(
        "the tree with copies in place of the tree",
        {"as_shown": {"tree": "again"}, "size": (8, 2), "runs": 16},
        "refuted",
    ),
)
def unknown_parents(
    trial: Trial,
    size: tuple[int, int] = (16, 8),
    runs: int = 8,
    steps: int = 500,
    chains: Sequence[str] = tuple(SHOWN),
    *,
    as_shown: Mapping[str, str] = {},
) -> Iterator[Any]:
    """A chain is cheap for a transformer if each token has one unknown parent, not two, n = 16.

    A token of a chain is the product of its parents. It is asked for at the token before it, so a
    parent that stands there is known and the others must be looked for. Four chains have tokens of
    two unknown parents: a tree of parities, level by level or in post-order, a line with a filler
    between its tokens, which hides the known parent, and a line of every second token. Each needs
    at least 1.5 times the rows of a line, whose tokens have one. A tree with one child written
    again before each node has one unknown parent everywhere: the tree without needs at least 1.5
    times its rows, and it needs at most twice those of the line. Rows are medians until a run is
    solved or has read 32,000 (64,000 with one unknown parent), n = 16, k = 8 (at quick effort tree
    and copy at n = 28, k = 2). An argument, not a proof: the query itself carries the known parent,
    so with one unknown parent the first gradient on its score is of order 1/M, the weight that
    attention gives each of M tokens. With two it is of order 1/M². The query of KS's toy carries
    nothing: there both chains are of order 1/M², and a tree costs what a line costs
    (lab-tree-or-line).
    """
    (n, k), groups = size, dict[str, Runs[Decoder]]()
    for chain in trial.track(chains):
        # Twice as many rows for the cheap chains, which stop when solved: each of them counts.
        most = steps if chain in TWO_UNKNOWN else 2 * steps
        shown = as_shown.get(chain, chain)
        kind, gap = ("line", 2) if shown == "gap" else (shown, 1)
        learner = replace(LINE, chain=kind, gap=gap, steps=most)
        groups[chain] = train_on_fresh_rows(learner, n, k, runs, trial.seed)
    yield from _laws(groups, f"n = {n}, k = {k}")
    rows = {SHOWN[chain]: median_rows(group) for chain, group in groups.items()}
    yield Bars(
        {name: each.value for name, each in rows.items()},
        y="rows until solved",
        low={name: each.low for name, each in rows.items()},
        high={name: each.high for name, each in rows.items()},
        caption=f"Median rows until solved by the chain that is shown, n = {n}, k = {k}.",
    )


def _laws(groups: Mapping[str, Runs[Decoder]], where: str) -> Iterator[Any]:
    """How many rows one chain needs over another."""
    for chain in (each for each in ("line", "again") if each in groups):
        label = f"runs solved, {SHOWN[chain]}, {where}"
        yield control(at_least(label, groups[chain].rate("solved"), 0.5))
    for above, below in (("tree", "again"), *((each, "line") for each in TWO_UNKNOWN)):
        if above in groups and below in groups:
            label = f"rows of a {SHOWN[above]}, over those of a {SHOWN[below]}, {where}"
            yield at_least(label, median_rows(groups[above], groups[below]), 1.5)
    if "line" in groups and "again" in groups:
        label = f"rows of a {SHOWN['again']}, over those of a line, {where}"
        tree, again = (median_rows(groups[each], groups["line"]) for each in ("tree", "again"))
        yield at_most(label, again, 2)
        text = f"A tree needs {tree.value:.2g} times the rows of a line, {again.value:.2g} times"
        yield finding(f"{text} with a child of each node written again, {where}.", "holds")
    for chain, found in groups.items():
        yield note(f"runs solved, {SHOWN[chain]}, {where}", found.rate("solved"))


@claim(
    "lab-transformer-attention",
    OURS,
    quick={"size": (8, 4), "runs": 6},
    full={"size": (64, 32), "runs": 16, "steps": 4000},
    more="runs",
    planted=("attention on the bit beside the right one", {"shift": 1}, "refuted"),
)
def where_attention_looks(
    trial: Trial,
    size: tuple[int, int] = (16, 8),
    runs: int = 8,
    steps: int = 1000,
    *,
    shift: int = 0,
) -> Iterator[Any]:
    """A transformer that writes a sequential chain looks at the one bit that each slot lacks.

    When a run is solved its best head gives the missing bit of a slot at least 0.4 of its attention
    on average, and other bits, each the third after a right one, at most 0.25. Before training the
    missing bit has at most 0.25, too. This is the toy's picture of KS with one parent in
    place of two: the other is the token at which the slot is asked for.
    """
    n, k = size
    found = train_on_fresh_rows(replace(LINE, steps=steps), n, k, runs, trial.seed)
    start = train_on_fresh_rows(replace(LINE, steps=1, eta=1e-9), n, k, runs, trial.seed)
    yield control(at_least("runs solved", found.rate("solved"), 0.5))
    key, where = trial.seed, f"n = {n}, k = {k}"
    right, other = (Mean.of(measure_attention_on(found, each + shift, key)) for each in (0, 3))
    yield at_least(f"attention on the missing bit, solved runs, {where}", right, 0.4)
    yield at_most(f"attention on the third bit after it, {where}", other, 0.25)
    before = Mean.of(measure_attention_on(start, shift, key))
    yield at_most(f"attention on the missing bit before training, {where}", before, 0.25)
