"""½E(ŷ-y)² of trained XOR models where no closed form serves: every input, or fresh samples."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from paritylab.learning.judging import MOST_BITS, SAMPLES
from paritylab.models import TwoHeads
from paritylab.precision import float64
from paritylab.problem import Parity
from paritylab.problem.sampling import each_key
from paritylab.risk import Risk, enumerated_risk, sampled_risk


class Judged(NamedTuple):
    """Risk and error of every run; kind: "exact", or "sampled" with one standard error."""

    risk: np.ndarray
    error: np.ndarray
    kind: str


def judge_models(models: Iterable[TwoHeads], targets: Sequence[Parity], keys: jax.Array) -> Judged:
    """The squared risk of each model on its target, one model in memory at a time."""
    found = [_risk(*each) for each in zip(models, targets, each_key(keys), strict=True)]
    kind = "exact" if targets[0].n <= MOST_BITS else "sampled"
    return Judged(
        np.array([each.value for each in found]), np.array([each.error for each in found]), kind
    )


def _risk(model: TwoHeads, target: Parity, key: jax.Array) -> Risk:
    with float64():
        finite = np.isfinite(np.asarray(model.weights())).all()
    if not finite:
        return Risk(np.nan, np.nan, "diverged")
    if target.n <= MOST_BITS:
        return enumerated_risk(model, target, "squared")
    rows = max(256, (1 << 22) // target.n)
    return sampled_risk(
        model,
        target,
        "squared",
        samples=SAMPLES,
        key=jax.random.fold_in(key, 6),
        batch_size=1 << (rows.bit_length() - 1),
    )
