"""Under which key a verdict is stored: a hash of everything that it rests on.

Those are the package's code without report, command line and the other claim modules, the
certificates, the claim's own module with its counterexample, the libraries' versions, the device
and jax's flags, and the effort and the seed, which fix the settings. To tell, files are hashed; jax
is not loaded.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from paritylab.claims.engine.verdict import PAPERS
from paritylab.execution import provenance

PACKAGE = Path(__file__).resolve().parents[2]
CLAIMS, PROOFS = PACKAGE / "claims", PACKAGE / "proofs"
#: How a claim module, or a counterexample, names another claim module that it imports.
_CLAIM_MODULE = re.compile(rf"\bparitylab\.claims\.({'|'.join(PAPERS)})\.(\w+)")


def verdict_key(id: str, effort: str, seed: int, files: Iterable[Path]) -> str:
    """The key of a verdict in a store. files: what the claim alone rests on."""
    hashes = {_label(file): _hash(file) for file in files}
    facts = [id, effort, seed, engine_fingerprint(), provenance.fingerprint_of(None), hashes]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def files_of_claim(id: str, module: Path) -> list[Path]:
    """What a claim of the lab rests on alone: its module, the claim modules that this one imports,
    directly or through others, and its counterexample."""
    files: set[Path] = set()
    waiting = {module, module.parent / "counterexamples" / f"{id}.py"}
    while waiting:
        file = waiting.pop()
        files |= {file, file.parent / "__init__.py"}
        named = _CLAIM_MODULE.findall(_text(file))
        waiting |= {CLAIMS / paper / f"{name}.py" for paper, name in named} - files
    return sorted(file for file in files if file.is_file())


def files_of_own_claim(file: Path, reads: Iterable[str]) -> list[Path]:
    """What a claim of a user's file rests on: the file, the modules in its folder that it imports,
    and the files that it says it reads. Empty without the latter: then the claim runs anew."""
    data = [Path(name).absolute() for name in reads]
    if not data or not file.is_file():
        return []
    return [file.resolve(), *provenance.imported_beside(file.resolve()), *data]


@cache
def engine_fingerprint() -> str:
    """Hash of what all claims share: their engine, and the proofs with their certificates."""
    papers = {CLAIMS / paper for paper in PAPERS}
    shared = (file for file in CLAIMS.rglob("*.py") if papers.isdisjoint(file.parents))
    proofs = (file for kind in ("*.py", "*.json") for file in PROOFS.rglob(kind))
    return provenance.hash_files([*shared, *proofs], PACKAGE)


def _label(file: Path) -> str:
    """The package's own files by their place in it, so that a tree may be moved."""
    return str(file.relative_to(PACKAGE) if file.is_relative_to(PACKAGE) else file)


def _hash(file: Path) -> str:
    if file.is_relative_to(PACKAGE):
        return hashlib.sha256(_text(file).encode()).hexdigest()
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "gone"


@cache
def _text(file: Path) -> str:
    """A file of the package as it was when it was first asked for, which is what was imported."""
    return file.read_text(encoding="utf-8") if file.is_file() else ""
