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


#: Where a statement's title leaves out its setting and the file must stay as it was verified.
_WHERE = {
    "hg1-thm5": "masked heads, n = 8, k = 2, B = {0, 3}, τ = 1/8, b = 1/100, "
    "gradient flow or any step up to 2/15,000",
}


def what_is_proved(id: str) -> str:
    """The title of a certificate's statement, with its setting."""
    title = proofs.title(id)
    return f"{title} ({_WHERE[id]})" if id in _WHERE else title


def files_of(claim: Claim) -> list[Path]:
    """The files behind a proof."""
    return [] if claim.certificate is None else proofs.files_of(claim.certificate)
