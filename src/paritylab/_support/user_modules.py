"""Python files of a user's own, loaded as modules, and the line in them that an error is about."""

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from paritylab._support.safe_io import printable


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
