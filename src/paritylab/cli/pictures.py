"""What `paritylab train` shows of its runs: a table of outcomes and a figure."""

from pathlib import Path
from typing import Any

import numpy as np

from paritylab.cli import console
from paritylab.learning import Runs
from paritylab.precision import float64
from paritylab.problem import ParityTree
from paritylab.report.figures import save_figure
from paritylab.statistics import Rate

#: Lines of single runs that a figure shows at most.
LINES = 60


def outcomes(runs: Runs[Any]) -> list[list[str]]:
    """Rows of the table: what happened, how often or how much."""
    family = {"heads": _heads, "anneal": _heads, "xor": _xor}.get(runs.name, _chain)
    table = family(runs)
    if runs.diverged.any():
        table.append(["diverged", str(Rate.of(runs.diverged))])
    return table


def _heads(runs: Runs[Any]) -> list[list[str]]:
    table = [
        ["heads on exactly the hidden set", str(runs.rate())],
        ["squared-hinge risk below 0.05", str(runs.rate("solved"))],
        ["median risk", f"{_median(runs.risk):.4g} ({runs.kind})"],
    ]
    if "starts" in runs.stats:
        table.append(["starts per run, on average", f"{runs.stats['starts'].mean():.2f}"])
    return table


def _median(values: np.ndarray) -> float:
    """The median of what is finite; not a number if nothing is."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else float("nan")


def _xor(runs: Runs[Any]) -> list[list[str]]:
    worst, numbers = runs.stats["worst"], int(runs.stats["numbers"][0])
    return [
        ["pair has the two largest weights", str(runs.rate())],
        ["right on every input", str(runs.rate("solved"))],
        ["median of the worst |ŷ - y|", f"{_median(worst):.3g}"],
        ["largest |ŷ - y| of all runs and inputs", f"{worst.max():.3g}"],
        ["trained numbers beside n", f"{numbers:,} beside {runs.data.n:,}"],
    ]


def _chain(runs: Runs[Any]) -> list[list[str]]:
    stats = runs.stats
    table = [
        ["every pair found", str(runs.rate("recovered"))],
        ["every pair found, every fresh input right", str(runs.rate("solved"))],
    ]
    if runs.name == "full-batch":
        epochs = ["never" if at < 0 else str(int(at)) for at in stats["solved_at"]]
        table = [
            ["every fresh input right, loss below 0.01", str(runs.rate("solved"))],
            ["first step with loss below 0.01", ", ".join(epochs)],
        ]
    if "levels_per_step" in stats:
        traces = sorted({str(each.astype(int).tolist()) for each in stats["levels_per_step"]})
        table.append(["levels solved after each step", "; ".join(traces)])
    table.append(["smallest accuracy on fresh inputs", f"{stats['accuracy'].min():.4f}"])
    return table


def draw(runs: Runs[Any], path: Path) -> None:
    """The figure of a family of runs."""
    family = {"heads": _head_parts, "anneal": _head_parts, "xor": _xor_parts}
    parts = family.get(runs.name, _chain_parts)(runs)
    save_figure({"kind": "side by side", "parts": parts}, path)


def _curves(runs: Runs[Any], label: str) -> dict[str, Any]:
    steps, risks = runs.trace["step"], runs.trace["risk"]
    return {
        "kind": "lines",
        "x": {"label": "step"},
        "y": {"label": label},
        "lines": [
            {"x": steps, "y": row, "style": "-"} for row in risks[:LINES] if np.isfinite(row).all()
        ],
    }


def _head_parts(runs: Runs[Any]) -> list[dict[str, Any]]:
    model, hidden = runs.model(0), runs.hidden[0]
    heads = getattr(model, "heads", model)
    parts = [_curves(runs, "what each run descends")]
    if hasattr(heads, "directions"):
        found = "found" if runs.flags("recovered")[0] else "missed"
        with float64():
            attention = np.asarray(heads.attention())
        panel = {
            "title": f"first run {found} B = {{{', '.join(map(str, hidden))}}}",
            "values": attention,
            "marks": list(hidden),
        }
        parts.append(_heatmap("position", "head", [panel]))
    return parts


def _xor_parts(runs: Runs[Any]) -> list[dict[str, Any]]:
    worst = runs.stats["worst"]
    errors = np.maximum(worst[np.isfinite(worst)], 1e-16)
    parts: list[dict[str, Any]] = [
        {
            "kind": "histogram",
            "x": {"label": "worst |ŷ - y| over all inputs", "scale": "log"},
            "y": {"label": "runs"},
            "values": errors if errors.size else [2.0],
        }
    ]
    if runs.data.n <= 4096:
        with float64():
            weights = np.asarray(runs.model(0).weights())
        line = {"x": np.arange(len(weights)), "y": weights, "style": "-"}
        parts.append(
            {
                "kind": "lines",
                "x": {"label": "position"},
                "y": {"label": "weight in the first run"},
                "lines": [line],
                "marks": [{"axis": "x", "at": at} for at in runs.hidden[0]],
            }
        )
    return parts


def _chain_parts(runs: Runs[Any]) -> list[dict[str, Any]]:
    assert runs.targets is not None
    tree, model = runs.targets[0], runs.model(0)
    assert isinstance(tree, ParityTree)
    children = [[int(token), node] for node, pair in enumerate(tree.children) for token in pair]
    before = model.with_parameters(np.zeros_like(model.scores))
    panels = [
        {"title": title, "values": np.asarray(each.attention()).T, "points": children}
        for title, each in (("before", before), ("after, first run", model))
    ]
    if runs.name == "full-batch":
        curve = _curves(runs, "loss of each run")
        return [curve, _heatmap("token attended to", "inner node", panels[1:])]
    return [_heatmap("token attended to (circles: true children)", "inner node", panels)]


def _heatmap(x: str, y: str, panels: list[dict[str, Any]]) -> dict[str, Any]:
    return {"kind": "heatmaps", "x": {"label": x}, "y": {"label": y}, "panels": panels}


def draw_figure2(path: Path) -> None:
    """HG1's Figure 2."""
    from paritylab.claims.hg1.figure2 import figure2_runs, figure2_series

    console.say("n = 20, k = 3, Adam 0.2, tau = 0.3, 240 exact steps, 2 × 16 runs: about 15 s")
    series = figure2_series(*figure2_runs(16))
    save_figure(series, path)
    print(series["caption"])
    print(f"figure: {path}")
