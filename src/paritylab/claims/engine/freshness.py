"""What a verdict depends on, and whether any of it has changed since.

A verdict is stored with the files behind it and their hashes: the claim's own file, the modules of
the package that it imports (through as many others as need be), and the files that it says it
reads. An edit anywhere else leaves it fresh; what a claim reads beyond that is not seen. To tell,
only hashes are compared; jax is not loaded.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from paritylab.execution import provenance

PACKAGE = Path(__file__).resolve().parents[2]


def verdict_key(id: str, effort: str, seed: int, file: Path | None) -> str:
    """The place of a verdict in a store; file: of a user's own claim, None for the lab's."""
    machine = [provenance.versions(), provenance.device(), provenance.precision()]
    parts = [id, effort, seed, "" if file is None else str(file), machine]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def files_behind(path: Path) -> list[Path]:
    """A file and every module of the package that it imports, directly or through others.

    `from paritylab.room import name` counts the module that defines the name, not the whole room.
    """
    found, waiting = set(), [path.resolve()]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imports_of(file)
    return sorted(found)


def hashes(files: Iterable[Path]) -> dict[str, str]:
    """Hashes by file; the package's own under their place in it, so that a tree may be moved."""
    inside = {file: file.is_relative_to(PACKAGE) for file in files}
    return {
        str(file.relative_to(PACKAGE) if own else file): _hash(file) for file, own in inside.items()
    }


def is_fresh(kept: Mapping[str, str] | None) -> bool:
    """Whether every file has the hash that was kept of it."""
    # A label is a place in the package or a whole path, before which pathlib drops the package.
    return bool(kept) and all(_hash(PACKAGE / label) == old for label, old in (kept or {}).items())


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "gone"


@cache
def _imports_of(file: Path) -> tuple[Path, ...]:
    """The package's modules that a file's import statements name, inner ones included."""
    try:
        names = provenance.imported_names(file)
    except (OSError, SyntaxError, ValueError):
        return ()
    inside = (name for name in names if name.startswith(f"{PACKAGE.name}."))
    return tuple(home for home in map(_home_of, inside) if home is not None)


@cache
def _home_of(name: str) -> Path | None:
    """The module behind a dotted name: itself, the one that defines the name, or the one from
    which a package's `__init__` (or its stub) imports it."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py", path.parent.with_suffix(".py")):
        if file.is_file():
            return file
    listed = [file for file in sorted(path.parent.glob("__init__.py*")) if file.is_file()]
    for imported in (each for file in listed for each in provenance.imported_names(file)):
        if imported.startswith(f"{PACKAGE.name}.") and imported.endswith(f".{path.name}"):
            return _home_of(imported)
    return listed[0] if listed else None
