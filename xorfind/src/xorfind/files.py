"""Files that are written in full or not at all."""

import os
import re
import stat
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Write to a temporary file in the same folder, then rename it into place.

    A pipe, a terminal or /dev/stdout is written to as it is; a link is never followed.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if (descriptor := _own_descriptor(path)) is not None:
            with os.fdopen(os.dup(descriptor), "wb") as stream:
                stream.write(data)
        elif _is_stream(path):
            path.write_bytes(data)
        elif path.is_symlink() or (path.exists() and not path.is_file()):
            raise ValueError(f"cannot write {path}: it is a link or no ordinary file")
        else:
            _replace(path, data)
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
    if _own_descriptor(path) is not None or _is_stream(path):
        return
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir():
        raise ValueError(f"{option} needs a file in an existing folder, got {path}")
    if path.is_symlink():
        raise ValueError(f"{option}: {path} is a symbolic link; name the file itself")
    if path.exists() and not path.is_file():
        raise ValueError(f"{option}: {path} is not an ordinary file")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option}: the folder {folder} is not writable")


def _own_descriptor(path: Path) -> int | None:
    """The number of this process's own output that a path such as /dev/stdout stands for."""
    match = re.fullmatch(r"(?:/dev|/proc/self)/fd/(\d+)", str(path))
    return int(match[1]) if match else {"/dev/stdout": 1, "/dev/stderr": 2}.get(str(path))


def _is_stream(path: Path) -> bool:
    """Whether the path is a pipe, a terminal or another device that is written byte by byte."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
