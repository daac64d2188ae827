"""What would have to change in the papers, line by line: the entries of errata.toml.

The numbers are not here; they come from the rows of the claims that an entry names.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Erratum(NamedTuple):
    """paper, place: where. change: what would have to change there. claims: which show it.

    is_note: the statement is true as printed; a line near it may be put more exactly. tested: the
    unit test that shows it, where it is true by definition.
    """

    paper: str
    place: str
    change: str
    claims: Sequence[str] = ()
    is_note: bool = False
    tested: str = ""


_LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ERRATA = tuple(
    Erratum(paper, **{**each, "change": " ".join(each["change"].split())})
    for paper, entries in _LISTED.items()
    for each in entries
)
