"""The folder that is the user's own; files written in full or not at all come from xorfind."""

import os
import stat
from pathlib import Path

from xorfind.files import check_target, write_atomically, written_beside

__all__ = [
    "check_folder",
    "check_target",
    "user_folder",
    "write_atomically",
    "written_beside",
]


def check_folder(path: Path, option: str) -> None:
    """Refuse a folder that could not be made or filled, or that is a link to another."""
    if path.is_symlink():
        raise ValueError(f"{option}: {path} is a symbolic link; name the folder itself")
    if path.exists() and not path.is_dir():
        raise ValueError(f"{option} needs a folder, {path} is a file")
    existing = path if path.exists() else path.absolute().parent
    if not existing.is_dir():
        raise ValueError(f"{option}: there is no folder {existing} to make {path.name} in")
    if not os.access(existing, os.W_OK):
        raise ValueError(f"{option}: the folder {existing} is not writable")


def user_folder() -> Path | None:
    """The folder below the user's caches that nobody else can write to; None if there is none.

    Compiled code and the key that marks one's own results are kept here, never in a working
    folder, which may have come from somebody else.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or ""
    base = Path(home) if Path(home).is_absolute() else Path.home() / ".cache"
    folder = base / "paritylab"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.lstat()
    except (OSError, RuntimeError):
        return None
    shared = hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o022)
    return None if shared or not stat.S_ISDIR(facts.st_mode) else folder
