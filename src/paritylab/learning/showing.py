"""Runs for people: three lines of text, a small HTML table for notebooks, a plot."""

from collections import Counter
from dataclasses import MISSING, fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from paritylab.charts import Series, paint, styled
from paritylab.checks import shortened
from paritylab.statistics import Rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A `Runs`; its module imports this one.
Runs: TypeAlias = Any
#: Runs that a plot draws one line each of.
LINES = 60


def headline(runs: Runs) -> str:
    """Who learnt from what: the learner with its changed settings, the data, their size."""
    data, k = runs.data, runs.data.k
    size = f"n = {data.n}" + ("" if k is None else f", k = {k}")
    samples = getattr(data, "samples", None)
    size += "" if samples is None else f", {samples:,} samples"
    return f"{len(runs):,} runs of {described(runs.learner)} on {type(data).__name__} ({size})"


def described(learner: object) -> str:
    """A learner as it would be typed: only the fields that differ from their defaults."""
    if not is_dataclass(learner):
        return type(learner).__name__
    changed = []
    for each in fields(learner):
        value = getattr(learner, each.name)
        usual = isinstance(value, type(each.default)) and value is not None
        if each.default is MISSING or not (
            value is each.default or (usual and value == each.default)
        ):
            changed.append(f"{each.name}={shortened(value)}")
    return f"{type(learner).__name__}({', '.join(changed)})"


def facts(runs: Runs) -> dict[str, str]:
    """What came out, by name: rates with intervals, the median risk, how the runs ended."""
    found = {} if runs.recovered is None or not runs.names_a_set else {"recovered": runs.recovered}
    rates = {name: str(Rate.of(flags)) for name, flags in (found | {"solved": runs.solved}).items()}
    finite = runs.risk[np.isfinite(runs.risk)]
    median = f"{np.median(finite):.3g} ({runs.kind}, {runs.loss})" if len(finite) else "not finite"
    ends = Counter(each.name.lower().replace("_", " ") for each in runs.result)
    ended = ", ".join(f"{count} {name}" for name, count in ends.most_common())
    return rates | {"median risk": median, "ended": ended, "took": f"{runs.seconds:.2g} s"}


def as_text(runs: Runs) -> str:
    """Three lines: who and on what, what came out, where to look further."""
    found = facts(runs)
    outcome = "; ".join(f"{name} {text}" for name, text in found.items() if name != "ended")
    trace = f"; trace of {', '.join(runs.trace)}" if runs.trace else ""
    return f"{headline(runs)}\n{outcome}\n{found['ended']}{trace}; see .table(), .plot(), .model(i)"


def as_html(runs: Runs) -> str:
    """The same for a notebook; all text is escaped."""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in facts(runs).items()
    )
    return f"<p><b>{escape(headline(runs))}</b></p><table>{rows}</table>"


def course(runs: Runs) -> Series:
    """The chart of what each run descended, step by step, in the colour of whether it solved its
    problem; of the risks at the end, in rising order, where no trace was kept."""
    name = next((name for name in ("right", "risk") if name in runs.trace), None)
    if name is None or len(runs.trace["step"]) < 3:
        ends = np.sort(runs.risk[np.isfinite(runs.risk)])
        line = {"x": np.arange(1, len(ends) + 1), "y": ends}
        axes = {"x": {"label": "runs"}, "y": {"label": f"risk at the end ({runs.loss})"}}
        return {"kind": "lines", **axes, "lines": [line]}
    lines = [
        {"x": runs.trace["step"], "y": row, "colour": "c0" if solved else "soft", "style": "-"}
        for row, solved in zip(runs.trace[name][:LINES], runs.solved, strict=False)
        if np.isfinite(row).all()
    ]
    word = {"right": "share of fresh rows with a right chain", "risk": "risk that the run descends"}
    axes = {"x": {"label": "step"}, "y": {"label": word[name]}}
    return {"kind": "lines", **axes, "lines": lines}


def plot(runs: Runs, axes: "Axes | None" = None) -> "Axes":
    """The chart of `course` on axes of your own, or on new ones: solved runs dark, others grey."""
    import matplotlib.pyplot as plt

    with styled():
        axes = plt.subplots(figsize=(6, 3.5), layout="constrained")[1] if axes is None else axes
        title = f"{len(runs)} runs of {type(runs.learner).__name__}: {runs.rate()}"
        paint(axes, {**course(runs), "title": title})
    return axes
