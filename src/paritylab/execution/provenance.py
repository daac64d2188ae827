"""What computed a result: code, versions, flags and device.

A result is stored under a fingerprint of all of these, so that numbers of different code are never
mixed. What a user's own code reads while it runs is not seen; `--fresh` runs it anew.
"""

import ast
import hashlib
import importlib.util
import inspect
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path

#: Distributions whose versions a result depends on.
DEPENDENCIES = ["paritylab", "jax", "jaxlib", "numpy", "scipy", "equinox", "optax", "python-flint"]
#: Settings of jax that change numbers without changing code, with their defaults.
_JAX_FLAGS = {
    "jax_enable_x64": "False",
    "jax_default_matmul_precision": "None",
    "jax_default_prng_impl": "threefry2x32",
    "jax_threefry_partitionable": "True",
    "jax_disable_most_optimizations": "False",
}
_PACKAGE = Path(__file__).resolve().parents[1]
#: Layers above this one, on whose code no run depends.
_ABOVE = ("proofs", "claims", "report", "cli")


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that compute."""
    found = {"python": platform.python_version()}
    for name in DEPENDENCIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "source tree" if name == _PACKAGE.name else "not installed"
    return found


def occasion() -> dict[str, str]:
    """The day and, in a source tree under git, the commit ("-dirty" if files differ from it)."""
    commit = _commit()
    return {"date": datetime.now(UTC).date().isoformat(), **({"commit": commit} if commit else {})}


@cache
def _commit() -> str:
    if not (_PACKAGE.parents[1] / ".git").exists():
        return ""
    command = ["git", "-C", str(_PACKAGE), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


@cache
def device() -> str:
    """The jax device that computes, such as "cpu"; jax is not loaded where only a CPU can be."""
    platforms = os.environ.get("JAX_PLATFORMS", "")
    plugins = ("jax_plugins", "jax_cuda12_plugin", "jax_cuda13_plugin", "libtpu")
    accelerated = any(importlib.util.find_spec(name) for name in plugins)
    plain = platforms == "cpu" or (not platforms and not accelerated)
    if "jax" not in sys.modules and plain:
        return "cpu"
    import jax

    first = jax.devices()[0]
    return str(first.platform if first.platform == "cpu" else first.device_kind)


def flags() -> dict[str, str]:
    """jax's switches for float64, matrix products, random numbers and compiling, and XLA_FLAGS,
    as they are set now; jax is not loaded unless its variables are set."""
    xla = {"XLA_FLAGS": " ".join(os.environ.get("XLA_FLAGS", "").split())}
    if "jax" not in sys.modules and not any(name.upper() in os.environ for name in _JAX_FLAGS):
        return {**_JAX_FLAGS, **xla}
    import jax

    return {name: str(getattr(jax.config, name, None)) for name in _JAX_FLAGS} | xla


def changed_flags() -> dict[str, str]:
    """The flags that are not at their defaults."""
    usual = {**_JAX_FLAGS, "XLA_FLAGS": ""}
    return {name: value for name, value in flags().items() if value != usual[name]}


@cache
def code_fingerprint() -> str:
    """Hash of the package's code up to this layer and sweeps, without those that lie above."""
    code = (file for file in _PACKAGE.rglob("*.py"))
    below = (file for file in code if file.relative_to(_PACKAGE).parts[0] not in _ABOVE)
    return hash_files(below, _PACKAGE)


def hash_files(files: Iterable[Path], root: Path) -> str:
    """One hash of files, each with its place below the root."""
    digest = hashlib.sha256()
    for file in sorted(files):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(root)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def fingerprint_of(learner: type | None, parts: Iterable[Path] = ()) -> str:
    """Hash of what a learner's results depend on besides their arguments.

    It covers the package's code, versions, device and flags and, for a learner of a user's own,
    the file that defines it and the modules next to that file which it imports. parts: files of
    the user's losses, links and other parts that the learner is built from.
    """
    own = own_files(learner)
    for part in parts:
        own |= _hashes(part)
    facts = [code_fingerprint(), own, versions(), device(), flags()]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def own_files(learner: type | None) -> dict[str, str]:
    """Hashes of the user's files behind a learner by name; empty for one of the package's own."""
    if learner is None or learner.__module__.split(".")[0] == _PACKAGE.name:
        return {}
    module = sys.modules.get(learner.__module__)
    file = getattr(module, "__file__", None)
    if not file:  # typed into a console: its source stands for it
        return {"<console>": hashlib.sha256(inspect.getsource(learner).encode()).hexdigest()}
    return _hashes(Path(file).resolve())


def _hashes(start: Path) -> dict[str, str]:
    """Hashes of a user's file and of the modules next to it that it imports, by name."""
    files = [start, *imported_beside(start)] if start.is_file() else []
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


def imported_names(file: Path) -> list[str]:
    """Dotted names that a file's import statements name, inner ones included."""
    names = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def imported_beside(path: Path) -> list[Path]:
    """Modules in a file's own folder that it imports, directly or through others of them."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        names = {name.split(".")[0] for name in imported_names(waiting.pop())}
        beside = {path.parent / f"{name}.py" for name in names}
        new = {each for each in beside if each.is_file() and each != path} - found
        found |= new
        waiting += new
    return sorted(found)
