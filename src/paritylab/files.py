"""The user's own folder and own code; files written in full or not at all come from xorfind."""

import importlib.util
import os
import stat
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Literal

from xorfind.files import check_target, write_atomically
from xorfind.untrusted import printable

__all__ = [
    "check_folder",
    "check_target",
    "line_of",
    "module_from_file",
    "user_folder",
    "write_atomically",
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


def module_from_file(path: Path, what: str) -> ModuleType:
    """The module that a user's own Python file makes. The file is run as code.

    what: what the file holds, such as "claims". It may import modules from its own folder. An error
    names the line of the file.
    """
    if not path.is_file():
        raise ValueError(f"no {what} file at {printable(str(path))}")
    spec = importlib.util.spec_from_file_location(f"paritylab_{what}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"a {what} file is a Python file ending in .py, got {path.name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path}, line {line_of(error, path) or 1}: {said}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def line_of(error: BaseException, file: Path) -> int | None:
    """The last line of a user's file on the way to the error, None if it was never there.

    Code that calls the library with a wrong value should hear of its own line, not of the line in
    the library that noticed.
    """
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno  # its traceback ends in the importer, not in the file
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno for frame in frames if frame.filename == str(file)]
    return own[-1] if own else None
