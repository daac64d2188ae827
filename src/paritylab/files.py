"""The user's own folder and own code; files written in full or not at all."""

import importlib.util
import os
import stat
import sys
import tempfile
import traceback
from pathlib import Path
from types import ModuleType
from typing import Literal

from paritylab.untrusted import printable


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Write to a temporary file in the same folder, then rename it into place.

    A pipe, a terminal or /dev/stdout is written to as it is; a link is followed.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if _is_stream(path):
            with path.open("ab") as stream:
                stream.write(data)
        else:
            _replace(path.resolve(), data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None
    return path


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        # mkstemp makes private files; a result file gets the permissions any new file would.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def check_target(path: Path, option: str) -> None:
    """Refuse a file that could not be written before hours are spent on what goes into it."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ValueError(f"{option} needs a file in an existing folder, got {path}")
    folder = path.resolve().parent
    if not _is_stream(path) and not os.access(folder, os.W_OK):
        raise ValueError(f"{option}: the folder {folder} is not writable")


def _is_stream(path: Path) -> bool:
    """Whether the path is a pipe, a terminal, another device, or an output such as /dev/stdout."""
    is_output = str(path).startswith(("/dev/std", "/dev/fd/"))
    return is_output or (path.exists() and not path.is_file())


def check_folder(path: Path, option: str) -> None:
    """Refuse a folder that could not be made or filled."""
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
