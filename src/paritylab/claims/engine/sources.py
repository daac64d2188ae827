"""Where statements come from."""

from dataclasses import dataclass
from functools import partial

PAPERS = {
    "hg1": "k heads learn k-parity (Han & Ghoshdastidar, arXiv 2502.07553 v1)",
    "hg2": "two heads learn sparse XOR in one step (arXiv 2502.07553 v2)",
    "ks": "chain of thought learns parity (Kim & Suzuki, arXiv 2410.08633)",
    "dm": "nets learn parity from biased inputs (Daniely & Malach, arXiv 2002.07400)",
    "kou": "sign descent learns parity (Kou, Chen, Gu & Kakade, arXiv 2404.12376)",
    "barak": "hidden progress of SGD on parity (Barak et al., arXiv 2207.08799)",
    "lab": "beyond the papers: this laboratory's own statements",
}


@dataclass(frozen=True)
class Source:
    """paper: a tag in `PAPERS`. place: theorem, lemma, section or figure in it, or "ours".

    >>> HG1("Theorem 5")
    Source(paper='hg1', place='Theorem 5')
    """

    paper: str
    place: str

    def __post_init__(self) -> None:
        if self.paper not in PAPERS:
            raise ValueError(f"paper must be one of {', '.join(PAPERS)}, got {self.paper!r}")
        if not self.place:
            raise ValueError("a source names its place, such as 'Theorem 5'")


HG1 = partial(Source, "hg1")
HG2 = partial(Source, "hg2")
KS = partial(Source, "ks")
DM = partial(Source, "dm")
KOU = partial(Source, "kou")
BARAK = partial(Source, "barak")
#: A statement of this laboratory, or of whoever writes the claim.
OURS = Source("lab", "ours")
