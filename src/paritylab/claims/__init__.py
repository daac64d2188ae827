"""Theory against learning: a claim is a measurement and a judge of what was measured."""

from paritylab.claims.engine.figures import Bars, Heatmap, Histogram, Line, Lines, Mark, SideBySide
from paritylab.claims.engine.registry import Claim, Efforts, claim, claims_from_file, registry
from paritylab.claims.engine.running import Trial, check
from paritylab.claims.engine.sources import HG1, HG2, KS, OURS, PAPERS, Source
from paritylab.claims.engine.verdict import (
    Effort,
    Evidence,
    Finding,
    Judged,
    Status,
    Verdict,
    corrected,
    holds,
    refuted,
    undecided,
)

__all__ = [
    "HG1",
    "HG2",
    "KS",
    "OURS",
    "PAPERS",
    "Bars",
    "Claim",
    "Effort",
    "Efforts",
    "Evidence",
    "Finding",
    "Heatmap",
    "Histogram",
    "Judged",
    "Line",
    "Lines",
    "Mark",
    "SideBySide",
    "Source",
    "Status",
    "Trial",
    "Verdict",
    "check",
    "claim",
    "claims_from_file",
    "corrected",
    "holds",
    "refuted",
    "registry",
    "undecided",
]
