"""The package's own folder for a user's data or caches."""

import os
import stat
from pathlib import Path
from typing import Literal


def user_folder(kind: Literal["cache", "data"]) -> Path | None:
    """The package's folder for the user's data or caches, made if need be; None if there is none
    that nobody else can write to.

    What others wrote must not be trusted: compiled code is run, and stored rows are believed. So
    neither is kept in a working folder, which may have come from somebody else.
    """
    import platformdirs

    place = platformdirs.user_data_path if kind == "data" else platformdirs.user_cache_path
    folder = place("paritylab", appauthor=False)
    if not folder.is_absolute():  # no home, or a variable that the standard says to ignore
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.lstat()
    except OSError:
        return None
    shared = hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o022)
    writable = stat.S_ISDIR(facts.st_mode) and os.access(folder, os.W_OK | os.X_OK)
    return folder if writable and not shared else None
