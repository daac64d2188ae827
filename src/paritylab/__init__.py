"""A laboratory that runs the theory of how attention learns parity.

Public names load their module on first use, so importing the package is quick and changes no
global state.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "paritylab.problem": (
        "Parity", "ParityTree", "random_parity", "random_tree", "sample", "batches", "all_bits",
        "as_bits", "bits_from_signs", "signs_from_bits",
    ),
    "paritylab.models": (
        "HeadAttention", "FullFormAttention", "FeedForward", "Circle", "OneHot", "RandomSigns",
        "TwoHeads", "ChainModel", "Zigzag", "Cosine", "parity_network", "parity_transformer",
    ),
    "paritylab.learning": (
        "LOSSES", "Loss", "Risk", "population_risk", "population_gradient", "model_gradient",
        "enumerated_risk", "enumerated_gradient", "sampled_risk", "sampled_gradient",
        "Procedure", "HeadRuns", "train_heads", "random_targets", "Annealing", "anneal_heads",
        "train_xor", "streamed_step", "train_chain", "train_levels", "teacher_gradient",
    ),
    "paritylab.claims": (
        "Claim", "Effort", "Evidence", "Finding", "Status", "Trial", "Verdict",
        "RateOf", "check", "claim", "claims_from_file", "registry",
    ),
    "paritylab.report": ("write_report",),
    "paritylab.precision": ("float64",),
}  # fmt: skip

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]  # noqa: PLE0604

if TYPE_CHECKING:
    from paritylab.claims import (
        Claim as Claim,
        Effort as Effort,
        Evidence as Evidence,
        Finding as Finding,
        RateOf as RateOf,
        Status as Status,
        Trial as Trial,
        Verdict as Verdict,
        check as check,
        claim as claim,
        claims_from_file as claims_from_file,
        registry as registry,
    )
    from paritylab.learning import (
        LOSSES as LOSSES,
        Annealing as Annealing,
        HeadRuns as HeadRuns,
        Loss as Loss,
        Procedure as Procedure,
        Risk as Risk,
        anneal_heads as anneal_heads,
        enumerated_gradient as enumerated_gradient,
        enumerated_risk as enumerated_risk,
        model_gradient as model_gradient,
        population_gradient as population_gradient,
        population_risk as population_risk,
        random_targets as random_targets,
        sampled_gradient as sampled_gradient,
        sampled_risk as sampled_risk,
        streamed_step as streamed_step,
        teacher_gradient as teacher_gradient,
        train_chain as train_chain,
        train_heads as train_heads,
        train_levels as train_levels,
        train_xor as train_xor,
    )


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'paritylab' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
