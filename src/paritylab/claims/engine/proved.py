"""Evidence `proved`: a claim's certificate, verified by the independent checker in proofs/."""

from dataclasses import replace
from pathlib import Path

from paritylab import proofs
from paritylab.claims.engine.registry import Claim
from paritylab.claims.engine.verdict import Evidence, Judged


def with_proof(claim: Claim, judged: Judged) -> Judged:
    """The same verdict, with evidence `proved` if the claim's certificate settles this status.

    Without python-flint, or if the measurement came to another verdict than the proof, the
    evidence stays what the record says.
    """
    id = claim.certificate
    if id is None or not proofs.verified(id) or not proofs.settles(id, judged.status):
        return judged
    return replace(judged, evidence=Evidence.PROVED, proof=what_is_proved(id))


def what_is_proved(id: str) -> str:
    """What a certificate shows, with its setting; for a long proof also when it was verified."""
    said = proofs.provenance(id)
    return f"{proofs.title(id)} ({said})" if said else proofs.title(id)


def files_of(claim: Claim) -> list[Path]:
    """The files behind a proof."""
    return [] if claim.certificate is None else proofs.files_of(claim.certificate)
