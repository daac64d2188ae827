"""Parity without networks: what attention is compared with. Nothing here imports jax.

Elimination over GF(2), exhaustive correlation, the Walsh transform, meet in the middle and search
under label noise, behind one function, `solve`, and one scikit-learn estimator.
"""

from typing import TYPE_CHECKING, Any

from paritylab.baselines.answer import Answer as Answer
from paritylab.baselines.gf2 import (
    affine_solutions as affine_solutions,
    contradictory_rows as contradictory_rows,
)
from paritylab.baselines.power import (
    detectable_noise as detectable_noise,
    rows_needed as rows_needed,
    support_power as support_power,
)
from paritylab.baselines.solving import METHODS as METHODS, solve as solve

if TYPE_CHECKING:
    from paritylab.baselines.classifier import ParityClassifier as ParityClassifier

__all__ = [
    "METHODS",
    "Answer",
    "ParityClassifier",
    "affine_solutions",
    "contradictory_rows",
    "detectable_noise",
    "rows_needed",
    "solve",
    "support_power",
]


def __getattr__(name: str) -> Any:
    """`ParityClassifier` on first use: it needs scikit-learn, the others do not."""
    if name == "ParityClassifier":
        from paritylab.baselines.classifier import ParityClassifier

        return ParityClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
