"""Files that are written in full or not at all."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Write to a temporary file beside the path, then rename it into place."""
    with written_beside(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
    return path


@contextmanager
def written_beside(path: Path) -> Iterator[BinaryIO]:
    """A stream to a temporary file beside the path, renamed into place if nothing went wrong.

    A pipe or terminal is written to as it is; a link is never followed.
    """
    try:
        if (descriptor := _own_descriptor(path)) is not None:
            with os.fdopen(os.dup(descriptor), "wb") as stream:
                yield stream
            return
        if _is_stream(path):
            with path.open("wb") as stream:
                yield stream
            return
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise ValueError(f"cannot write {path}: it is a link or no ordinary file")
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
            # mkstemp makes private files; a result file gets the permissions any new file would.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None


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
        raise ValueError(f"{option}: {path} is no ordinary file")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option}: the folder {folder} is not writable")


def _own_descriptor(path: Path) -> int | None:
    """The number of this process's own output that a path such as /dev/stdout stands for."""
    names = {"/dev/stdout": 1, "/dev/stderr": 2}
    text = str(path)
    for folder in ("/dev/fd/", "/proc/self/fd/"):
        if text.startswith(folder) and text.removeprefix(folder).isdigit():
            return int(text.removeprefix(folder))
    return names.get(text)


def _is_stream(path: Path) -> bool:
    """Whether the path is a pipe, a terminal or the null device."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    if not stat.S_ISCHR(mode):
        return stat.S_ISFIFO(mode)
    try:
        if path.samefile(os.devnull):
            return True
        handle = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.isatty(handle)
    finally:
        os.close(handle)
