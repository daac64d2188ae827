"""How many heads a parity needs in the limit tau → 0."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import OURS, Trial, at_least, at_most, claim, control
from paritylab.claims.hg1.hard_limits import least_risk_of_heads
from paritylab.models import Circle, HeadAttention, Zigzag
from paritylab.problem import Parity
from paritylab.risk import population_risk


def _one_more(n: int, k: int, heads: int) -> tuple[float, int]:
    return least_risk_of_heads(n, k, min(heads + 1, k))


@claim(
    "lab-few-heads",
    OURS,
    quick={"cells": [(6, 2, 1), (6, 2, 2), (7, 3, 1), (7, 3, 2)]},
    full={"cells": [(10, 2, 1), (10, 2, 2), (8, 3, 1), (8, 3, 2), (8, 3, 3), (8, 4, 3)]},
    evidence="exact",
    certificate="lab-few-heads",
    counted=False,
    planted=("one head more than is said", {"least_risk": _one_more}, "refuted"),
)
def few_heads(
    trial: Trial,
    cells: Sequence[tuple[int, int, int]] = [(8, 2, 1), (8, 2, 2), (7, 3, 1), (7, 3, 2), (7, 3, 3)],
    *,
    least_risk: Callable[[int, int, int], tuple[float, int]] = least_risk_of_heads,
) -> Iterator[Any]:
    """As tau → 0 a parity needs a head for each bit, unless bits are neighbours.

    As tau → 0, fewer than k heads have risk at least 1 on every B without neighbours on the circle,
    k heads reach risk 0, and two neighbouring bits can share one head. The loss is the squared
    hinge, the readout sees s = (k/heads)·Σ. A head is sharp, or lies between two neighbours with a
    share of 0.25, 0.5 or 0.75 on one of them. Each cell is n, k and a number of heads.
    """
    for n, k, heads in trial.track(cells):
        least, tried = least_risk(n, k, heads)
        label = f"least risk, heads = {heads}, B without neighbours, n = {n}, k = {k}"
        yield at_least(label, least, 1 - 1e-6) if heads < k else at_most(label, least, 1e-6)
        yield control(
            at_least(f"combinations of heads tried, heads = {heads}, n = {n}, k = {k}", tried, 1)
        )
    middle = 2 * np.pi * 3.5 / 12
    directions = np.array([[np.sin(middle), np.cos(middle)]])
    head = HeadAttention(directions, Circle(12), 2, Zigzag(2), tau=1 / 12**3)
    shared = population_risk(head, Parity(12, (3, 4)))
    label = "risk of one head between two neighbours, n = 12, k = 2, tau = 1/n³"
    yield at_most(label, shared.value, 1e-6)
    yield control(at_most("numerical error of the risk between neighbours", shared.error, 1e-6))
