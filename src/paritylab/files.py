"""Files that are written in full or not at all."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Write to a temporary file beside the path, then rename it into place."""
    data = content.encode() if isinstance(content, str) else content
    try:
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
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None
    return path


def check_target(path: Path, option: str) -> None:
    """Refuse a file that could not be written before hours are spent on what goes into it."""
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir():
        raise ValueError(f"{option} needs a file in an existing folder, got {path}")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option}: the folder {folder} is not writable")
