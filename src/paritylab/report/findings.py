"""What the laboratory found, in three sentences: README and the report open with them.

The words are written for one verdict, their numbers come from the row's comparisons.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from paritylab.claims.engine.verdict import Status
from paritylab.report import words

Row = Mapping[str, Any]


class Headline(NamedTuple):
    """Words for the verdict `status` of a claim.

    text: says more than the title; "{runs that learn}" stands for the count of the last comparison
    whose label begins so, with the rest of that label. proved: follows "text" where the row has a
    proof.
    """

    id: str
    status: Status
    title: str
    text: str
    proved: str = ""


class Finding(NamedTuple):
    """A headline with the numbers of a row."""

    id: str
    status: str
    title: str
    text: str


HEADLINES = (
    Headline(
        "hg1-thm5",
        Status.REFUTED,
        "Gradient descent on the attention heads of Han and Ghoshdastidar often gets stuck for "
        "ever.",
        "Their Theorem 5 says that it always converges to risk 0, whatever the smoothing of the "
        "network and the temperature of the attention. Among 8 bits, with the best settings tried, "
        "{runs that reach risk 0.05, best setting, n = 8, k = 2} runs of two heads reach risk 0.05 "
        "and {runs that reach risk 0.05, best setting, n = 8, k = 3} of three heads do; guessing "
        "has risk 1.",
        "Proved, for one hidden pair among 8 bits, temperature 1/8 and small steps: from at least "
        "a quarter of all random starts two heads stay at risk 1 or more for ever.",
    ),
    Headline(
        "lab-heads-learn",
        Status.HOLDS,
        "Another training finds the bits: a cosine in place of the network, a temperature that "
        "falls, heads that may jump.",
        "Runs that end on exactly the hidden bits: {runs that end on B with restarts}; measured, "
        "not proved.",
    ),
    Headline(
        "ks-thm5",
        Status.HOLDS,
        "Shown the steps of a chain of thought, one layer learns a parity of half of all bits in a "
        "single gradient step, as Kim and Suzuki say.",
        "Runs that are right after that step: {runs solved after one step}.",
    ),
)


def finding_of(headline: Headline, row: Row) -> Finding:
    """The headline with its numbers from the claim's row.

    Raises ValueError where the row has another verdict or lacks a comparison that the words name.
    """
    if row["status"] != headline.status:
        raise ValueError(
            f"the words on {headline.id} are for {headline.status}, its row is {row['status']}"
        )
    text = re.sub(r"\{(.*?)\}", lambda named: _count(row, named[1]), headline.text)
    proved = f" {headline.proved}" if headline.proved and row.get("proof") else ""
    return Finding(headline.id, str(headline.status), headline.title, text + proved)


def findings(rows: Iterable[Row]) -> list[Finding]:
    """The headlines that these rows bear out. A row of another size speaks in its own sentence."""
    by_id, shown = {row["id"]: row for row in rows}, []
    for headline in HEADLINES:
        row = by_id.get(headline.id)
        if row is None or row["status"] != headline.status:
            continue
        try:
            shown.append(finding_of(headline, row))
        except ValueError:
            told = words.prose(row["finding"] or "")
            shown.append(Finding(headline.id, str(headline.status), headline.title, told))
    return shown


def _count(row: Row, label: str) -> str:
    """Successes of runs in the last comparison whose label begins so: "12 of 12 (n = 256)"."""
    fitting = [line for line in words.lines(row) if line.asked.startswith(label)]
    if not fitting:
        raise ValueError(f"{row['id']} has no comparison whose label begins with {label!r}")
    place = fitting[-1].asked.removeprefix(label).strip(", ")
    return fitting[-1].measured.partition(",")[0] + (f" ({place})" if place else "")
