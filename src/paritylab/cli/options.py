"""Options that several commands have, and the check of their output files."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from paritylab.files import check_folder, check_target

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
#: Outputs that are folders.
FOLDERS = ("report", "figures", "coq")
#: Exit code if a claim's or a block's code failed; the rest was done and saved.
FAILED = 4


def check_outputs(**outputs: Path | str | None) -> None:
    """Refuse an output that could not be written before work starts; by the option's name.

    Those in FOLDERS are folders, all others files; "-" is standard output.
    """
    for name, path in outputs.items():
        if path is not None and path != "-":
            check = check_folder if name in FOLDERS else check_target
            check(Path(path), f"--{name}")
