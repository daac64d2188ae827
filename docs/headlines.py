"""README's findings and tally, made from rows; words for another verdict are refused."""

import re
from collections.abc import Callable
from typing import Any

from paritylab.claims import PAPERS, Status
from paritylab.claims.engine.rows import tally
from paritylab.statistics import Rate

Row = dict[str, Any]


def rates(row: Row, label: str) -> dict[str, Rate]:
    """The rates that a row has under a label, by case."""
    found = row["measured"][label]
    cases = found if "successes" not in found else {"": found}
    return {case: Rate(each["successes"], each["runs"]) for case, each in cases.items()}


def of_theorem5(row: Row) -> str:
    best = rates(row, "runs that come within 0.05 of the risk on B, best setting")
    case, worst = min(best.items(), key=lambda pair: pair[1].value)
    proof = row["proof"]
    told = (
        f"; {proof[0].lower()}{proof[1:]} in the smallest setting, which is proved" if proof else ""
    )
    return (
        "**Gradient descent on the attention heads of Han and Ghoshdastidar often gets stuck.** "
        f"Their Theorem 5 promises that it converges. At {case} the best of all settings tried "
        f"brings {worst} runs close to the least risk{told}"
    )


def of_annealed(row: Row) -> str:
    starts = rates(row, "single starts that end on B")
    listed = ", ".join(f"{rate.count} at {case}" for case, rate in starts.items())
    return (
        "**The same heads do learn with three changes,** a cosine readout, a temperature that "
        "falls and heads that may jump: single starts that end exactly on the hidden bits are "
        f"{listed}"
    )


def of_chain(row: Row) -> str:
    cells = rates(row, "runs that are solved")
    case, rate = list(cells.items())[-1]
    return (
        "**Shown a chain of thought, one layer learns a parity of half of all bits in a single "
        f"step,** as Kim and Suzuki say: {rate} runs at {case} are right on every fresh input"
    )


#: The claim, the verdict the words are for, the words.
FINDINGS: tuple[tuple[str, Status, Callable[[Row], str]], ...] = (
    ("hg1-thm5", Status.REFUTED, of_theorem5),
    ("lab-heads-learn", Status.HOLDS, of_annealed),
    ("ks-thm5", Status.HOLDS, of_chain),
)


def findings(rows: dict[str, Row]) -> str:
    """Three findings in plain words, their numbers from rows."""
    lines = []
    for id, status, words in FINDINGS:
        row = rows[id]
        if row["status"] != status:
            raise ValueError(f"README's words on {id} are for {status}, its row is {row['status']}")
        lines.append(f"- {words(row)} ([`{id}`](docs/claims/{id}.md), {row['status']}).")
    return "\n".join(lines)


def verdicts(rows: dict[str, Row]) -> str:
    """A line per paper: what was tested and what was checked."""
    lines = []
    for paper in PAPERS:
        mine = [row for row in rows.values() if row["paper"] == paper]
        if mine:
            lines.append(f"- {paper.upper()}: {tally(mine)}.")
    return "\n".join(lines)


def filled(text: str, rows: dict[str, Row]) -> str:
    """README with its findings and its tally brought up to date."""
    for name, made in (("findings", findings(rows)), ("tally", verdicts(rows))):
        block = rf"(<!-- {name} -->\n).*?(?=<!-- end -->)"
        text = re.sub(block, lambda found, made=made: f"{found[1]}{made}\n", text, flags=re.DOTALL)
    return text
