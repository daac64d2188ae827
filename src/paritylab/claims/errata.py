"""What would have to change in the papers, line by line: the entries of errata.toml.

The numbers are not here; they come from the rows of the claims that an entry names.
"""

import tomllib
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
    claims: tuple[str, ...] = ()
    is_note: bool = False
    tested: str = ""


def _read(path: Path) -> tuple[Erratum, ...]:
    listed = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(
        Erratum(
            paper,
            each["place"],
            " ".join(each["change"].split()),
            tuple(each.get("claims", ())),
            each.get("note", False),
            each.get("tested", ""),
        )
        for paper, entries in listed.items()
        for each in entries
    )


ERRATA = _read(Path(__file__).with_suffix(".toml"))
