"""Files written in full or not at all, and their targets checked before any work is done."""

import os
import tempfile
from pathlib import Path


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
