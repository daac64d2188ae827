"""Options that several commands have, and the check of their output files."""

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Literal

import typer

from paritylab._support.output_files import check_folder, check_target
from paritylab._support.user_folders import user_folder
from paritylab.cli import console

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
    Path | None,
    typer.Option(
        "--store",
        envvar="PARITYLAB_STORE",
        help="Where finished work is kept; a file in your data folder if absent.",
    ),
]
#: Outputs that are folders.
FOLDERS = ("report", "figures", "coq")
#: Exit code if a claim's or a block's code failed; the rest was done and saved.
FAILED = 4


def store_path(chosen: Path | None = None) -> Path:
    """The store: the one that was chosen, otherwise the one in the user's data folder.

    Where no folder of the user's is safe to write to, a file that is deleted at the end.
    """
    if chosen is not None:
        return chosen
    if (folder := user_folder("data")) is not None:
        return folder / "store.db"
    temporary = Path(tempfile.mkdtemp(prefix="paritylab-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    console.complain(
        "nothing is stored: you have no data folder that you alone can write to; name a file with "
        "--store or PARITYLAB_STORE"
    )
    return temporary / "store.db"


def check_outputs(**outputs: Path | str | None) -> None:
    """Refuse an output that could not be written before work starts; by the option's name.

    Those in FOLDERS are folders, all others files; "-" is standard output.
    """
    for name, path in outputs.items():
        if path is not None and path != "-":
            check = check_folder if name in FOLDERS else check_target
            check(Path(path), f"--{name}")
