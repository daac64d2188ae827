"""What `paritylab train` shows of its runs: a table of outcomes and a figure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from paritylab.claims.engine.figures import (
    Figure,
    Heatmap,
    Histogram,
    Line,
    Lines,
    Mark,
    SideBySide,
)
from paritylab.cli import console
from paritylab.learning import Runs, Transformer
from paritylab.models.transformer import MARK
from paritylab.precision import float64
from paritylab.problem import ParityTree
from paritylab.report.figures import save_figure
from paritylab.statistics import Rate

#: Lines of single runs that a figure shows at most, and positions of an XOR's weights.
LINES, POSITIONS = 60, 4096
#: What recovered and solved mean for a family of learners.
_HEADS = ("heads on exactly the hidden set", "squared-hinge risk below 0.05")
_CHAIN = ("every pair found", "every pair found, every fresh input right")
_MEANING = {
    "heads": _HEADS,
    "anneal": _HEADS,
    "xor": ("pair has the two largest weights", "right on every input"),
    "transformer": ("", "every token right on 98 % of fresh rows"),
    "full-batch": (_CHAIN[0], "every fresh input right, loss below 0.01"),
}
#: Numbers that learners leave, in words, and which of the runs' numbers is shown.
_STATS: dict[str, tuple[str, Callable[[np.ndarray], Any]]] = {
    "starts": ("starts per run, on average", np.mean),
    "worst": ("largest |ŷ - y| of all runs and inputs", np.max),
    "numbers": ("trained numbers", np.max),
    "rows": ("rows read per run, median", np.median),
    "attention": ("attention on unknown parents, on average", np.mean),
    "accuracy": ("smallest accuracy on fresh inputs", np.min),
}


def outcomes(runs: Runs[Any]) -> list[list[str]]:
    """Rows of the table: what happened, how often or how much."""
    found, solved = _MEANING.get(runs.name, _CHAIN)
    finite = runs.risk[np.isfinite(runs.risk)]
    median = f"{np.median(finite):.4g} ({runs.kind})" if finite.size else "not finite"
    table = [[found, str(runs.rate("recovered"))]] if runs.names_a_set else []
    table.append([solved, str(runs.rate("solved"))])
    table.append(["median risk", median])
    for name, (words, number) in _STATS.items():
        if name in runs.stats:
            table.append([words, f"{number(runs.stats[name]):.4g}"])
    if "solved_at" in runs.stats:
        steps = ["never" if at < 0 else str(int(at)) for at in runs.stats["solved_at"]]
        table.append(["first step with loss below 0.01", ", ".join(steps)])
    if "levels_per_step" in runs.stats:
        traces = sorted({str(each.astype(int).tolist()) for each in runs.stats["levels_per_step"]})
        table.append(["levels solved after each step", "; ".join(traces)])
    if runs.diverged.any():
        table.append(["diverged", str(Rate.of(runs.diverged))])
    return table


def draw(runs: Runs[Any], path: Path) -> None:
    """The figure of a family of runs."""
    family = {"heads": _head_parts, "anneal": _head_parts, "xor": _xor_parts}
    family["transformer"] = _transformer_parts
    save_figure(SideBySide(family.get(runs.name, _chain_parts)(runs)).series(), path)


def _curves(runs: Runs[Any], label: str) -> Figure:
    """What each run descends, step by step."""
    paths = [row for row in runs.trace["risk"][:LINES] if np.isfinite(row).all()]
    return Lines([Line("", runs.trace["step"], row, style="-") for row in paths], x="step", y=label)


def _head_parts(runs: Runs[Any]) -> list[Figure]:
    model, hidden = runs.model(0), runs.hidden[0]
    heads = getattr(model, "heads", model)
    parts = [_curves(runs, "what each run descends")]
    if hasattr(heads, "directions"):
        word = "found" if runs.flags("recovered")[0] else "missed"
        title = f"first run {word} B = {{{', '.join(map(str, hidden))}}}"
        with float64():
            attention = np.asarray(heads.attention())
        parts.append(Heatmap(attention, x="position", y="head", title=title, columns=hidden))
    return parts


def _xor_parts(runs: Runs[Any]) -> list[Figure]:
    worst = runs.stats["worst"]
    errors = np.maximum(worst[np.isfinite(worst)], 1e-16)
    label = "worst |ŷ - y| over all inputs"
    parts: list[Figure] = [Histogram(errors if errors.size else [2.0], x=label, y="runs", log="x")]
    if runs.data.n <= POSITIONS:
        with float64():
            weights = np.asarray(runs.model(0).weights())
        line = Line("", np.arange(len(weights)), weights, style="-")
        marks = [Mark(at, "", "x") for at in runs.hidden[0]]
        parts.append(Lines([line], x="position", y="weight in the first run", marks=marks))
    return parts


def _chain_parts(runs: Runs[Any]) -> list[Figure]:
    assert runs.targets is not None
    tree, model = runs.targets[0], runs.model(0)
    assert isinstance(tree, ParityTree)
    children = [(int(token), node) for node, pair in enumerate(tree.children) for token in pair]
    axes: dict[str, Any] = {"x": "token attended to (circles: true children)", "y": "inner node"}
    after = Heatmap(np.asarray(model.attention()).T, title="first run", points=children, **axes)
    if runs.name == "full-batch":
        return [_curves(runs, "loss of each run"), after]
    empty = np.asarray(model.with_parameters(np.zeros_like(model.scores)).attention()).T
    return [Heatmap(empty, title="before", points=children, **axes), after]


def _transformer_parts(runs: Runs[Any]) -> list[Figure]:
    """Share of rows with a right chain by step; attention of the first run, its parents circled."""
    assert runs.targets is not None
    assert isinstance(runs.learner, Transformer)
    plan, model = runs.learner.plan_of(runs.targets[0]), runs.model(0)
    right = [Line("", runs.trace["step"], row, style="-") for row in runs.trace["right"][:LINES]]
    bits = np.random.default_rng(0).integers(0, 2, (256, runs.data.n))
    chain = np.where(plan.written, bits @ plan.sums.T % 2, MARK)
    read = np.column_stack([bits, np.full(len(bits), MARK), chain[:, :-1]])
    attention = np.asarray(jax.vmap(lambda each: model.outcome(each).attention)(read)).mean(0)
    return [
        Lines(right, x="step", y="share of fresh rows with a right chain"),
        Heatmap(
            attention.max(0),
            title="first run, strongest head",
            points=[(int(token), int(slot)) for slot, token in np.argwhere(plan.parents)],
            x="token attended to (circles: unknown parents)",
            y="slot of the chain",
        ),
    ]


def draw_figure2(path: Path) -> None:
    """HG1's Figure 2."""
    from paritylab.claims.hg1.figure2 import figure2_runs, figure2_series

    console.say("n = 20, k = 3, Adam 0.2, tau = 0.3, 240 exact steps, 2 × 16 runs: about 15 s")
    series = figure2_series(*figure2_runs(16))
    save_figure(series, path)
    print(series["caption"])
    print(f"figure: {path}")
