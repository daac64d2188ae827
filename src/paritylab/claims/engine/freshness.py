"""What a verdict depends on, and whether any of it has changed since.

A verdict is stored with the files behind it and their hashes: the claim's own file, the modules of
the package that it imports (through as many others as need be), and the files that it says it
reads. An edit anywhere else leaves it fresh; what a claim reads beyond that is not seen. To tell,
only hashes are compared; jax is not loaded.
"""

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from paritylab.sweep import provenance

PACKAGE = Path(__file__).resolve().parents[2]
_NAME = PACKAGE.name
#: Hash of a file that is not there.
GONE = "gone"


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
    return {_label(file): _hash(str(file), _stamp(file)) for file in files}


def is_fresh(kept: Mapping[str, str] | None) -> bool:
    """Whether every file has the hash that was kept of it."""
    if not kept:
        return False
    return all(_now(label) == old for label, old in kept.items())


def _now(label: str) -> str:
    """The hash of a file as it is now."""
    file = PACKAGE / label[2:] if label.startswith("~/") else Path(label)
    return _hash(str(file), _stamp(file))


def _label(file: Path) -> str:
    inside = file.is_relative_to(PACKAGE)
    return f"~/{file.relative_to(PACKAGE).as_posix()}" if inside else str(file)


def _stamp(file: Path) -> tuple[int, int]:
    try:
        about = file.stat()
    except OSError:
        return (0, 0)
    return about.st_mtime_ns, about.st_size


@cache
def _hash(file: str, stamp: tuple[int, int]) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return GONE


@cache
def _imports_of(file: Path) -> tuple[Path, ...]:
    """The package's modules that a file's import statements name, inner ones included."""
    try:
        names = provenance.imported_names(file)
    except (OSError, SyntaxError, ValueError):
        return ()
    inside = (name for name in names if name.split(".")[0] == _NAME)
    found = (_home_of(name) for name in inside)
    return tuple(file for file in found if file is not None)


@cache
def _home_of(name: str) -> Path | None:
    """The module behind a dotted name: itself, or the one from which its package has it."""
    parts = name.split(".")[1:]
    for depth in range(len(parts), 0, -1):
        stem = PACKAGE.joinpath(*parts[:depth])
        if stem.with_suffix(".py").is_file():
            return stem.with_suffix(".py")
        if (stem / "__init__.py").is_file():
            return _reexported(stem, parts[depth]) if depth < len(parts) else stem / "__init__.py"
    return _reexported(PACKAGE, parts[0]) if parts else None


@cache
def _reexported(package: Path, name: str) -> Path:
    """The module from which a package's `__init__` (or its stub) imports a name."""
    for source in (package / "__init__.py", package / "__init__.pyi"):
        if not source.is_file():
            continue
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    home = f"{node.module}.{alias.name}"
                    if (alias.asname or alias.name) == name and home.startswith(f"{_NAME}."):
                        return _home_of(home) or source
    return package / "__init__.py"
