"""What the papers say, statement by statement, and which claim runs it.

The lists are hg1.toml, hg2.toml and ks.toml beside this file, in the order of the text. An entry
has place and says (one line, in our words) and either claims, a list of ids, or none, the reason
why nothing is run; note, if there is one, says what else there is to say.
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paritylab.claims.engine.verdict import PAPERS

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Statement:
    """A numbered statement, figure, experiment, remark or open question of a paper."""

    place: str
    says: str
    claims: Sequence[str] = ()
    none: str = ""
    note: str = ""


def statements(paper: str) -> tuple[Statement, ...]:
    """The statements of a paper in the order of its text.

    >>> statements("ks")[0].place
    'Abstract (1)'
    """
    listed = tomllib.loads((HERE / f"{paper}.toml").read_text(encoding="utf-8"))["statement"]
    return tuple(Statement(**each) for each in listed)


def covered_papers() -> tuple[str, ...]:
    """The papers that have a list: those whose text the laboratory follows."""
    return tuple(paper for paper in PAPERS if (HERE / f"{paper}.toml").is_file())


def claims_of(listed: Iterable[Statement]) -> tuple[str, ...]:
    """The claims that the statements name, each once, in order.

    >>> claims_of([Statement("1", "a", ("x", "y")), Statement("2", "b", ("x",))])
    ('x', 'y')
    """
    return tuple(dict.fromkeys(id for each in listed for id in each.claims))
