"""Where statements come from."""

from dataclasses import dataclass
from functools import partial

from paritylab.checks import shortened

PAPERS = {
    "hg1": "k heads learn k-parity (Han & Ghoshdastidar, arXiv 2502.07553 v1)",
    "hg2": "two heads learn sparse XOR in one step (arXiv 2502.07553 v2)",
    "ks": "chain of thought learns parity (Kim & Suzuki, arXiv 2410.08633)",
    "dm": "nets learn parity from biased inputs (Daniely & Malach, arXiv 2002.07400)",
    "kou": "sign descent learns parity (Kou, Chen, Gu & Kakade, arXiv 2404.12376)",
    "barak": "hidden progress of SGD on parity (Barak et al., arXiv 2207.08799)",
    "lab": "beyond the papers: this laboratory's own statements",
}

#: How each source is known here; what is not listed is the laboratory's own.
READINGS = {
    "hg1": "text",
    "hg2": "abstract",
    "ks": "text",
    "dm": "second-hand",
    "kou": "second-hand",
    "barak": "second-hand",
}
#: Ways to know a source; a statement is judged in the tally only if its words were read.
READ = ("text", "code")
KNOWN = (*READ, "second-hand", "abstract")


@dataclass(frozen=True)
class Source:
    """paper: a tag in `PAPERS`. place: theorem, lemma, section or figure in it, or "ours".

    reading: how the place is known here, one of `KNOWN`; the paper's own if absent, None if ours.

    >>> HG1("Theorem 5")
    Source(paper='hg1', place='Theorem 5', reading='text')
    """

    paper: str
    place: str
    reading: str | None = None

    def __post_init__(self) -> None:
        if self.paper not in PAPERS:
            names = ", ".join(PAPERS)
            raise ValueError(f"paper must be one of {names}, got {shortened(self.paper)}")
        if not isinstance(self.place, str) or not self.place:
            raise ValueError("a source names its place, such as 'Theorem 5'")
        if self.reading is None:
            object.__setattr__(self, "reading", READINGS.get(self.paper))
        elif self.reading not in KNOWN:
            names = ", ".join(KNOWN)
            raise ValueError(f"reading must be one of {names}, got {shortened(self.reading)}")

    @property
    def is_read(self) -> bool:
        """Whether its words were read, or are our own."""
        return self.reading is None or self.reading in READ


HG1 = partial(Source, "hg1")
HG2 = partial(Source, "hg2")
KS = partial(Source, "ks")
DM = partial(Source, "dm")
KOU = partial(Source, "kou")
BARAK = partial(Source, "barak")
#: A statement of this laboratory, or of whoever writes the claim.
OURS = Source("lab", "ours")
