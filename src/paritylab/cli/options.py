"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

# typing.Literal, not the enums of paritylab.claims: --help must not import them.
EffortName = Literal["quick", "default", "full"]
JsonFile = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write rows as JSON; - for stdout.")
]
PaperTag = Annotated[
    str | None,
    typer.Option("--paper", metavar="TAG", help="Only one source: hg1, hg2, ks, lab, dm, …"),
]
StoreFile = Annotated[
    Path,
    typer.Option("--store", envvar="PARITYLAB_STORE", help="Where finished work is kept."),
]
DEFAULT_STORE = Path(".paritylab/store.db")
#: Exit code if a claim's or a block's code failed; the rest was done and saved.
FAILED = 4
