"""Files that are written in full or not at all, and the folder that is the user's own."""

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


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


def check_folder(path: Path, option: str) -> None:
    """Refuse a folder that could not be made or filled, or that is a link to another."""
    if path.is_symlink():
        raise ValueError(f"{option}: {path} is a symbolic link; name the folder itself")
    if path.exists() and not path.is_dir():
        raise ValueError(f"{option} needs a folder, {path} is a file")
    existing = next(each for each in [path, *path.absolute().parents] if each.exists())
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


@contextmanager
def held_alone(name: str) -> Iterator[bool]:
    """Whether no other process of this user holds this name now; held until the block ends.

    A process that dies lets go. Where the system has no such locks, everybody is alone.
    """
    folder = user_folder()
    if folder is None or fcntl is None:
        yield True
        return
    path = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.held"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        yield True
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = False
        except OSError:
            alone = True
        yield alone
    finally:
        os.close(handle)


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
