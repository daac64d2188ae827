"""What `paritylab train` shows of its runs: a table of outcomes and a figure."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from paritylab._support.precision import float64
from paritylab.figures import Heatmap, Series, save_figure
from paritylab.learning import Runs
from paritylab.learning.contract import fact
from paritylab.learning.runs import course
from paritylab.problem import ParityTree

#: Positions of a map and numbers of a list that are shown at most.
POSITIONS, SHORT = 600, 20


def outcomes(runs: Runs[Any]) -> list[list[str]]:
    """Rows of the table: what `repr(runs)` says; then the median of every number that the learner
    left, with its range where runs differ, and every word with its count."""
    table = [[name, text] for name, text in runs.facts().items()]
    captions = fact(runs.learner, "captions")
    for name, values in runs.stats.items():
        caption = captions.get(name, name.replace("_", " "))
        if values.dtype.kind in "US":
            counts = Counter(values.ravel().tolist()).most_common()
            table.append([caption, ", ".join(f"{count} {word}" for word, count in counts)])
            continue
        known = np.asarray(values, dtype=float)
        known = known[np.isfinite(known)] if known.ndim == 1 else known
        if name.endswith("_at"):  # a step; -1 stands for none
            steps = ["never" if at < 0 else f"{at:g}" for at in known]
            table.append([caption, ", ".join(steps)])
        elif known.ndim == 2 and known.shape[1] <= SHORT:
            table.append([f"{caption}, first run", ", ".join(f"{each:.4g}" for each in known[0])])
        elif known.ndim == 1 and known.size:
            middle, least, most = (f"{f(known):.4g}" for f in (np.median, np.min, np.max))
            text = middle if least == most else f"{middle} ({least} to {most})"
            table.append([f"{caption}, median", text])
    return table


def draw(runs: Runs[Any], path: Path) -> None:
    """What each run descends or how its risk ended, and where the first run attends."""
    parts = [course(runs), *_attention(runs)]
    save_figure({"kind": "side by side", "parts": parts}, path)


def _attention(runs: Runs[Any]) -> list[Series]:
    """The attention of the first run, with the hidden positions or the true children marked."""
    model = runs.model(0)
    model = getattr(model, "heads", model)
    if not callable(getattr(model, "attention", None)):
        return []
    try:
        with float64():
            weights = np.asarray(model.attention())
    except TypeError:  # a model whose attention depends on the input
        return []
    if max(weights.shape) > POSITIONS:
        return []
    tree = None if runs.targets is None else runs.targets[0]
    if isinstance(tree, ParityTree):
        points = [(int(token), node) for node, pair in enumerate(tree.children) for token in pair]
        axes: dict[str, Any] = {"x": "token (circles: true children)", "y": "inner node"}
        return [Heatmap(weights.T, title="first run", points=points, **axes).series()]
    hidden = runs.hidden[0]
    title = f"first run, B = {{{', '.join(map(str, hidden))}}}"
    return [Heatmap(weights, x="position", y="head", title=title, columns=hidden).series()]
