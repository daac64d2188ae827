"""KS's four models, with fewer rows than published, and recurrent networks."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import KS, Status, Trial, at_least, at_most, claim
from paritylab.claims.engine.rule import (
    Comparison,
    Decision,
    Role,
    control,
    decide,
    instead,
    repair,
)
from paritylab.figures import Line, Lines, Mark
from paritylab.learning import Chain, Fresh, RecurrentNet, Sample, learn
from paritylab.problem import random_parities, random_trees
from paritylab.statistics import Rate

#: Outcomes the paper reports: which models solve which k within the plotted steps.
PUBLISHED = {"direct": (), "cot": (8,), "teacher": (8, 16, 32), "self-consistency": (8, 16, 32)}
#: What the models are called here.
NAMES = {
    "direct": "no chain",
    "cot": "plain chain",
    "teacher": "teacher forcing",
    "self-consistency": "self-consistency",
}
#: N of the paper, and the targets that the plain chain solved there at k = 8 in 600 steps (one
#: NVIDIA H200, 2026-11-16, seed 11); a processor takes hours for it.
PUBLISHED_N, PLAIN_THERE = 100_000, Rate(12, 60)
#: A figure shows one run. What fewer targets than this do at the published N contradicts it.
RARE = 0.1
#: A rate that decides is at most this wide.
WIDE = 0.25
#: An accuracy on 2,048 strings this far from ½ is no longer chance (nine standard errors).
CHANCE = 0.1


def _one_run_is_published(comparisons: Sequence[Comparison], confidence: float) -> Decision:
    """The one rule, but only a repair that fails refutes: the paper shows one run per model, so
    what most targets do otherwise corrects it, and only what hardly any target does refutes it."""
    decision = decide(comparisons, confidence)
    repairs = [each for each in comparisons if each.role is Role.REPAIR]
    contradicted = any(each.passed(confidence) is False for each in repairs)
    if decision.status is Status.REFUTED and not contradicted:
        return decision._replace(status=Status.CORRECTED)
    return decision


@claim(
    "ks-experiments",
    KS("Experiments of the conference version", reading="second-hand"),
    quick={"samples": 1000, "steps": 60, "targets": (2, 2, 2, 2)},
    full={"sizes": (8, 16, 32), "samples": PUBLISHED_N, "steps": 600, "targets": (60,) * 4},
    more="times",
    judge=_one_run_is_published,
    planted=(
        "models after one step on 200 rows, taken for the published number",
        {
            "samples": 200,
            "steps": 1,
            "targets": (60,) * 4,
            "published": 200,
            "staged_by": lambda opened, k: True,
        },
        "refuted",
    ),
)
def experiments(
    trial: Trial,
    sizes: Sequence[int] = (8,),
    samples: int = 5000,
    steps: int = 440,
    targets: Sequence[int] = (12, 28, 12, 20),
    times: int = 1,
    *,
    published: int = PUBLISHED_N,
    staged_by: Callable[[np.ndarray, int], bool] | None = None,
) -> Iterator[Any]:
    """The four published models at n = 64, on most targets.

    Without a chain no k is learned, the plain chain learns k = 8 only, teacher forcing learns
    k = 8, 16, 32, self-consistency learns them in visible stages. Here a model does what is
    published if more than half of the targets do. The link is piecewise quadratic; η is 15, 50, 100
    for k = 8, 16, 32 and a hundredth of it without a chain. A target is solved if every one of
    10,000 inputs is right and the prediction loss below 0.01. The published N is 100,000. The paper
    shows one run per model: only from that N on, and only if hardly any target does what is shown,
    is it refuted.
    """
    lines, staged, widest, otherwise = [], [], 0.0, []
    for k in trial.track(sizes):
        for mode, count in zip(PUBLISHED, targets, strict=True):
            data = Sample(random_trees(64, k, times * count, key=trial.seed), samples)
            runs = learn(Chain.published(mode, steps=steps), data, key=trial.seed, trace=2)
            solved, name = runs.rate("solved"), f"{NAMES[mode]}, n = 64, k = {k}, N = {samples:,}"
            learns = k in PUBLISHED[mode]
            asked = (at_least if learns else at_most)(f"targets solved, {name}", solved, 0.5)
            yield asked
            if asked.passed() is not True:
                otherwise.append(f"{name}: {solved}")
            if samples >= published and learns:
                yield repair(at_least(f"the same, by more than a rare run, {name}", solved, RARE))
            elif samples >= published:
                yield repair(at_most(f"the same, in all but rare runs, {name}", solved, 1 - RARE))
            widest = max(widest, solved.high - solved.low)
            if mode == "self-consistency":
                levels = runs.trace["open_levels"][:, runs.trace["step"] < steps]
                staged += [(staged_by or _in_stages)(each, k) for each in levels]
            if k == sizes[-1]:
                before = runs.trace["step"] < steps
                step, risk = runs.trace["step"][before], runs.trace["risk"][0, before]
                lines.append(Line(NAMES[mode], step, risk, style="-"))
    yield control(at_most("width of the widest interval of a share solved", widest, WIDE))
    opened = "runs with self-consistency whose levels open in turn"
    yield control(at_least(opened, Rate.of(staged), 0.5))
    yield instead(
        f"On most targets as published but for {'; '.join(otherwise)}. At N = {PUBLISHED_N:,} the "
        f"plain chain solves k = 8 on {PLAIN_THERE} targets: a run as "
        "published is met, but not typical."
    )
    yield Lines(
        lines,
        x="step",
        y=f"prediction loss, k = {sizes[-1]}",
        marks=[Mark(0.01, "solved")],
        caption="½ mean (ŷ - y)² of the self-generated answer during training, first target.",
    )


def _in_stages(opened: np.ndarray, k: int) -> bool:
    """Whether the number of open levels passes through 1, 2, …, log2 k without going back."""
    values, levels = opened.tolist(), list(range(1, k.bit_length()))
    return values == sorted(values) and sorted(set(values)) == levels


@claim(
    "ks-rnn",
    KS("Section 1.1, on Wies et al."),
    quick={"steps_without": 300},
    full={"cells": ("elman", "lstm"), "runs": 20, "steps": 1000, "steps_without": 20_000},
    more="runs",
    planted=(
        "an arm with labels that gets none",
        {"runs": 6, "steps": 20, "steps_without": 1, "labelled": False},
        "refuted",
    ),
)
def rnn(
    trial: Trial,
    cells: Sequence[str] = ("elman",),
    runs: int = 20,
    steps: int = 300,
    steps_without: int = 1000,
    *,
    labelled: bool = True,
) -> Iterator[Any]:
    """Recurrent nets learn 16 of 32 bits with intermediate labels; in 1,000 steps not without.

    An Elman network solves k-parity with intermediate labels and teacher forcing: the labels are
    running parities, and tests feed the net with its own answers. It must be right on every one of
    2,048 strings in three quarters of the runs. Our comparison: without labels, in more steps, at
    most a quarter of the runs leave chance, an accuracy within 0.1 of ½. The nets have 32 units and
    see 32 strings per step under Adam with a rate of 0.003.
    """
    data = Fresh(random_parities(32, 16, runs, key=trial.seed), 32)
    for cell in trial.track(cells):
        with_labels, without = (
            learn(
                RecurrentNet(labels=labels, cell=cell, width=32, steps=count), data, key=trial.seed
            ).stats["accuracy"]
            for labels, count in ((labelled, steps), (False, steps_without))
        )
        right = Rate.of(with_labels == 1)
        learned = Rate.of(np.abs(without - 0.5) > CHANCE)
        label = f"{cell} nets right on every string after {steps:,} steps with labels, n = 32"
        yield at_least(label, right, 1 - WIDE)
        label = f"{cell} nets that leave chance in {steps_without:,} steps without labels, n = 32"
        yield at_most(label, learned, WIDE)
