"""Which proofs count as verified: short ones are run, long ones need a record of their files.

The record of a long proof holds a fingerprint of its certificate and of every module of
`paritylab.proofs` that takes part in the proof. After a change to one of these files the record no
longer counts, until `paritylab prove --record` has verified the proof again.
"""

import ast
import hashlib
import importlib.metadata
import json
import time
from functools import cache
from pathlib import Path
from typing import Any

from paritylab.proofs.checker import (
    CERTIFICATES,
    HERE,
    STATEMENTS,
    Result,
    expected_seconds,
    missing_extra,
    provable,
    verify,
)

#: Proofs that take longer than this many seconds are not repeated by `verified`.
LIVE_SECONDS = 20
#: For those: with which files, with what and when `prove --record` verified them last.
RECORD = HERE / "verified.json"
#: The results of `verified`, by id and fingerprint; in memory only.
_RESULTS: dict[tuple[str, str], bool] = {}


def verified(id: str) -> bool:
    """Whether the statement is proved: shown here and now, once per certificate and checker.

    A long proof counts if `prove --record` verified exactly these files with the python-flint that
    is installed.
    """
    if missing_extra() or id not in provable():
        return False
    key = (id, fingerprint(id))
    if expected_seconds(id) > LIVE_SECONDS:
        return recorded().get(id, {}).get("fingerprint") == key[1]
    if key not in _RESULTS:
        _RESULTS[key] = verify(id).verified
    return _RESULTS[key]


def recorded() -> dict[str, dict[str, Any]]:
    """The recorded verifications of long proofs, by id: see `record`."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.is_file() else {}


def record(result: Result) -> None:
    """Keep files, day, python-flint and time of a long proof; one that fails loses its entry."""
    if expected_seconds(result.claim) <= LIVE_SECONDS:
        return
    entries = {id: entry for id, entry in recorded().items() if id != result.claim}
    if result.verified:
        entries[result.claim] = {
            "fingerprint": fingerprint(result.claim),
            "python-flint": flint_version(),
            "day": time.strftime("%Y-%m-%d", time.gmtime()),
            "seconds": round(result.seconds),
            "wall": round(result.wall),
        }
    RECORD.write_text(json.dumps(entries, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def provenance(id: str) -> str:
    """When and with what a long proof was verified, or why its record does not count; else ''."""
    if expected_seconds(id) <= LIVE_SECONDS:
        return ""
    entry = recorded().get(id)
    if entry is None:
        return "never recorded as verified: run paritylab prove --record"
    sentence = f"verified on {entry['day']} with python-flint {entry['python-flint']}"
    sentence += f" in {entry['seconds']} s of processor time"
    if entry["fingerprint"] == fingerprint(id):
        return sentence
    installed = f"these files and python-flint {flint_version()}"
    return f"{sentence}, not with {installed}: run paritylab prove --record"


def flint_version() -> str:
    """The version of python-flint that is installed."""
    return importlib.metadata.version("python-flint")


def files_of(id: str) -> list[Path]:
    """The files that a proof rests on: its certificate, then modules of `paritylab.proofs`.

    The modules are the statement, the checker, and all that these import, directly or not.
    """
    modules = set(shared_modules())
    _add_imports(STATEMENTS / f"{id.replace('-', '_')}.py", modules)
    return [CERTIFICATES / f"{id}.json", *sorted(modules)]


def shared_modules() -> list[Path]:
    """The modules that every proof rests on: the checker and what it imports, in order."""
    modules: set[Path] = set()
    _add_imports(HERE / "checker.py", modules)
    return sorted(modules)


def fingerprint(id: str) -> str:
    """A hash of the names and contents of a proof's files, and of python-flint's version."""
    digest = hashlib.sha256(flint_version().encode())
    for path in files_of(id):
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"\0{path.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _add_imports(module: Path, modules: set[Path]) -> None:
    """Add a module to the set, with every module of `paritylab.proofs` that it imports.

    A package's `__init__.py` is one of them only if a name is taken from it.
    """
    if module in modules:
        return
    modules.add(module)
    if module.is_file():
        for name in imported_names(module.read_bytes()):
            _add_imports(_path_of(name), modules)


@cache
def imported_names(source: bytes) -> list[str]:
    """The dotted names below `paritylab.proofs` that a text imports, inside functions too."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError("modules of paritylab.proofs import by absolute names only")
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in names if f"{name}.".startswith("paritylab.proofs.")]


def _path_of(name: str) -> Path:
    """The file of a module, or of the module that has the last part of a dotted name."""
    parts = name.split(".")[2:]
    for place in (HERE.joinpath(*parts), HERE.joinpath(*parts[:-1])):
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file() and path.is_relative_to(HERE):
                return path
    raise ValueError(f"no module of paritylab.proofs has {name}")
