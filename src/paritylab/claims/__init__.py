"""Theory against learning: every claim is a function that returns a finding."""

from paritylab.claims.engine import Trial, check
from paritylab.claims.registry import Claim, claim, claims_from_file, registry
from paritylab.claims.verdict import Effort, Evidence, Finding, Status, Verdict

__all__ = [
    "Claim",
    "Effort",
    "Evidence",
    "Finding",
    "Status",
    "Trial",
    "Verdict",
    "check",
    "claim",
    "claims_from_file",
    "registry",
]
