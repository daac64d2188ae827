"""What an ordinary transformer has to look for: unknown parents, and where its attention goes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import numpy as np

from paritylab.claims import OURS, Bars, Trial, at_least, at_most, claim, control, finding, note
from paritylab.claims.lab.transformers import LINE, median_rows, trained
from paritylab.learning import Runs, Transformer
from paritylab.models.transformer import MARK, Decoder
from paritylab.problem.keys import as_key
from paritylab.problem.sampling import draw_signs
from paritylab.statistics import Mean

#: Chains by their names in `learning.transformer.chains`, and what each is.
SHOWN = {
    "line": "line",
    "tree": "tree",
    "again": "tree, a child written again",
    "filler": "line with fillers",
}


@claim(
    "lab-unknown-parents",
    OURS,
    quick={"chains": ("tree", "again"), "size": (16, 4), "runs": 14},
    full={"chains": (*SHOWN, "post-order"), "size": (32, 16), "steps": 8000},
    more="runs",
    planted=(
        "the tree in place of the one with copies",
        {"as_shown": {"again": "tree"}},
        "refuted",
    ),
)
def unknown_parents(
    trial: Trial,
    size: tuple[int, int] = (16, 8),
    runs: int = 8,
    steps: int = 1000,
    chains: Sequence[str] = tuple(SHOWN),
    *,
    as_shown: Mapping[str, str] = {},
) -> Iterator[Any]:
    """A chain is cheap for a transformer if each token has one unknown parent, not two, n = 16.

    A token of a chain is the product of its parents. It is asked for at the token before it, so a
    parent that stands there is known and the others must be looked for. A tree of parities (two
    unknown parents) needs at least 1.5 times the rows of a line (one), and so does a line with a
    filler between its tokens, which hides the known parent. A tree with one child written again
    before each node has one unknown parent everywhere: the tree without needs at least 1.5 times
    its rows, and it needs at most twice those of the line. Rows are medians until a run is solved,
    n = 16, k = 8 (k = 4 at quick effort). An argument, not a proof: the query itself carries the
    known parent, so with one unknown parent the answer shows at first order in the weight 1/M that
    attention gives each of M tokens. With two, only the square of the attended mean holds their
    product, of order 1/M². The query of KS's toy carries nothing: there both chains are of order
    1/M², and a tree costs what a line costs (lab-tree-or-line).
    """
    n, k = size
    groups = {}
    for chain in trial.track(chains):
        learner = replace(LINE, chain=as_shown.get(chain, chain), steps=steps)
        groups[chain] = trained(learner, n, k, runs, trial.seed)
    where = f"n = {n}, k = {k}"
    for chain in (each for each in ("line", "again") if each in groups):
        label = f"runs solved, {SHOWN[chain]}, {where}"
        yield control(at_least(label, groups[chain].rate("solved"), 0.5))
    for above, below in (("tree", "again"), ("tree", "line"), ("filler", "line")):
        if above in groups and below in groups:
            label = f"rows of a {SHOWN[above]}, over those of a {SHOWN[below]}, {where}"
            yield at_least(label, median_rows(groups[above], groups[below]), 1.5)
    if "line" in groups:
        label = f"rows of a {SHOWN['again']}, over those of a line, {where}"
        tree, again = (median_rows(groups[each], groups["line"]) for each in ("tree", "again"))
        yield at_most(label, again, 2)
        text = (
            f"A tree needs {tree.value:.2g} times the rows of a line, {again.value:.2g} times with"
        )
        yield finding(f"{text} a child of each node written again, {where}.", "holds")
    for chain, found in groups.items():
        name = SHOWN.get(chain, chain)
        yield note(f"runs solved, {name}", found.rate("solved"))
        yield note(f"rows until solved, median, {name}", median_rows(found))
    medians = {SHOWN.get(chain, chain): median_rows(found) for chain, found in groups.items()}
    yield Bars(
        {name: each.value for name, each in medians.items()},
        y="rows until solved",
        low={name: each.low for name, each in medians.items()},
        high={name: each.high for name, each in medians.items()},
        caption=f"Median rows until solved by the chain that is shown, {where}.",
    )


def mass_on(runs: Runs[Decoder], shift: int, seed: int) -> np.ndarray:
    """Attention of the best head on every slot's missing bit, or `shift` bits further on; runs."""
    assert isinstance(runs.learner, Transformer)
    n, found = runs.data.n, []
    bits = (np.asarray(draw_signs(as_key(seed), 256, n)) < 0).astype(np.int32)
    for run, target in enumerate(runs.targets):
        plan, model = runs.learner.plan_of(target), runs.model(run)
        chain = bits @ plan.sums.T % 2
        read = np.column_stack([bits, np.full(len(bits), MARK), chain[:, :-1]])
        weights = np.asarray(_attention(model, read)).max(axis=0)
        wanted = np.roll(plan.parents[:, :n], shift, axis=1)
        found.append(weights[:, :n][wanted].mean())
    return np.array(found)


@eqx.filter_jit
def _attention(model: Decoder, read: np.ndarray) -> jax.Array:
    return jax.vmap(lambda each: model.outcome(each).attention)(read).mean(axis=0)


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
    found = trained(replace(LINE, steps=steps), n, k, runs, trial.seed)
    start = trained(replace(LINE, steps=1, eta=1e-9), n, k, runs, trial.seed)
    yield control(at_least("runs solved", found.rate("solved"), 0.5))
    key, where = trial.seed, f"n = {n}, k = {k}"
    right, other = (Mean.of(mass_on(found, each + shift, key)) for each in (0, 3))
    yield at_least(f"attention on the missing bit, solved runs, {where}", right, 0.4)
    yield at_most(f"attention on the third bit after it, {where}", other, 0.25)
    before = Mean.of(mass_on(start, shift, key))
    yield at_most(f"attention on the missing bit before training, {where}", before, 0.25)
