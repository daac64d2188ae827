"""Which line of a claim's own code an error comes from."""

import traceback
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[2]


class Place(NamedTuple):
    """A line of a file."""

    file: Path
    line: int


def place_of(error: BaseException, file: Path) -> Place | None:
    """The last line on the way to the error in the claim's file or folder, not in the library.

    A claim that calls the library with a wrong value should hear of its own line, not of the line
    in the library that noticed. None if the error never passed through that folder.
    """
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        # Its traceback ends in the importer, not in the file that cannot be read.
        return Place(Path(error.filename), error.lineno)
    folder = file.resolve().parent
    inside = folder.is_relative_to(PACKAGE)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith("<"):
            continue  # generated code, such as the constructor of a dataclass
        path = Path(frame.filename).resolve()
        own = path.is_relative_to(folder) and (inside or not path.is_relative_to(PACKAGE))
        if own and frame.lineno and "site-packages" not in path.parts:
            return Place(path, frame.lineno)
    return None


def words_of(error: BaseException) -> str:
    """Kind and text of an error; of its kind alone if even its text raises."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def reason_of(error: BaseException, file: Path) -> str:
    """One line for people: what went wrong and where in the claim's own code."""
    text = " ".join(words_of(error).split())
    place = place_of(error, file)
    return text if place is None else f"{text} ({place.file.name}, line {place.line})"
