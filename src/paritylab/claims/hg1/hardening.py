"""Heads in the limit tau → 0: what they attend to and solve, and whether soft ones may harden."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paritylab.claims import HG1, Trial, claim
from paritylab.claims.engine.rule import at_least, at_most, control, instead, note, repair
from paritylab.experiments.hg1_hardening import harden_soft_solutions, risk_between_neighbours

LEANS = (1e-2, 1e-3, 1e-4)
#: A risk below this counts as 0 in the limit.
ZERO = 1e-6


@claim(
    "hg1-prop21",
    HG1("Proposition 21"),
    quick={"sizes": [(6, 2), (7, 3)]},
    full={"sizes": [(6, 2), (8, 2), (10, 2), (7, 3), (8, 3)]},
    evidence="exact",
    certificates=("hg1-prop21",),
    planted=("a set without neighbours on the circle", {"sizes": [(6, 2)], "last": 10}, "holds"),
)
def prop21(
    trial: Trial,
    sizes: Sequence[tuple[int, int]] = [(6, 2), (8, 2), (7, 3)],
    *,
    last: int = 19,
) -> Iterator[Any]:
    """Without neighbours, soft solutions are hard solutions (n = 20, and all heads at n up to 8).

    As tau → 0, if |i-j| > 1 for all i, j in B, then k heads with risk 0 under soft attention also
    have risk 0 under hard attention. Tried on B = {0, 19}, n = 20, b = 0: two heads between 0 and
    19 lean to 0 by a score difference of δ·tau, δ = 1e-4, so that nothing ties; at tau = 1/n² their
    soft risk falls like δ² while the hard one stays, so as δ → 0 the soft risk is 0 in the limit.
    And tried on every set without neighbours on the circle at small n, with every combination of
    heads in the limit: one position, or shares of 0.25, 0.5, 0.75 between two neighbours.
    """
    n = 20
    tau = 1.0 / n ** np.arange(1, 4)
    risks = {
        kind: [risk_between_neighbours(n, t, kind, last) for t in tau]
        for kind in ("softmax", "hard")
    }
    soft, hard = (np.array([risk.value for risk in row]) for row in risks.values())
    error = max(risk.error for row in risks.values() for risk in row)
    yield control(at_most("largest error of these risks", error, ZERO))
    where = f"B = {{0, {last}}}, n = {n}"
    wrong = float(np.max(hard[soft <= ZERO], initial=0.0))
    yield at_most(f"largest hard risk of heads with soft risk 0, {where}", wrong, ZERO)
    for lean in LEANS:
        leaning = risk_between_neighbours(n, 1 / n**2, "softmax", last, lean)
        yield note(f"soft risk over δ² for δ = {lean:g}, tau = 1/n²", leaning.value / lean**2)
    hardened = harden_soft_solutions(trial.track(sizes))
    yield control(at_least("of these with soft risk 0", hardened.wrong.size, 1))
    yield at_most("soft solutions wrong when hard, no neighbours", hardened.wrong.sum(), 0)
    yield repair(
        at_least("soft solutions right when hard", np.sum(~hardened.wrong), hardened.wrong.size)
    )
    yield repair(
        at_most("largest distance of a solution's weights from 1_B", hardened.distance, 1e-6)
    )
    yield repair(at_least("least risk minus 4·2^-n Σ_B (1-g_j)₊²", hardened.slack, -1e-9))
    yield instead(
        "True if neighbours are those of the circle (0 and n-1 too). Soft risk 0 forces g_j ≥ 1 on "
        "B, because the risk is at least 4·2^-n Σ_B (1-g_j)₊², hence g = 1_B, and without "
        "neighbours one head per bit."
    )
